// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "arena.hpp"
#include "level_one.hpp"
#include "lt_product.hpp"

namespace ozbound::gpu {

/// An operand as levels 2 and 3 of an enclosure of |A||B| take it: as ScaledVectors, in device memory. Memory goes on, with
/// zeros, to a multiple of DeviceSlices::vector_step vectors.
struct LevelTwoVectors {
  DeviceMatrix vectors = {};         ///< the operand
  float* elements = nullptr;         ///< of vector i, element l at [i * pitch + l], 0 from k on
  std::uint16_t* leading = nullptr;  ///< the same rounded towards zero to bfloat16
  Index* places = nullptr;           ///< [count]: where the largest element is, the first of all
  Index pitch = 0;                   ///< a multiple of DeviceSlices::digit_step
};

/// What is known of |A||B|, relative to the scales of level 1: that level alone where it is not loose anywhere, else all three.
///
/// What level 2 of every entry is at least, from a product of bfloat16 numbers on tensor cores: then few entries have to be
/// looked at for the largest of something. It decides no bit (docs/derivations/enclosure.md, E5).
struct Magnitudes {
  LevelOneSums one;
  LevelTwoVectors rows, columns;   ///< without elements where level 1 suffices
  const float* leading = nullptr;  ///< products of (i, j) at [i + j * leading_pitch]; null: nothing is known
  Index leading_pitch = 0;
  float leading_share = 0;  ///< a product that is at least leading_least is no more than level 2's lower bound over this
  float leading_least = 0;

  [[nodiscard]] OZB_HD bool loose() const { return rows.elements != nullptr; }
};

/// Computes level 2 for products of one shape.
class LevelTwo {
 public:
  LevelTwo(Index m, Index n, Index k, Kernels& kernels, bool by_tensor_cores);

  /// Takes memory from the arena, and launches unless it only counts. `a` is m x k, `b` k x n.
  [[nodiscard]] Magnitudes launch(const LevelOneSums& one, const DeviceMatrix& a, const DeviceMatrix& b, Arena& arena,
                                  cudaStream_t stream) const;

  /// Whether there are products of bfloat16 numbers; if so prepare finds the fastest kernel, as LevelOne::prepare, and
  /// launch_leading adds them. Memory as for launch.
  [[nodiscard]] bool has_leading() const { return has_leading_; }
  void prepare() const;
  void launch_leading(Magnitudes& of, Arena& arena, cudaStream_t stream) const;

 private:
  [[nodiscard]] LtProduct::Shape shape() const;

  Index m_, n_, k_;
  Kernels& kernels_;
  bool has_leading_;
};

/// Fills `out`, whose vectors have the scales and specials of `digits`.
void launch_level_two_vectors(const LevelTwoVectors& out, const DeviceSlices& digits, cudaStream_t stream);

}  // namespace ozbound::gpu
