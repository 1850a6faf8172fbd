// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cuda_check.hpp"
#include "device_array.hpp"
#include "entries.cuh"
#include "largest.cuh"
#include "level_two.cuh"
#include "norm_search.hpp"

namespace ozbound::gpu {
namespace {

using Word = unsigned long long;
constexpr int threads = EntryTiles::threads;
constexpr double infinity = __builtin_huge_val();

__device__ void raise_scale(const NormMatrix& norm, Word scale) {
  for (int offset = 16; offset > 0; offset /= 2) scale = max(scale, __shfl_xor_sync(~0u, scale, offset));
  if (threadIdx.x % 32 == 0 && scale != 0) atomicMax(reinterpret_cast<Word*>(norm.scale), scale);
}

/// Sets an entry of M, and raises `scale` to the entry's scale.
__device__ void set_entry(const NormMatrix& norm, const DeviceMagnitudes& of, const EntryTarget& target, Index i, Index j,
                          const MagnitudeBounds& bounds, Word& scale) {
  double m = infinity;
  if (!is_special(of.one, target, i, j)) {
    m = share_of(of.one, target, i, j, bounds.lower);
    if (m > 0 && m < infinity)
      scale = max(scale, static_cast<Word>(static_cast<std::int64_t>(NormMatrix::no_scale) + of.one.exponent(i, j)));
    if (bounds.upper == 0) m = -m;
  }
  norm.m[i + j * norm.rows] = m;
}

__global__ void __launch_bounds__(entry_threads)
    set_entries(const __grid_constant__ NormMatrix norm, const __grid_constant__ DeviceMagnitudes of,
                const __grid_constant__ EntryTarget target) {
  Word scale = 0;
  for_each_entry(norm.rows, norm.columns, true,
                 [&](Index i, Index j) { set_entry(norm, of, target, i, j, of.one.at(i, j), scale); });
  raise_scale(norm, scale);
}

/// Sets all entries if level 1 is loose.
__global__ void __launch_bounds__(threads)
    set_loose_entries(const __grid_constant__ NormMatrix norm, const __grid_constant__ DeviceMagnitudes of,
                      const __grid_constant__ EntryTarget target, Index tiles) {
  __shared__ EntryTiles::Shared shared;
  const EntryTiles entries(of, shared);
  Word scale = 0;
  for (Index t = blockIdx.x; t < tiles; t += gridDim.x) {
    const auto bounds = entries.bounds(t);
    if (entries.inside(t)) set_entry(norm, of, target, entries.row(t), entries.column(t), bounds, scale);
  }
  raise_scale(norm, scale);
}

/// The shift from an entry's scale to the norm's.
__device__ std::int64_t shift_of(const NormMatrix& norm, const DeviceMagnitudes& of, Index i, Index j) {
  const auto scale = *norm.scale;
  return of.one.exponent(i, j) -
         (scale == 0 ? 0 : static_cast<std::int64_t>(scale) - static_cast<std::int64_t>(NormMatrix::no_scale));
}

/// Squares of the entries of M that count; 0 for the other entries.
__global__ void __launch_bounds__(entry_threads)
    find_squares(const __grid_constant__ NormMatrix norm, const __grid_constant__ DeviceMagnitudes of, double* squares) {
  for_each_entry(norm.rows, norm.columns, true, [&](Index i, Index j) {
    const double m = norm.m[i + j * norm.rows];
    const double term = m == infinity ? 0 : norm_term_lower(fabs(m), shift_of(norm, of, i, j));
    squares[i + j * norm.rows] = multiply_lower(term, term);
  });
}

constexpr int row_threads = 32;  // rows of a block; few, so that even a few rows occupy many multiprocessors
constexpr int loading_warps = 8, adding_threads = row_threads * (loading_warps + 1);
constexpr int columns_together = 64;

/// add_upper or add_lower, with short chains of instructions from one sum to the next.
template <bool Upper>
__device__ double add_directed(double sum, double term) {
  const double rounded = sum + term;
  const bool exact = bits_of(sum) == 0 || bits_of(term) == 0;
  const bool moves = !exact && (!Upper || bits_of(rounded) < binary64.inf);
  return double_from_bits(bits_of(rounded) + (moves ? (Upper ? 1 : ~std::uint64_t{0}) : 0));
}

/// Sums of rows, one thread for each row, because terms are added in order. The other warps of its block load the next terms.
template <bool Upper>
__global__ void __launch_bounds__(adding_threads) add_rows(const double* terms, Index rows, Index columns, double* sums) {
  constexpr int each = columns_together / loading_warps;
  __shared__ double held[2][columns_together][row_threads];
  const int lane = static_cast<int>(threadIdx.x) % row_threads, warp = static_cast<int>(threadIdx.x) / row_threads;
  const Index i = Index{blockIdx.x} * row_threads + lane;
  const bool adds = warp == loading_warps;
  double next[each];
  const auto load = [&](Index first) {
#pragma unroll
    for (int t = 0; t < each; ++t) {
      const Index j = first + warp * each + t;
      next[t] = i < rows && j < columns ? terms[i + j * rows] : 0;  // adding 0 changes nothing
    }
  };
  if (!adds) load(0);
  double sum = 0;
  int buffer = 0;
  for (Index j = 0; j < columns + columns_together; j += columns_together, buffer ^= 1) {
    if (adds) {
      if (j > 0)  // the terms that were stored before
#pragma unroll 16
        for (int c = 0; c < columns_together; ++c) {
          const double term = held[buffer ^ 1][c][lane];
          sum = add_directed<Upper>(sum, term);
        }
    } else if (j < columns) {
#pragma unroll
      for (int t = 0; t < each; ++t) held[buffer][warp * each + t][lane] = next[t];
      load(j + columns_together);
    }
    __syncthreads();
  }
  if (adds && i < rows) sums[i] = sum;
}

/// The share of every entry, and the largest share. The blocks of a tile in y share its columns.
__global__ void __launch_bounds__(search_threads)
    find_shares(const __grid_constant__ BoundWithScales error, const __grid_constant__ DeviceMagnitudes of,
                const __grid_constant__ NormMatrix norm, double allowed, double* shares,
                const __grid_constant__ LargestWork work) {
  const Index i = blockIdx.x % work.rows.blocks * tile + threadIdx.x, share = tile / gridDim.y;
  const Index first = blockIdx.x / work.rows.blocks * tile + blockIdx.y * share;
  LargestEntry largest;
#pragma unroll 2
  for (Index j = first; j < min(first + share, norm.columns) && i < norm.rows; ++j) {
    const double m = norm.m[i + j * norm.rows];
    const bool counts = m != infinity && (bits_of(m) & binary64.sign) == 0;
    const double relative = counts ? error_at(error, of.one, i, j, error.bound.upper(i, j)) : 0;
    const double value = norm_share_upper(relative, shift_of(norm, of, i, j), allowed);
    shares[i + j * norm.rows] = value;
    take(largest, {value, i * norm.columns + j});
  }
  reduce(largest);
  if (threadIdx.x == 0) work.parts[Index{blockIdx.y} * gridDim.x + blockIdx.x] = largest;
}

template <bool Upper>
void launch_adding(const double* terms, const NormMatrix& norm, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((norm.rows + row_threads - 1) / row_threads);
  add_rows<Upper><<<blocks, adding_threads, 0, stream>>>(terms, norm.rows, norm.columns, norm.row_sums);
  check_launch("add_rows");
}

}  // namespace

NormMatrix NormMatrix::take(Arena& arena, Index rows, Index columns) {
  return {arena.take<double>(rows * columns), arena.take<std::uint64_t>(1), arena.take<double>(rows), rows, columns};
}

void launch_norm_matrix(const NormMatrix& norm, const DeviceMagnitudes& of, const EntryTarget& target, cudaStream_t stream) {
  check(cudaMemsetAsync(norm.scale, 0, sizeof *norm.scale, stream), "cudaMemsetAsync");
  if (of.loose()) {
    constexpr Index enough_blocks = 4096;
    const Index tiles = EntryTiles::across(norm.rows) * EntryTiles::across(norm.columns);
    set_loose_entries<<<static_cast<unsigned>(std::min(tiles, enough_blocks)), threads, 0, stream>>>(norm, of, target, tiles);
    check_launch("set_loose_entries");
  } else {
    set_entries<<<entry_grid(norm.rows, norm.columns, true), entry_threads, 0, stream>>>(norm, of, target);
    check_launch("set_entries");
  }
  const DeviceArray<double> squares(norm.rows * norm.columns, stream);
  find_squares<<<entry_grid(norm.rows, norm.columns, true), entry_threads, 0, stream>>>(norm, of, squares.data());
  check_launch("find_squares");
  launch_adding<false>(squares.data(), norm, stream);
}

void launch_norm_shares(const BoundWithScales& error, const DeviceMagnitudes& of, const NormMatrix& norm, double allowed,
                        double* shares, const LargestWork& work, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(work.tiles()), LargestWork::parts_of_tile);
  find_shares<<<grid, search_threads, 0, stream>>>(error, of, norm, allowed, shares, work);
  check_launch("find_shares");
  launch_adding<true>(shares, norm, stream);
  clear_sums(work, stream);
  launch_reduction(work, work.tiles() * LargestWork::parts_of_tile, stream);
}

}  // namespace ozbound::gpu
