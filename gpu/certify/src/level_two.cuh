// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "level_two.hpp"
#include "ozbound/bounds/detail/magnitude_levels.hpp"
#include "vectors.cuh"

namespace ozbound::gpu {

// Entries of an enclosure of |A||B| under all of its levels. A warp computes single entries, a block computes tiles.

/// The sums of a block of level 2's dot product, in order.
__device__ inline float sum_of_lanes(const float (&lanes)[dot_lanes]) {
  float sum = 0;
#pragma unroll
  for (const float lane : lanes) sum = __fadd_rn(sum, lane);
  return sum;
}

/// top_of element l of a vector; zero for a vector with specials.
__device__ inline std::int32_t top_at(const LevelTwoVectors& side, const DeviceSlices& digits, Index i, Index l) {
  if (i >= digits.count || l >= digits.inner || digits.special[i] != 0) return no_top;
  return top_of(to_dyadic(side.vectors.bits(i, l), binary64));
}

/// An entry's bounds, computed by a whole warp.
__device__ inline MagnitudeBounds bounds_by_warp(const DeviceMagnitudes& of, Index i, Index j) {
  auto bounds = of.one.at(i, j);
  if (!of.loose()) return bounds;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Index k = of.one.k;
  const float *const x = of.rows.elements + i * of.rows.pitch, *const y = of.columns.elements + j * of.columns.pitch;
  double total = 0;
  for (Index start = 0; start < k; start += dot_block) {
    const Index end = min(k, start + dot_block);
    float own = 0;
    Index l = start;
    for (; l + dot_lanes <= end; l += dot_lanes)
      if (lane < dot_lanes) own = __fadd_rn(own, __fmul_rn(x[l + lane], y[l + lane]));
    for (; l < end; ++l)
      if (lane == 0) own = __fadd_rn(own, __fmul_rn(x[l], y[l]));
    float lanes[dot_lanes];
#pragma unroll
    for (int t = 0; t < dot_lanes; ++t) lanes[t] = __shfl_sync(~0u, own, t);
    total += static_cast<double>(sum_of_lanes(lanes));
  }
  bounds = level_two(bounds, total, k);
  if (!unsettled(bounds)) return bounds;
  std::int32_t top = 2 * no_top;
  for (Index l = lane; l < k; l += 32)
    top = max(top, top_at(of.rows, of.one.rows, i, l) + top_at(of.columns, of.one.columns, j, l));
  for (int offset = 16; offset > 0; offset /= 2) top = max(top, __shfl_xor_sync(~0u, top, offset));
  return settled(bounds, top, of.one.exponent(i, j), k);
}

/// MagnitudeProduct::cheap_lower: at most the lower bound of an entry.
__device__ inline double cheap_lower(const DeviceMagnitudes& of, Index i, Index j) {
  const double lower = of.one.at(i, j).lower;
  if (!of.loose()) return lower;
  const float *const x = of.rows.elements + i * of.rows.pitch, *const y = of.columns.elements + j * of.columns.pitch;
  const Index p = of.rows.places[i], q = of.columns.places[j];
  const float first = __fmul_rn(x[p], y[p]), second = __fmul_rn(x[q], y[q]);
  const double of_product = level_two_lower(static_cast<double>(fmaxf(first, second)), of.one.k);
  return of_product > lower ? of_product : lower;
}

/// Entries of tiles, one for each of `threads` threads.
class EntryTiles {
 public:
  static constexpr int side = 16;
  static constexpr int threads = side * side;

  struct Shared {
    static constexpr int slab = 64;
    union alignas(16) {
      float rows[side][slab + 4];
      std::int32_t row_tops[side][slab + 4];
    };
    union alignas(16) {
      float columns[side][slab + 4];
      std::int32_t column_tops[side][slab + 4];
    };
  };

  __device__ EntryTiles(const DeviceMagnitudes& of, Shared& shared) : of_(of), shared_(shared) {}

  [[nodiscard]] static OZB_HD Index across(Index count) { return (count + side - 1) / side; }

  /// This thread's entry of tile t. Tiles are in order of their columns. The entry may lie outside the product.
  [[nodiscard]] __device__ Index row(Index t) const { return t % across(of_.one.m) * side + threadIdx.x % side; }
  [[nodiscard]] __device__ Index column(Index t) const { return t / across(of_.one.m) * side + threadIdx.x / side; }
  [[nodiscard]] __device__ bool inside(Index t) const { return row(t) < of_.one.m && column(t) < of_.one.n; }

