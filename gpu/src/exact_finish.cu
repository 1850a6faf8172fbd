// SPDX-License-Identifier: BSD-3-Clause
#include "exact_finish.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "exact_entries.cuh"

namespace ozbound::gpu {
namespace {

constexpr int lanes = exact_lanes;
constexpr unsigned most_blocks = 2048;
using Word = unsigned long long;

/// A warp takes 32 words of bits at a time until no words are left.
__global__ void __launch_bounds__(lanes)
    finish_open(const __grid_constant__ ExactEntries exact, Index columns, Index words, Word* next) {
  __shared__ ExactBins bins;
  const auto& epilogue = exact.epilogue;
  if (*epilogue.open_count == 0) return;
  while (true) {
    const Word taken = threadIdx.x == 0 ? atomicAdd(next, Word{lanes}) : 0;
    const auto first = static_cast<Index>(__shfl_sync(~0u, taken, 0));
    if (first >= words) return;
    const std::uint32_t own = first + threadIdx.x < words ? epilogue.open[first + threadIdx.x] : 0;
    for (unsigned left = __ballot_sync(~0u, own != 0); left != 0; left &= left - 1) {
      const int word = __ffs(static_cast<int>(left)) - 1;
      for (std::uint32_t bits = __shfl_sync(~0u, own, word); bits != 0; bits &= bits - 1) {
        const Index place = (first + word) * 32 + __ffs(static_cast<int>(bits)) - 1;
        exact.finish(place / columns, place % columns, bins);
      }
    }
  }
}

}  // namespace

void launch_open_finish(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, const DeviceEpilogue& epilogue,
                        unsigned long long* next, cudaStream_t stream) {
  if (m == 0 || n == 0) return;
  check(cudaMemsetAsync(next, 0, sizeof(Word), stream), "cudaMemsetAsync");
  const Index words = (m * n + 31) / 32;
  const auto blocks = static_cast<unsigned>(std::min<Index>((words + lanes - 1) / lanes, most_blocks));
  finish_open<<<blocks, lanes, 0, stream>>>({a, b, k, epilogue}, n, words, next);
  check_launch("finish_open");
}

}  // namespace ozbound::gpu
