// SPDX-License-Identifier: BSD-3-Clause
#include "level_one_kernels.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "entries.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = entry_threads;

/// Adds the findings of a warp's entries to `sums`.
__device__ void note(const LevelOneSums& sums, bool loose, std::uint64_t most) {
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(~0u, most, offset));
  const bool any_loose = __any_sync(~0u, loose) != 0;
  if (threadIdx.x % 32 != 0) return;
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

constexpr int rows_each = 4;  // of a thread, which keeps these rows' contributions to the limit

/// find_extremes for 32-bit sums that lie column by column, with a multiple of four entries in each column. L and U are below
/// 2^32.
__global__ void __launch_bounds__(threads) find_extremes_narrow(const LevelOneSums sums) {
  const Index i = (Index{blockIdx.x} * threads + threadIdx.x) * rows_each;
  std::uint32_t limits[rows_each];
  bool counts[rows_each];
#pragma unroll
  for (int r = 0; r < rows_each; ++r) {
    const auto row = i + r < sums.m ? sums.row_sums[i + r] : 0;
    counts[r] = row != 0;
    limits[r] = static_cast<std::uint32_t>(row + sums.k);
  }
  bool loose = false;
  std::uint32_t most = 0;
  for (Index j = blockIdx.y; j < sums.n && i < sums.m; j += gridDim.y) {
    const auto column = static_cast<std::uint32_t>(sums.column_sums[j]);
    if (column == 0) continue;
    const auto four = *reinterpret_cast<const uint4*>(sums.narrow + i + j * sums.col_stride);
    const std::uint32_t of[rows_each] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int r = 0; r < rows_each; ++r) {
      if (!counts[r]) continue;
      loose = loose || of[r] < limits[r] + column;
      most = max(most, of[r] + limits[r] + column);
    }
  }
  note(sums, loose, most);
}

}  // namespace

void launch_extremes(const LevelOneSums& sums, cudaStream_t stream) {
  if (sums.m == 0 || sums.n == 0) return;
  if (sums.narrow != nullptr) {
    constexpr Index enough_blocks = 2048;
    const Index across = (sums.m + threads * rows_each - 1) / (threads * rows_each);
    const dim3 grid(static_cast<unsigned>(across),
                    static_cast<unsigned>(std::min(sums.n, std::max<Index>(enough_blocks / across, 1))));
    find_extremes_narrow<<<grid, threads, 0, stream>>>(sums);
    return check_launch("find_extremes_narrow");
  }
  find_extremes<<<entry_grid(sums.m, sums.n, sums.row_stride < sums.col_stride), entry_threads, 0, stream>>>(sums);
  check_launch("find_extremes");
}

}  // namespace ozbound::gpu