  /// The bounds of the entry by DeviceMagnitudes; unspecified outside the product.
  [[nodiscard]] __device__ MagnitudeBounds bounds(Index t) const {
    const Index i = row(t), j = column(t);
    MagnitudeBounds result;
    if (inside(t)) result = of_.one.at(i, j);
    result = level_two(result, dot(t), of_.one.k);
    const bool asks = inside(t) && unsettled(result);
    if (__syncthreads_or(asks) == 0) return result;
    const auto top = largest_top(t);
    return asks ? settled(result, top, of_.one.exponent(i, j), of_.one.k) : result;
  }

 private:
  /// Calls `load(v, l, place)` for every place of both slabs that begin at `start`.
  template <class Load>
  __device__ void fill(const Load& load) const {
    __syncthreads();
    load(static_cast<int>(threadIdx.x) / side, static_cast<int>(threadIdx.x) % side * 4);
    __syncthreads();
  }

  [[nodiscard]] __device__ double dot(Index t) const {
    const auto *const x = of_.rows.elements + t % across(of_.one.m) * side * of_.rows.pitch, *const y = of_.columns.elements +
                                                                                                        t / across(of_.one.m) *
                                                                                                            side *
                                                                                                            of_.columns.pitch;
    const auto *const own_row = shared_.rows[threadIdx.x % side], *const own_column = shared_.columns[threadIdx.x / side];
    double total = 0;
    const int v = static_cast<int>(threadIdx.x) / side, of_thread = static_cast<int>(threadIdx.x) % side * 4;
    const auto* const next_x = reinterpret_cast<const float4*>(x + v * of_.rows.pitch + of_thread);
    const auto* const next_y = reinterpret_cast<const float4*>(y + v * of_.columns.pitch + of_thread);
    static_assert(dot_block % Shared::slab == 0);
    float4 of_x = *next_x, of_y = *next_y;  // of the next slab, loaded while the last one is added
    for (Index start = 0; start < of_.one.k; start += dot_block) {
      const Index end = min(of_.one.k, start + dot_block);
      float lanes[dot_lanes] = {};
      for (Index slab = start; slab < end; slab += Shared::slab) {
        fill([&](int vector, int l) {
          *reinterpret_cast<float4*>(&shared_.rows[vector][l]) = of_x;
          *reinterpret_cast<float4*>(&shared_.columns[vector][l]) = of_y;
        });
        if (const Index next = slab + Shared::slab; next < of_.one.k)  // memory is padded to a multiple of the slab
          of_x = next_x[next / 4], of_y = next_y[next / 4];
        const int length = static_cast<int>(min(Index{Shared::slab}, end - slab));
#pragma unroll
        for (int group = 0; group < Shared::slab; group += dot_lanes) {
          if (group + dot_lanes <= length)
            add_group(own_row + group, own_column + group, lanes);
          else
            for (int l = group; l < length; ++l) lanes[0] = __fadd_rn(lanes[0], __fmul_rn(own_row[l], own_column[l]));
        }
      }
      total += static_cast<double>(sum_of_lanes(lanes));
    }
    return total;
  }

  static __device__ void add_group(const float* x, const float* y, float (&lanes)[dot_lanes]) {
#pragma unroll
    for (int l = 0; l < dot_lanes; l += 4) {
      const auto p = *reinterpret_cast<const float4*>(x + l), q = *reinterpret_cast<const float4*>(y + l);
      lanes[l] = __fadd_rn(lanes[l], __fmul_rn(p.x, q.x));
      lanes[l + 1] = __fadd_rn(lanes[l + 1], __fmul_rn(p.y, q.y));
      lanes[l + 2] = __fadd_rn(lanes[l + 2], __fmul_rn(p.z, q.z));
      lanes[l + 3] = __fadd_rn(lanes[l + 3], __fmul_rn(p.w, q.w));
    }
  }

  [[nodiscard]] __device__ std::int32_t largest_top(Index t) const {
    const Index first_row = t % across(of_.one.m) * side, first_column = t / across(of_.one.m) * side;
    std::int32_t top = 2 * no_top;
    for (Index start = 0; start < of_.one.k; start += Shared::slab) {
      fill([&](int v, int l) {
        for (int e = l; e < l + 4; ++e) {
          shared_.row_tops[v][e] = top_at(of_.rows, of_.one.rows, first_row + v, start + e);
          shared_.column_tops[v][e] = top_at(of_.columns, of_.one.columns, first_column + v, start + e);
        }
      });
      for (int l = 0; l < Shared::slab; ++l)
        top = max(top, shared_.row_tops[threadIdx.x % side][l] + shared_.column_tops[threadIdx.x / side][l]);
    }
    return top;
  }

  const DeviceMagnitudes& of_;
  Shared& shared_;
};

}  // namespace ozbound::gpu
