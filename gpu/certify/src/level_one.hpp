// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "first_look.hpp"
#include "lt_product.hpp"
#include "ozbound/bounds/detail/magnitude_levels.hpp"

namespace ozbound::gpu {

class FirstLooks;
class ProductLauncher;
struct Kernels;

/// Level 1 of an enclosure of |A||B| in device memory: sums of products of first digits, in int32 or int64.
struct LevelOneSums {
  const std::int32_t* narrow = nullptr;  ///< sum of (i, j) at [i * row_stride + j * col_stride], like wide; one of the two is
                                         ///< null
  const std::int64_t* wide = nullptr;
  Index row_stride = 0, col_stride = 0;
  const std::int64_t* row_sums = nullptr;     ///< [m]: sums of first digits; 0 only for vectors of zeros and special vectors
  const std::int64_t* column_sums = nullptr;  ///< [n]
  DeviceSlices rows, columns;                 ///< the first digits, their exponents and specials
  std::uint32_t* loose = nullptr;             ///< word of the looks: not 0 if level 2 is needed
  std::uint64_t* largest_units = nullptr;     ///< word of the looks: the largest upper bound, in units of level 1
  std::uint32_t* middle = nullptr;            ///< word of the looks: the narrow sum of entry (m / 2, n / 2)
  LeastSums row_least, column_least;          ///< of the looks: of narrow sums
  Index m = 0, n = 0, k = 0;

  [[nodiscard]] OZB_HD std::uint64_t sum(Index i, Index j) const {
    const Index at = i * row_stride + j * col_stride;
    return narrow != nullptr ? static_cast<std::uint64_t>(narrow[at]) : static_cast<std::uint64_t>(wide[at]);
  }
  [[nodiscard]] OZB_HD MagnitudeBounds at(Index i, Index j) const {
    return level_one(sum(i, j), static_cast<std::uint64_t>(row_sums[i]), static_cast<std::uint64_t>(column_sums[j]), k);
  }
  [[nodiscard]] OZB_HD std::int64_t exponent(Index i, Index j) const {
    return std::int64_t{rows.exponents[i]} + columns.exponents[j];
  }
  [[nodiscard]] OZB_HD bool special(Index i, Index j) const { return rows.special[i] != 0 || columns.special[j] != 0; }
};

/// Computes level 1 for products of one shape.
class LevelOne {
 public:
  LevelOne(Index m, Index n, Index k, Kernels& kernels);
  ~LevelOne();

  /// True if sums have 32 bits.
  [[nodiscard]] bool narrow() const { return narrow_; }

  /// Finds the fastest kernels, unless they are known. Call before the first launch. Waits for the device.
  void prepare() const;

  /// Takes memory from the arena, and launches unless the arena only counts. @param looks at both operands.
  LevelOneSums launch(const FirstLooks& looks, Arena& arena, cudaStream_t stream) const;

 private:
  [[nodiscard]] LtProduct::Shape shape() const;

  Index m_, n_, k_;
  Kernels& kernels_;
  bool narrow_;
  std::unique_ptr<const ProductLauncher> product_;  ///< for sums of 64 bits
};

}  // namespace ozbound::gpu
