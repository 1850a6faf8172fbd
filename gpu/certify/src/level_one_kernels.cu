// SPDX-License-Identifier: BSD-3-Clause
#include "level_one_kernels.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "entries.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = entry_threads;

/// Adds the findings of a block's entries to `sums`. All blocks share these words, so each comes to them once. Called by all
/// threads.
__device__ void note(const LevelOneSums& sums, bool loose, std::uint64_t most) {
  __shared__ std::uint64_t of_warps[threads / 32];
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(~0u, most, offset));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = most;
  const bool any_loose = __syncthreads_or(loose ? 1 : 0) != 0;
  if (threadIdx.x != 0) return;
  for (int w = 1; w < threads / 32; ++w) most = max(most, of_warps[w]);
  if (any_loose) *sums.loose = 1;
  if (most > *static_cast<const volatile std::uint64_t*>(sums.largest_units))
    atomicMax(counter(sums.largest_units), static_cast<unsigned long long>(most));
}

__global__ void __launch_bounds__(threads) find_extremes(const LevelOneSums sums) {
  bool loose = false;
  std::uint64_t most = 0;
  for_each_entry(sums.m, sums.n, sums.row_stride < sums.col_stride, [&](Index i, Index j) {
    const auto row = sums.row_sums[i], column = sums.column_sums[j];
    if (row == 0 || column == 0) return;
    const auto sum = static_cast<std::int64_t>(sums.sum(i, j)), rounding = row + column + sums.k;
    loose = loose || sum < rounding;
    most = max(most, static_cast<std::uint64_t>(sum + rounding));
  });
  note(sums, loose, most);
}

constexpr int rows_each = 4;     // of a thread, which keeps these rows' contributions to the limit
constexpr int columns_each = 4;  // that a block takes at a time

constexpr std::uint32_t no_sum = ~std::uint32_t{0};

__device__ std::uint32_t least_of_warp(std::uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(~0u, x);
#else
  for (int offset = 16; offset > 0; offset /= 2) x = min(x, __shfl_xor_sync(~0u, x, offset));
  return x;
#endif
}

/// Lowers the least sum of vector i to x. Most values are not less, and a read is cheaper than an atomic operation.
__device__ void lower(const LeastSums& least, Index i, std::uint32_t x) {
  auto* const complement = least.complements + i;
  if (~x > *static_cast<const volatile std::uint32_t*>(complement)) atomicMax(complement, ~x);
}

/// find_extremes for 32-bit sums that lie column by column, with a multiple of four entries in each column. L and U are below
/// 2^32. Also finds the least sums of every row and of every column.
__global__ void __launch_bounds__(threads) find_extremes_narrow(const LevelOneSums sums) {
  const Index i = (Index{blockIdx.x} * threads + threadIdx.x) * rows_each;
  std::uint32_t limits[rows_each], least[rows_each];
  bool counts[rows_each];
#pragma unroll
  for (int r = 0; r < rows_each; ++r) {
    const auto row = i + r < sums.m ? sums.row_sums[i + r] : 0;
    counts[r] = row != 0;
    limits[r] = static_cast<std::uint32_t>(row + sums.k);
    least[r] = no_sum;
  }
  bool loose = false;
  std::uint32_t most = 0;
  const bool inside = i < sums.m;
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
    *sums.middle = static_cast<std::uint32_t>(sums.narrow[sums.m / 2 + sums.n / 2 * sums.col_stride]);
  for (Index j = Index{blockIdx.y} * columns_each; j < sums.n; j += Index{gridDim.y} * columns_each) {
    std::uint32_t columns[columns_each];
    uint4 fours[columns_each];
#pragma unroll
    for (int c = 0; c < columns_each; ++c) {
      const bool exists = j + c < sums.n;
      columns[c] = exists ? static_cast<std::uint32_t>(sums.column_sums[j + c]) : 0;
      fours[c] = inside && exists ? *reinterpret_cast<const uint4*>(sums.narrow + i + (j + c) * sums.col_stride) : uint4{};
    }
    std::uint32_t own = no_sum;  // of column j + lane
#pragma unroll
    for (int c = 0; c < columns_each; ++c) {
      std::uint32_t of_column = no_sum;
      const std::uint32_t of[rows_each] = {fours[c].x, fours[c].y, fours[c].z, fours[c].w};
#pragma unroll
      for (int r = 0; r < rows_each; ++r) {
        if (!counts[r] || columns[c] == 0) continue;
        loose = loose || of[r] < limits[r] + columns[c];
        most = max(most, of[r] + limits[r] + columns[c]);
        least[r] = min(least[r], of[r]);
        of_column = min(of_column, of[r]);
      }
      of_column = least_of_warp(of_column);
      if (static_cast<int>(threadIdx.x % 32) == c) own = of_column;
    }
    if (own != no_sum) lower(sums.column_least, j + threadIdx.x % 32, own);
  }
#pragma unroll
  for (int r = 0; r < rows_each; ++r)
    if (least[r] != no_sum) lower(sums.row_least, i + r, least[r]);
  note(sums, loose, most);
}

}  // namespace

void launch_extremes(const LevelOneSums& sums, cudaStream_t stream) {
  if (sums.m == 0 || sums.n == 0) return;
  if (sums.narrow != nullptr) {
    // Every block lowers the least sums of all its rows, so that many blocks of few columns take longer.
    constexpr Index enough_blocks = 528, fewest_columns = 2 * columns_each;
    const Index across = (sums.m + threads * rows_each - 1) / (threads * rows_each);
    const Index down = std::min((sums.n + fewest_columns - 1) / fewest_columns, std::max<Index>(enough_blocks / across, 1));
    const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
    find_extremes_narrow<<<grid, threads, 0, stream>>>(sums);
    return check_launch("find_extremes_narrow");
  }
  find_extremes<<<entry_grid(sums.m, sums.n, sums.row_stride < sums.col_stride), entry_threads, 0, stream>>>(sums);
  check_launch("find_extremes");
}

}  // namespace ozbound::gpu
