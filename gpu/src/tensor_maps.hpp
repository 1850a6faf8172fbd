// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda.h>

#include <cstdint>

#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

/// Describes matrices of bytes to TMA, the unit of Hopper that copies tiles.
class TensorMaps {
 public:
  TensorMaps() = default;

  /// Asks the driver for the function that encodes maps. The result is empty if the driver has none. @throws CudaError if CUDA
  /// reports an error.
  static TensorMaps find();

  explicit operator bool() const { return encode_ != nullptr; }

  /// Tiles are `box_vectors` vectors of 128 bytes, swizzled by 128 bytes. Bytes outside the matrix are read as 0.
  /// @param pitch bytes of a vector, and between vectors: a multiple of 16
  [[nodiscard]] CUtensorMap of_bytes(const std::int8_t* bytes, Index pitch, Index vectors, int box_vectors) const;

 private:
  void* encode_ = nullptr;  ///< cuTensorMapEncodeTiled
};

}  // namespace ozbound::gpu
