// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_check.hpp"
#include "lt_product.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256;

__global__ void widen(const std::int32_t* products, std::int64_t* sums, Index count, bool add) {
  const Index at = Index{blockIdx.x} * threads + threadIdx.x;
  if (at < count) sums[at] = products[at] + (add ? sums[at] : 0);
}

}  // namespace

void launch_widening(const std::int32_t* products, std::int64_t* sums, Index count, bool add, cudaStream_t stream) {
  widen<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(products, sums, count, add);
  check_launch("widen");
}

}  // namespace ozbound::gpu
