// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda.h>

#include <cstdint>

#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

/// Describes matrices of bytes to the unit of a Hopper that copies tiles (TMA).
class TensorMaps {
 public:
  TensorMaps() = default;

  /// Asks the driver; the result is empty where it has no such maps. @throws CudaError where CUDA reports an error.
  static TensorMaps find();

  explicit operator bool() const { return encode_ != nullptr; }

  /// Tiles are `box_vectors` vectors of 128 bytes, swizzled by 128 bytes. What lies outside the matrix reads as 0.
  /// @param pitch bytes of a vector, and from one to the next: a multiple of 16
  [[nodiscard]] CUtensorMap of_bytes(const std::int8_t* bytes, Index pitch, Index vectors, int box_vectors) const;

 private:
  void* encode_ = nullptr;  ///< cuTensorMapEncodeTiled
};

}  // namespace ozbound::gpu
