// SPDX-License-Identifier: BSD-3-Clause
#include "level_one_kernels.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "entries.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = entry_threads;

__global__ void __launch_bounds__(threads) find_loose(const LevelOneSums sums) {
  bool loose = false;
  for_each_entry(sums.m, sums.n, sums.row_stride < sums.col_stride, [&](Index i, Index j) {
    const auto row = sums.row_sums[i], column = sums.column_sums[j];
    loose = loose || (row != 0 && column != 0 && static_cast<std::int64_t>(sums.sum(i, j)) < row + column + sums.k);
  });
  if (__any_sync(~0u, loose) && threadIdx.x % 32 == 0) *sums.loose = 1;
}

constexpr int rows_each = 4;  // of a thread, which keeps what these rows add to the limit

/// The same where sums are of 32 bits, column by column, and have columns of a multiple of four entries.
__global__ void __launch_bounds__(threads) find_loose_narrow(const LevelOneSums sums) {
  const Index i = (Index{blockIdx.x} * threads + threadIdx.x) * rows_each;
  constexpr int never = -(1 << 30);  // limits are below 2^26
  int limits[rows_each];
  for (int r = 0; r < rows_each; ++r) {
    const auto row = i + r < sums.m ? sums.row_sums[i + r] : 0;
    limits[r] = row == 0 ? never : static_cast<int>(row + sums.k);
  }
  bool loose = false;
  for (Index j = blockIdx.y; j < sums.n && i < sums.m; j += gridDim.y) {
    const auto column = static_cast<int>(sums.column_sums[j]);
    if (column == 0) continue;
    const auto four = *reinterpret_cast<const int4*>(sums.narrow + i + j * sums.col_stride);
    loose = loose || four.x < limits[0] + column || four.y < limits[1] + column || four.z < limits[2] + column ||
            four.w < limits[3] + column;
  }
  if (__any_sync(~0u, loose) && threadIdx.x % 32 == 0) *sums.loose = 1;
}

}  // namespace

void launch_looseness(const LevelOneSums& sums, cudaStream_t stream) {
  check(cudaMemsetAsync(sums.loose, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  if (sums.m == 0 || sums.n == 0) return;
  if (sums.narrow != nullptr) {
    constexpr Index enough_blocks = 2048;
    const Index across = (sums.m + threads * rows_each - 1) / (threads * rows_each);
    const dim3 grid(static_cast<unsigned>(across),
                    static_cast<unsigned>(std::min(sums.n, std::max<Index>(enough_blocks / across, 1))));
    find_loose_narrow<<<grid, threads, 0, stream>>>(sums);
    return check_launch("find_loose_narrow");
  }
  find_loose<<<entry_grid(sums.m, sums.n, sums.row_stride < sums.col_stride), entry_threads, 0, stream>>>(sums);
  check_launch("find_loose");
}

}  // namespace ozbound::gpu
