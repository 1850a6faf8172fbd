// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cuda_check.hpp"
#include "level_two.hpp"
#include "ozbound/bounds/detail/magnitude_levels.hpp"
#include "round_up.hpp"
#include "vectors.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int tile_vectors = 32;
constexpr int tile_elements = 128;

__device__ std::uint16_t to_bfloat16_lower(float x) { return static_cast<std::uint16_t>(__float_as_uint(x) >> 16); }

/// This work makes the vectors of one side, rows or columns.
struct SideWork {
  Vectors x;
  DeviceSlices digits;
  LevelTwoVectors out;
  Index tiles;  ///< of scale_vectors
};

/// Each block loads a tile of vectors along the shorter stride. Grid: rows in y = 0, columns in y = 1.
__global__ void __launch_bounds__(threads)
    scale_vectors(const __grid_constant__ SideWork rows, const __grid_constant__ SideWork columns) {
  __shared__ alignas(16) float tile[tile_vectors][tile_elements + 4];
  const auto& [x, digits, out, tiles] = blockIdx.y == 0 ? rows : columns;
  const Index across = out.pitch / tile_elements;
  const Index first = blockIdx.x / across * tile_vectors, start = blockIdx.x % across * tile_elements;
  if (blockIdx.x >= tiles) return;
  const bool together = x.vectors_together();
  for (int place = static_cast<int>(threadIdx.x); place < tile_vectors * tile_elements; place += threads) {
    const int v = together ? place % tile_vectors : place / tile_elements;
    const int l = together ? place / tile_vectors : place % tile_elements;
    const Index i = first + v;
    const bool zero = i >= x.count || digits.special[i] != 0;
    tile[v][l] = zero ? 0 : to_float_lower(to_dyadic(x.bits(i, start + l), binary64), digits.exponents[i]);
  }
  __syncthreads();
  for (int place = static_cast<int>(threadIdx.x); place < tile_vectors * tile_elements / 4; place += threads) {
    const int v = place / (tile_elements / 4), l = place % (tile_elements / 4) * 4;
    const Index to = (first + v) * out.pitch + start + l;
    const auto four = *reinterpret_cast<const float4*>(&tile[v][l]);
    *reinterpret_cast<float4*>(out.elements + to) = four;
    *reinterpret_cast<ushort4*>(out.leading + to) = {to_bfloat16_lower(four.x), to_bfloat16_lower(four.y),
                                                     to_bfloat16_lower(four.z), to_bfloat16_lower(four.w)};
  }
}

/// One warp for each vector. Grid as of scale_vectors.
__global__ void __launch_bounds__(threads)
    find_places(const __grid_constant__ SideWork rows, const __grid_constant__ SideWork columns) {
  const auto& side = blockIdx.y == 0 ? rows : columns;
  const auto& x = side.out;
  const Index i = Index{blockIdx.x} * warps + threadIdx.x / 32, count = side.digits.count, inner = side.digits.inner;
  if (i >= count) return;
  float top = 0;
  Index place = 0;
  for (Index l = threadIdx.x % 32; l < inner; l += 32)
    if (const float element = x.elements[i * x.pitch + l]; element > top) top = element, place = l;
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(~0u, top, offset);
    const Index of_other = __shfl_xor_sync(~0u, place, offset);
    if (other > top || (other == top && of_other < place)) top = other, place = of_other;
  }
  if (threadIdx.x % 32 == 0) x.places[i] = place;
}

}  // namespace

void launch_level_two_vectors(const DeviceMagnitudes& of, cudaStream_t stream) {
  const auto side = [](const LevelTwoVectors& out, const DeviceSlices& digits) {
    const Index vectors = round_up(digits.count, DeviceSlices::vector_step);
    return SideWork{
        {out.vectors, digits.count, digits.inner}, digits, out, vectors / tile_vectors * (out.pitch / tile_elements)};
  };
  const auto rows = side(of.rows, of.one.rows), columns = side(of.columns, of.one.columns);
  scale_vectors<<<dim3(static_cast<unsigned>(std::max(rows.tiles, columns.tiles)), 2), threads, 0, stream>>>(rows, columns);
  check_launch("scale_vectors");
  const Index count = std::max(rows.digits.count, columns.digits.count);
  find_places<<<dim3(static_cast<unsigned>((count + warps - 1) / warps), 2), threads, 0, stream>>>(rows, columns);
  check_launch("find_places");
}

}  // namespace ozbound::gpu
