// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "arena.hpp"
#include "level_one.hpp"
#include "lt_product.hpp"

namespace ozbound::gpu {

/// An operand for levels 2 and 3 of an enclosure of |A||B|, as FloatVectors, in device memory. The memory is padded with zeros
/// to a multiple of DeviceSlices::vector_step vectors.
struct LevelTwoVectors {
  DeviceMatrix vectors = {};         ///< the operand
  float* elements = nullptr;         ///< element l of vector i at [i * pitch + l], 0 from k on
  std::uint16_t* leading = nullptr;  ///< the elements rounded towards zero to bfloat16
  Index* places = nullptr;           ///< [count]: index of the first element of largest magnitude
  Index pitch = 0;                   ///< a multiple of DeviceSlices::digit_step
};

/// Enclosures of |A||B|, relative to the scales of level 1: only level 1 if no entry is loose, otherwise all three levels.
///
/// A product of bfloat16 numbers on tensor cores gives a lower bound of level 2 for every entry. A search for a maximum can
/// then skip most entries. The product affects no bit of a result (docs/derivations/enclosure.md, E5).
struct DeviceMagnitudes {
  LevelOneSums one;
  LevelTwoVectors rows, columns;   ///< without elements if level 1 suffices
  const float* leading = nullptr;  ///< product of (i, j) at [i + j * leading_pitch]; null: no product
  Index leading_pitch = 0;
  float leading_share = 0;  ///< a product that is at least leading_least is at most level 2's lower bound divided by this
  float leading_least = 0;

  [[nodiscard]] OZB_HD bool loose() const { return rows.elements != nullptr; }
};

/// Computes level 2 for products of one shape.
class LevelTwo {
 public:
  LevelTwo(Index m, Index n, Index k, Kernels& kernels, bool by_tensor_cores);

  /// Takes memory from the arena, and launches unless the arena only counts. `a` is m x k, `b` k x n.
  [[nodiscard]] DeviceMagnitudes launch(const LevelOneSums& one, const DeviceMatrix& a, const DeviceMatrix& b, Arena& arena,
                                        cudaStream_t stream) const;

  /// True if products of bfloat16 numbers are available. Then prepare finds the fastest kernel, as LevelOne::prepare, and
  /// launch_leading adds the products. Memory as for launch.
  [[nodiscard]] bool has_leading() const { return has_leading_; }
  void prepare() const;
  void launch_leading(DeviceMagnitudes& of, Arena& arena, cudaStream_t stream) const;

 private:
  [[nodiscard]] LtProduct::Shape shape() const;

  Index m_, n_, k_;
  Kernels& kernels_;
  bool has_leading_;
};

/// Fills the vectors of both sides, which have the scales and specials of level 1's.
void launch_level_two_vectors(const DeviceMagnitudes& of, cudaStream_t stream);

}  // namespace ozbound::gpu
