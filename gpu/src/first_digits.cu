// SPDX-License-Identifier: BSD-3-Clause
#include "first_digits.hpp"

#include "cuda_check.hpp"
#include "entries.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = entry_threads, warps = threads / 32;

/// One warp for each vector.
__global__ void __launch_bounds__(threads) sum_digits(const DeviceSlices digits, std::int64_t* sums) {
  const Index i = Index{blockIdx.x} * warps + threadIdx.x / 32;
  if (i >= digits.count) return;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(digits.digits + i * digits.pitch());
  unsigned long long sum = 0;
  for (Index w = threadIdx.x % 32; w < digits.padded / 4; w += 32) sum += __dp4a(words[w], 0x01010101u, 0u);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) sums[i] = static_cast<std::int64_t>(sum);
}

template <class Sum>
__global__ void __launch_bounds__(threads)
    find_largest_units(const Block block, const BlockSums<const Sum> sums, const std::int64_t* row_sums,
                       const std::int64_t* column_sums, Index k, std::uint64_t* largest) {
  std::uint64_t most = 0;
  for_each_entry(block.rows, block.columns, sums.row_stride < sums.col_stride, [&](Index i, Index j) {
    const auto row = row_sums[block.row + i], column = column_sums[block.column + j];
    if (row != 0 && column != 0) most = max(most, static_cast<std::uint64_t>(sums.at(0, i, j) + row + column + k));
  });
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(~0u, most, offset));
  if (threadIdx.x % 32 == 0 && most != 0) atomicMax(counter(largest), static_cast<unsigned long long>(most));
}

template <class Sum>
void launch(const Block& block, const BlockSums<const Sum>& sums, const std::int64_t* row_sums, const std::int64_t* column_sums,
            Index k, std::uint64_t* largest, cudaStream_t stream) {
  const auto grid = entry_grid(block.rows, block.columns, sums.row_stride < sums.col_stride);
  find_largest_units<<<grid, entry_threads, 0, stream>>>(block, sums, row_sums, column_sums, k, largest);
  check_launch("find_largest_units");
}

}  // namespace

void launch_digit_sums(const DeviceSlices& digits, std::int64_t* sums, cudaStream_t stream) {
  if (digits.count == 0) return;
  sum_digits<<<static_cast<unsigned>((digits.count + warps - 1) / warps), threads, 0, stream>>>(digits, sums);
  check_launch("sum_digits");
}

void launch_largest_units(const Block& block, const BlockSums<const std::int64_t>& sums, const std::int64_t* row_sums,
                          const std::int64_t* column_sums, Index k, std::uint64_t* largest, cudaStream_t stream) {
  launch(block, sums, row_sums, column_sums, k, largest, stream);
}

void launch_largest_units(const Block& block, const BlockSums<const std::int32_t>& sums, const std::int64_t* row_sums,
                          const std::int64_t* column_sums, Index k, std::uint64_t* largest, cudaStream_t stream) {
  launch(block, sums, row_sums, column_sums, k, largest, stream);
}

}  // namespace ozbound::gpu
