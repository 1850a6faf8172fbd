// SPDX-License-Identifier: BSD-3-Clause
#include "copying.hpp"
#include "cuda_check.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256;

__global__ void copy_elements(const DeviceMatrix from, const DeviceMatrix to, Index rows, Index columns) {
  const Index place = Index{blockIdx.x} * threads + threadIdx.x;
  if (place >= rows * columns) return;
  const bool by_row = to.row_stride < to.col_stride;
  const Index i = by_row ? place % rows : place / columns, j = by_row ? place / rows : place % columns;
  if (to.is_double)
    to.set_bits(i, j, from.bits(i, j));
  else
    to.set_bits(i, j, static_cast<const std::uint32_t*>(from.data)[from.at(i, j)]);
}

}  // namespace

void launch_copying(const DeviceMatrix& from, const DeviceMatrix& to, Index rows, Index columns, cudaStream_t stream) {
  const Index blocks = (rows * columns + threads - 1) / threads;
  if (blocks == 0) return;
  copy_elements<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(from, to, rows, columns);
  check_launch("copy_elements");
}

}  // namespace ozbound::gpu
