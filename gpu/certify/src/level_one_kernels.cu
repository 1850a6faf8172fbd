#include "level_one_kernels.hpp"

#include "cuda_check.hpp"
#include "entries.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = entry_threads, warps = threads / 32;

/// A warp a vector.
__global__ void __launch_bounds__(threads) sum_digits(const DeviceSlices digits, std::int64_t* sums) {
  const Index i = Index{blockIdx.x} * warps + threadIdx.x / 32;
  if (i >= digits.count) return;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(digits.digits + i * digits.pitch());
  unsigned long long sum = 0;
  for (Index w = threadIdx.x % 32; w < digits.padded / 4; w += 32) sum += __dp4a(words[w], 0x01010101u, 0u);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) sums[i] = static_cast<std::int64_t>(sum);
}

__global__ void __launch_bounds__(threads) find_loose(const LevelOneSums sums) {
  bool loose = false;
  for_each_entry(sums.m, sums.n, sums.row_stride < sums.col_stride, [&](Index i, Index j) {
    const auto row = sums.row_sums[i], column = sums.column_sums[j];
    loose = loose || (row != 0 && column != 0 && static_cast<std::int64_t>(sums.sum(i, j)) < row + column + sums.k);
  });
  if (__any_sync(~0u, loose) && threadIdx.x % 32 == 0) *sums.loose = 1;
}

}  // namespace

void launch_digit_sums(const DeviceSlices& digits, std::int64_t* sums, cudaStream_t stream) {
  if (digits.count == 0) return;
  sum_digits<<<static_cast<unsigned>((digits.count + warps - 1) / warps), threads, 0, stream>>>(digits, sums);
  check_launch("sum_digits");
}

void launch_looseness(const LevelOneSums& sums, cudaStream_t stream) {
  check(cudaMemsetAsync(sums.loose, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  if (sums.m == 0 || sums.n == 0) return;
  find_loose<<<entry_grid(sums.m, sums.n, sums.row_stride < sums.col_stride), entry_threads, 0, stream>>>(sums);
  check_launch("find_loose");
}

}  // namespace ozbound::gpu
