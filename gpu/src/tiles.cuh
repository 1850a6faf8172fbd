// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device_slices.hpp"
#include "round_up.hpp"
#include "vectors.cuh"

// Kernels that make the digits of an operand work on tiles of 32 vectors by 128 elements, loaded along the shorter stride.

namespace ozbound::gpu {

inline constexpr int tile_threads = 256;
inline constexpr int tile_vectors = 32;
inline constexpr int tile_elements = 128;

/// The first vector and element of the tile of this block.
struct TileStart {
  Index vector, element;

  explicit __device__ TileStart(Index padded)
      : vector(blockIdx.x / (padded / tile_elements) * tile_vectors),
        element(blockIdx.x % (padded / tile_elements) * tile_elements) {}
};

/// Calls visit(vector, element) for every place of a tile, such that neighbouring threads read neighbouring elements.
template <class Visit>
__device__ void for_each_place(const DeviceMatrix& matrix, const Visit& visit) {
  const bool by_vector = matrix.row_stride < matrix.col_stride;
  for (int place = static_cast<int>(threadIdx.x); place < tile_vectors * tile_elements; place += tile_threads) {
    const int v = by_vector ? place % tile_vectors : place / tile_elements;
    const int l = by_vector ? place / tile_vectors : place % tile_elements;
    visit(v, l);
  }
}

/// The elements of a tile and the scales of its vectors, in shared memory.
struct OperandTile {
  std::uint64_t bits[tile_vectors][tile_elements + 1];
  std::int32_t exponents[tile_vectors];
  bool special[tile_vectors];

  /// Loads the tile. The blocks of a vector's first elements also write its scale. All threads of a block must call this, and
  /// may read the tile afterwards. @pre out.tops is known, and out.any_special was zero.
  __device__ void load(const Vectors& x, Encoding encoding, const TileStart& at, const DeviceSlices& out) {
    if (threadIdx.x < tile_vectors) {
      const Index i = at.vector + threadIdx.x;
      const auto scale = i < x.count ? DeviceScale(out.tops[i], encoding) : DeviceScale{};
      exponents[threadIdx.x] = scale.exponent;
      special[threadIdx.x] = scale.special;
      if (at.element == 0 && i < x.count) {
        out.exponents[i] = scale.exponent;
        out.special[i] = scale.special ? 1 : 0;
        if (scale.special) atomicOr(out.any_special, 1u);
      }
    }
    for_each_place(x.matrix, [&](int v, int l) { bits[v][l] = x.bits(at.vector + v, at.element + l); });
    __syncthreads();
  }

  /// An element's bits, or those of 0 in a special vector.
  [[nodiscard]] __device__ std::uint64_t finite_bits(int v, int l) const { return special[v] ? 0 : bits[v][l]; }
};

/// The number of tiles for all vectors, and for the memory up to a multiple of vector_step vectors.
inline unsigned tiles(const DeviceSlices& slices) {
  const Index vectors = round_up(slices.count, DeviceSlices::vector_step);
  return static_cast<unsigned>(vectors / tile_vectors * (slices.padded / tile_elements));
}

}  // namespace ozbound::gpu
