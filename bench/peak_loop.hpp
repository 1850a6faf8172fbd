// SPDX-License-Identifier: BSD-3-Clause
// Loops of one instruction, for sources that are compiled for an instruction set. Everything has internal linkage, as in
// panel_kernels.hpp.

#pragma once

#include <utility>

#include "isa.hpp"

namespace ozbound::bench {
namespace {

/// Bits that are neither all zeros nor a pattern, since power, and with it the clock, depends on data. As doubles they lie in
/// [1, 2).
template <class Instruction>
typename Instruction::Register operand(unsigned long long seed) {
  typename Instruction::Register result;
  unsigned long long words[sizeof result / 8];
  for (auto& word : words) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    word = 0x3ff0000000000000ULL | seed >> 12;
  }
  __builtin_memcpy(&result, words, sizeof result);
  return result;
}

template <class Instruction, std::size_t... chain>
void run_chains(long rounds, std::index_sequence<chain...>) {
  typename Instruction::Register sums[] = {operand<Instruction>(chain + 3)...};
  const auto x = operand<Instruction>(1), y = operand<Instruction>(2);
  for (long round = 0; round < rounds; ++round) (Instruction::accumulate(sums[chain], x, y), ...);
}

/// Runs accumulate(sum, x, y) of the instruction in all chains.
template <class Instruction>
void run_peak(long rounds) {
  run_chains<Instruction>(rounds, std::make_index_sequence<peak_chains>{});
}

}  // namespace
}  // namespace ozbound::bench
