// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/integer_norms.hpp"

namespace ozbound::gpu {

/// SliceFacts in device memory: the same integers, with an array for each kind of number. A special vector's norms are zero.
struct DeviceFacts {
  static constexpr int norms_each = 3;  ///< sum, sum of squares, max, as in IntegerNorms

  std::uint64_t* norms = nullptr;          ///< number h of part t of vector i: norms[(t * norms_each + h) * count + i]
  std::uint64_t* floor_squares = nullptr;  ///< [count]
  std::uint64_t* tops = nullptr;           ///< [count]: the bits of the largest magnitude, as by launch_tops
  std::int32_t* exponents = nullptr;       ///< [count]
  std::uint8_t* special = nullptr;         ///< [count]
  std::int16_t* weights = nullptr;         ///< [i * weight_pitch + p - 1] for encodings without a common ratio, else null
  int weight_pitch = 0;
  Index count = 0;
  Slicing slicing = {};

  // Numbers of parts: the vector, its slices 1 … s, its tails after 1 … s slices.
  [[nodiscard]] OZB_HD constexpr int slice_part(int p) const { return p; }
  [[nodiscard]] OZB_HD constexpr int tail_part(int p) const { return slicing.slices + p; }
  [[nodiscard]] OZB_HD constexpr int parts() const { return 1 + 2 * slicing.slices; }

  [[nodiscard]] OZB_HD std::uint64_t& norm(int part, int h, Index i) const {
    return norms[(part * norms_each + h) * count + i];
  }

  /// Exponent of the weight of digit p of vector i over its scale.
  [[nodiscard]] OZB_HD int weight_exponent(Index i, int p) const {
    return weights == nullptr ? slicing.encoding.weight_exponent(p) : weights[i * weight_pitch + p - 1];
  }
};

/// Memory for the facts of `count` vectors.
DeviceFacts take_facts(Arena& arena, Slicing slicing, Index count);

/// Parts whose norms are asked for, in addition to the vector's. Bit p - 1 stands for slice p and for the tail after p slices.
struct FactParts {
  std::uint32_t slices = ~0u, tails = ~0u;

  [[nodiscard]] constexpr bool covers(const FactParts& other) const {
    return (other.slices & ~slices) == 0 && (other.tails & ~tails) == 0;
  }
};

/// Measures the rows of `vectors` (facts.count x inner) under facts.slicing. May leave norms of other parts zero. If
/// `tops_known`, facts.tops holds the result of launch_tops.
void launch_facts(const DeviceMatrix& vectors, Index inner, const DeviceFacts& facts, cudaStream_t stream, FactParts parts = {},
                  bool tops_known = false);

/// Facts of some vectors under 1 … max_slices slices of one encoding. They share data that does not depend on the slice count.
struct FactsOfAllSlicings {
  DeviceFacts of[max_slices];      ///< [slices - 1]
  std::uint64_t* words = nullptr;  ///< all norms
  Index word_count = 0;

  /// Memory for the facts of `count` vectors.
  static FactsOfAllSlicings take(Arena& arena, Encoding encoding, Index count);

  [[nodiscard]] OZB_HD Index count() const { return of[0].count; }
  // All facts lie between these two.
  [[nodiscard]] const void* begin() const { return of[0].tops; }
  [[nodiscard]] const void* end() const { return words + word_count; }
};

/// Rows of a matrix that are to be measured.
struct SomeVectors {
  DeviceMatrix matrix = {};
  Index inner = 0;
  const Index* indices = nullptr;  ///< of the rows, in device memory; null: `only` is the index of the one row
  Index only = 0;
  FactsOfAllSlicings facts = {};
  std::uint64_t* elements = nullptr;  ///< [count * inner]: receives copies of the rows, one after the other

  /// Memory for facts under an encoding; the caller must set the other members but `elements`.
  void take(Arena& arena, Encoding encoding, Index count) { facts = FactsOfAllSlicings::take(arena, encoding, count); }
  void take_elements(Arena& arena) { elements = arena.take<std::uint64_t>(facts.count() * inner); }
};

/// Measures rows of two matrices, in the order of their indices. There may be none.
void launch_facts_of_some(const SomeVectors& a, const SomeVectors& b, cudaStream_t stream);

}  // namespace ozbound::gpu
