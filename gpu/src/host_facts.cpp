// SPDX-License-Identifier: BSD-3-Clause
#include "host_facts.hpp"

#include <utility>

#include "memory.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "residues.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

/// Arrays of facts in host memory, like those of DeviceFacts.
struct HostArrays {
  const std::uint64_t *norms, *floor_squares;
  const std::int32_t* exponents;
  const std::uint8_t* special;
  const std::int16_t* weights;  ///< null without weights
};

VectorFacts vector_facts(const DeviceFacts& facts, const HostArrays& arrays, Index i) {
  const int slices = facts.slicing.slices;
  const auto norms_of = [&](int part) {
    const auto norm = [&](int h) { return arrays.norms[(part * DeviceFacts::norms_each + h) * facts.count + i]; };
    return IntegerNorms{norm(0), norm(1), norm(2)};
  };
  VectorFacts vector;
  vector.vector = norms_of(0);
  vector.floor_squares = arrays.floor_squares[i];
  vector.slices.reserve(static_cast<std::size_t>(slices)), vector.tails.reserve(static_cast<std::size_t>(slices));
  for (int p = 1; p <= slices; ++p) {
    vector.slices.push_back(norms_of(facts.slice_part(p)));
    vector.tails.push_back(norms_of(facts.tail_part(p)));
  }
  vector.scale = {arrays.exponents[i], arrays.special[i] != 0};
  if (arrays.weights == nullptr || vector.scale.special) return vector;
  const auto* const first = arrays.weights + i * facts.weight_pitch;
  vector.weights.assign(first, first + slices);
  return vector;
}

}  // namespace

SliceFacts copy_facts_to_host(const DeviceFacts& facts, cudaStream_t stream) {
  const auto norms = copy_to_host(facts.norms, facts.parts() * DeviceFacts::norms_each * facts.count, stream);
  const auto floor_squares = copy_to_host(facts.floor_squares, facts.count, stream);
  const auto exponents = copy_to_host(facts.exponents, facts.count, stream);
  const auto special = copy_to_host(facts.special, facts.count, stream);
  const bool has_weights = facts.weights != nullptr;
  const auto weights = copy_to_host(facts.weights, has_weights ? facts.count * facts.weight_pitch : 0, stream);
  const HostArrays arrays{norms.data(), floor_squares.data(), exponents.data(), special.data(),
                          has_weights ? weights.data() : nullptr};
  std::vector<VectorFacts> vectors;
  for (Index i = 0; i < facts.count; ++i) vectors.push_back(vector_facts(facts, arrays, i));
  return {facts.slicing, std::move(vectors)};
}

VectorFacts facts_on_host(const FactsOfAllSlicings& facts, int slices, Index i, const HostBlock& copied) {
  const auto& of = facts.of[static_cast<std::size_t>(slices - 1)];
  return vector_facts(of,
                      {copied.at(of.norms), copied.at(of.floor_squares), copied.at(of.exponents), copied.at(of.special),
                       of.weights == nullptr ? nullptr : copied.at(of.weights)},
                      i);
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
