// SPDX-License-Identifier: BSD-3-Clause
#include "device_fingerprint.hpp"

#include "cuda_check.hpp"
#include "entries.cuh"
#include "ozbound/core/detail/fingerprint_term.hpp"

namespace ozbound::gpu {
namespace {

using Word = unsigned long long;

__global__ void __launch_bounds__(entry_threads) add_terms(const DeviceMatrix matrix, Index rows, Index columns, Word* result) {
  Word sum = 0;
  for_each_entry(rows, columns, matrix.row_stride < matrix.col_stride, [&](Index i, Index j) {
    sum += fingerprint_term(matrix.bits(i, j), fingerprint_key(static_cast<std::uint64_t>(i * columns + j)));
  });
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

}  // namespace

void launch_fingerprint(const DeviceMatrix& matrix, Index rows, Index columns, std::uint64_t* sum, cudaStream_t stream) {
  check(cudaMemsetAsync(sum, 0, sizeof(Word), stream), "cudaMemsetAsync");
  if (rows == 0 || columns == 0) return;
  const auto grid = entry_grid(rows, columns, matrix.row_stride < matrix.col_stride);
  add_terms<<<grid, entry_threads, 0, stream>>>(matrix, rows, columns, reinterpret_cast<Word*>(sum));
  check_launch("add_terms");
}

}  // namespace ozbound::gpu
