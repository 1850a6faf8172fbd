// SPDX-License-Identifier: BSD-3-Clause
#include "tops.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "vectors.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = 128, warps = threads / 32;
using Word = unsigned long long;

/// The largest magnitude of elements begin, begin + step, … of vector i.
__device__ Word largest(const Vectors& x, Index i, Index begin, Index end, Index step) {
  Word top = 0;
  constexpr int together = 8;
  for (Index l = begin; l < end; l += together * step) {
    Word bits[together];
#pragma unroll
    for (int t = 0; t < together; ++t) bits[t] = l + t * step < end ? x.matrix.bits(i, l + t * step) & ~binary64.sign : 0;
#pragma unroll
    for (int t = 0; t < together; ++t) top = max(top, bits[t]);
  }
  return top;
}

__global__ void __launch_bounds__(threads) find_tops(const Vectors x, Index chunk, Index chunks, Word* tops) {
  const Index task = Index{blockIdx.x} * warps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index begin = task % chunks * chunk, end = min(begin + chunk, x.inner);
  if (x.vectors_together()) {
    const Index i = task / chunks * 32 + lane;
    if (i >= x.count) return;
    if (const Word top = largest(x, i, begin, end, 1); top != 0) atomicMax(tops + i, top);
    return;
  }
  const Index i = task / chunks;
  if (i >= x.count) return;
  Word top = largest(x, i, begin + lane, end, 32);
  for (int offset = 16; offset > 0; offset /= 2) top = max(top, __shfl_xor_sync(~0u, top, offset));
  if (lane == 0 && top != 0) atomicMax(tops + i, top);
}

/// The elements of a vector, or of 32 vectors, that a warp takes: few enough to give all multiprocessors work.
Index chunk_for(Index rows, Index inner) {
  constexpr Index enough_warps = 8192;
  Index chunk = 1024;
  while (chunk > 64 && rows * ((inner + chunk - 1) / chunk) < enough_warps) chunk /= 2;
  return chunk;
}

}  // namespace

void launch_tops(const DeviceMatrix& vectors, Index count, Index inner, std::uint64_t* tops, cudaStream_t stream) {
  if (count == 0) return;
  check(cudaMemsetAsync(tops, 0, static_cast<std::size_t>(count) * sizeof(Word), stream), "cudaMemsetAsync");
  if (inner == 0) return;
  const Vectors x{vectors, count, inner};
  const Index rows = x.vectors_together() ? (count + 31) / 32 : count, chunk = chunk_for(rows, inner);
  const Index chunks = (inner + chunk - 1) / chunk, tasks = chunks * rows;
  find_tops<<<static_cast<unsigned>((tasks + warps - 1) / warps), threads, 0, stream>>>(x, chunk, chunks,
                                                                                        reinterpret_cast<Word*>(tops));
  check_launch("find_tops");
}

}  // namespace ozbound::gpu
