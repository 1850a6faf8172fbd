// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "device_epilogue.hpp"
#include "ozbound/core/encoding.hpp"

namespace ozbound::gpu {

/// The rows of a matrix as vectors: `count` vectors of `inner` elements.
struct Vectors {
  DeviceMatrix matrix;
  Index count;
  Index inner;

  /// Element l of vector i as the bits of a binary64 number; 0 outside the matrix.
  [[nodiscard]] __device__ std::uint64_t bits(Index i, Index l) const { return i < count && l < inner ? matrix.bits(i, l) : 0; }

  /// True if neighbouring threads should take neighbouring vectors, not neighbouring elements.
  [[nodiscard]] __host__ __device__ bool vectors_together() const { return matrix.row_stride < matrix.col_stride; }
};

/// The device version of core's VectorScale.
struct DeviceScale {
  int exponent = 0;
  bool special = false;

  DeviceScale() = default;
  /// Computes the scale from the largest magnitude of a vector.
  __device__ DeviceScale(std::uint64_t top, Encoding encoding) : special(!is_finite(top, binary64)) {
    if (!special) exponent = encoding.scale_exponent(to_dyadic(top, binary64));
  }
};

}  // namespace ozbound::gpu
