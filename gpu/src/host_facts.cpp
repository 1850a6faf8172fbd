// SPDX-License-Identifier: BSD-3-Clause
#include "host_facts.hpp"

#include <utility>

#include "memory.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "residues.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

/// Facts other than norms, on the host.
struct HostScales {
  std::vector<std::int32_t> exponents;
  std::vector<std::uint8_t> special;
  std::vector<std::int16_t> weights;

  HostScales(const DeviceFacts& facts, const HostBlock& block)
      : exponents(block.part(facts.exponents, facts.count)),
        special(block.part(facts.special, facts.count)),
        weights(facts.weights == nullptr ? std::vector<std::int16_t>{}
                                         : block.part(facts.weights, facts.count * facts.weight_pitch)) {}
  HostScales(const DeviceFacts& facts, cudaStream_t stream)
      : exponents(copy_to_host(facts.exponents, facts.count, stream)),
        special(copy_to_host(facts.special, facts.count, stream)),
        weights(copy_to_host(facts.weights, facts.weights == nullptr ? 0 : facts.count * facts.weight_pitch, stream)) {}
};

/// `facts` with norms on the host.
SliceFacts host_facts(const DeviceFacts& facts, const HostScales& scales) {
  const int slices = facts.slicing.slices;
  std::vector<VectorFacts> vectors(static_cast<std::size_t>(facts.count));
  for (Index i = 0; i < facts.count; ++i) {
    const auto norms_of = [&](int part) {
      return IntegerNorms{facts.norm(part, 0, i), facts.norm(part, 1, i), facts.norm(part, 2, i)};
    };
    const auto at = static_cast<std::size_t>(i);
    auto& vector = vectors[at];
    vector.vector = norms_of(0);
    vector.floor_squares = facts.floor_squares[i];
    vector.slices.reserve(static_cast<std::size_t>(slices)), vector.tails.reserve(static_cast<std::size_t>(slices));
    for (int p = 1; p <= slices; ++p) {
      vector.slices.push_back(norms_of(facts.slice_part(p)));
      vector.tails.push_back(norms_of(facts.tail_part(p)));
    }
    vector.scale = {scales.exponents[at], scales.special[at] != 0};
    if (scales.weights.empty() || vector.scale.special) continue;
    const auto first = scales.weights.begin() + i * facts.weight_pitch;
    vector.weights.assign(first, first + slices);
  }
  return {facts.slicing, std::move(vectors)};
}

}  // namespace

SliceFacts copy_facts_to_host(const DeviceFacts& facts, cudaStream_t stream) {
  auto norms = copy_to_host(facts.norms, facts.parts() * DeviceFacts::norms_each * facts.count, stream);
  auto floor_squares = copy_to_host(facts.floor_squares, facts.count, stream);
  auto copied = facts;
  copied.norms = norms.data(), copied.floor_squares = floor_squares.data();
  return host_facts(copied, HostScales(facts, stream));
}

std::vector<SliceFacts> copy_facts_to_host(const FactsOfAllSlicings& facts, cudaStream_t stream) {
  const auto& last = facts.of[max_slices - 1];
  const HostBlock block(last.tops, facts.words + facts.word_count, stream);  // these lie one after the other (take)
  auto words = block.part(facts.words, facts.word_count);
  const HostScales scales(last, block);
  std::vector<SliceFacts> result;
  for (auto copied : facts.of) {
    copied.norms = words.data() + (copied.norms - facts.words);
    copied.floor_squares = words.data() + (copied.floor_squares - facts.words);
    result.push_back(host_facts(copied, scales));
  }
  return result;
}

std::vector<VectorNorms> vector_norms_of(const DeviceMatrix& vectors, Index count, Index inner, cudaStream_t stream) {
  DeviceFacts facts;
  std::int32_t* last_bits = nullptr;
  const auto take = [&](Arena& arena) {
    facts = take_facts(arena, residue_measure, count);
    last_bits = arena.take<std::int32_t>(count);
  };
  Arena needed;
  take(needed);
  const Memory memory(needed.used(), stream);
  auto arena = memory.arena();
  take(arena);
  launch_facts(vectors, inner, facts, stream, {0, 0});
  launch_last_bits(vectors, count, inner, facts.tops, no_last_bit, last_bits, stream);
  const auto last = copy_to_host(last_bits, count, stream);
  std::vector<VectorNorms> norms;
  for (const auto& vector : copy_facts_to_host(facts, stream).vectors)
    norms.push_back({vector.scale, vector.vector, vector.floor_squares, last[norms.size()]});
  return norms;
}

}  // namespace ozbound::gpu
