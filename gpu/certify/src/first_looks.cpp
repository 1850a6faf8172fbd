// SPDX-License-Identifier: BSD-3-Clause
#include "first_looks.hpp"

#include <algorithm>
#include <numeric>

#include "slicing.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

constexpr Slicing one_digit{Encoding::balanced(), 1};

std::uint64_t sum_of(const std::vector<std::uint64_t>& words) {
  return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

/// The norms of a look's vectors, from a copy of the block that contains the look.
std::vector<VectorNorms> norms_of(const FirstLook& look, const HostBlock& copied) {
  const auto count = look.norms.count;
  const auto exponents = copied.part(look.digits.exponents, count);
  const auto special = copied.part(look.digits.special, count);
  const auto last_bits = copied.part(look.norms.last_bits, count);
  const auto words = copied.part(look.norms.words, LookNorms::words_each * count);
  std::vector<VectorNorms> result;
  result.reserve(exponents.size());
  for (std::size_t i = 0, step = exponents.size(); i < step; ++i)
    result.push_back({{exponents[i], special[i] != 0},
                      {words[i], words[step + i], words[2 * step + i]},
                      words[3 * step + i],
                      std::min(last_bits[i], no_last_bit)});
  return result;
}

}  // namespace

FirstLooks::FirstLooks(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, cudaStream_t stream) {
  Arena needed;
  take(needed, m, n, k);
  memory_ = Memory(needed.used(), stream);
  auto arena = memory_.arena();
  take(arena, m, n, k);
  check(cudaMemsetAsync(a_.prints, 0, zero_bytes_, stream), "cudaMemsetAsync");
  static_assert(LookNorms::no_last_bit == no_last_bit);
  constexpr int beyond = 0x3f;  // bytes of a number above no_last_bit
  static_assert(beyond * 0x01010101 > no_last_bit);
  for (const auto* norms : {&a_.norms, &b_.norms})
    check(cudaMemsetAsync(norms->last_bits, beyond, static_cast<std::size_t>(norms->count) * sizeof(std::int32_t), stream),
          "cudaMemsetAsync");
  launch_first_looks({a, a_, k, 1}, {transposed(b), b_, 1, n}, stream);
}

void FirstLooks::take(Arena& arena, Index m, Index n, Index k) {
  const std::size_t begin = arena.used();
  a_.prints = arena.take<std::uint64_t>(FirstLook::print_words);
  b_.prints = arena.take<std::uint64_t>(FirstLook::print_words);
  loose_ = arena.take<std::uint32_t>(1);
  largest_units_ = arena.take<std::uint64_t>(1);
  a_.norms = {arena.take<std::uint64_t>(LookNorms::words_each * m), nullptr, m};
  b_.norms = {arena.take<std::uint64_t>(LookNorms::words_each * n), nullptr, n};
  a_.sums = arena.take<std::int64_t>(m);
  b_.sums = arena.take<std::int64_t>(n);
  zero_bytes_ = arena.used() - begin;
  a_.norms.last_bits = arena.take<std::int32_t>(m);
  b_.norms.last_bits = arena.take<std::int32_t>(n);
  auto* const row_exponents = arena.take<std::int32_t>(m);
  auto* const column_exponents = arena.take<std::int32_t>(n);
  auto* const rows = arena.take<std::uint8_t>(m);
  auto* const columns = arena.take<std::uint8_t>(n);
  report_bytes_ = arena.used() - begin;
  a_.digits = take_slices(arena, false, one_digit, m, k);
  b_.digits = take_slices(arena, true, one_digit, n, k);
  a_.digits.exponents = row_exponents, a_.digits.special = rows;
  b_.digits.exponents = column_exponents, b_.digits.special = columns;
}

FirstLooks::Report FirstLooks::report(cudaStream_t stream) const {
  const HostBlock copied(a_.prints, reinterpret_cast<const std::uint8_t*>(a_.prints) + report_bytes_, stream);
  return {sum_of(copied.part(a_.prints, FirstLook::print_words)),
          sum_of(copied.part(b_.prints, FirstLook::print_words)),
          copied.part(loose_, 1)[0] != 0,
          copied.part(largest_units_, 1)[0],
          norms_of(a_, copied),
          norms_of(b_, copied)};
}

}  // namespace ozbound::gpu
