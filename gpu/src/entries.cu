// SPDX-License-Identifier: BSD-3-Clause
#include "entries.hpp"

#include <algorithm>
#include <climits>

#include "cuda_check.hpp"
#include "entries.cuh"
#include "exact_entries.cuh"

namespace ozbound::gpu {
namespace {

__global__ void count_specials(const __grid_constant__ DeviceSpecials specials, Shape shape, std::uint64_t* count) {
  std::uint64_t own = 0;
  for_each_entry(shape.m, shape.n, by_row(specials.c0), [&](Index i, Index j) { own += specials.at(i, j) ? 1 : 0; });
  if (own > 0) atomicAdd(counter(count), own);
}

__global__ void find_infinite(const __grid_constant__ DeviceMatrix c, const __grid_constant__ DeviceSpecials specials,
                              Shape shape, std::uint32_t* infinite, unsigned long long* count) {
  for_each_entry(shape.m, shape.n, by_row(c), [&](Index i, Index j) {
    if ((c.bits(i, j) & ~binary64.sign) == binary64.inf && !specials.at(i, j)) mark_entry(infinite, count, i * shape.n + j);
  });
}

constexpr int range_threads = 256;

/// One block for each vector, or many blocks that share a matrix's elements.
__global__ void find_exponent_range(DeviceMatrix vectors, Index count, Index inner, bool by_vector, std::int32_t* range) {
  for (Index i = blockIdx.x; i < count; i += gridDim.x) {
    int least = INT_MAX, top = INT_MIN;
    bool special = false;
    for (Index l = threadIdx.x; l < inner; l += range_threads) {
      const auto bits = vectors.bits(i, l);
      special = special || !is_finite(bits, binary64);
      const auto x = to_dyadic(bits, binary64);
      if (!is_finite(bits, binary64) || x.magnitude == 0) continue;
      least = min(least, x.top_exponent()), top = max(top, x.top_exponent());
    }
    if (__syncthreads_or(special) != 0 && by_vector) continue;
    if (top >= least) atomicMin(range, least), atomicMax(range + 1, top);
  }
}

/// One warp for each entry.
__global__ void __launch_bounds__(exact_lanes)
    finish_exactly(const __grid_constant__ ExactEntries exact, Shape shape, const Entry* entries, Index count,
                   const __grid_constant__ DeviceSpecials specials) {
  __shared__ ExactBins bins;
  for (Index t = blockIdx.x; t < count; t += gridDim.x) {
    const auto [i, j] = entries != nullptr ? entries[t] : Entry{t / shape.n, t % shape.n};
    if (entries != nullptr || !specials.at(i, j)) exact.finish(i, j, bins);
  }
}

}  // namespace

void launch_counting(const DeviceSpecials& specials, Shape shape, std::uint64_t* count, cudaStream_t stream) {
  if (empty(shape)) return;
  count_specials<<<entry_grid(shape.m, shape.n, by_row(specials.c0)), entry_threads, 0, stream>>>(specials, shape, count);
  check_launch("count_specials");
}

void launch_finding_infinite(const DeviceMatrix& c, const DeviceSpecials& specials, Shape shape, std::uint32_t* infinite,
                             unsigned long long* count, cudaStream_t stream) {
  if (empty(shape)) return;
  find_infinite<<<entry_grid(shape.m, shape.n, by_row(c)), entry_threads, 0, stream>>>(c, specials, shape, infinite, count);
  check_launch("find_infinite");
}

void launch_exponent_range(const DeviceMatrix& vectors, Index count, Index inner, bool by_vector, std::int32_t* range,
                           cudaStream_t stream) {
  if (count == 0 || inner == 0) return;
  constexpr Index most = 8192;
  find_exponent_range<<<static_cast<unsigned>(std::min(most, count)), range_threads, 0, stream>>>(vectors, count, inner,
                                                                                                  by_vector, range);
  check_launch("find_exponent_range");
}

void launch_exact(const ExactProduct& product, const Entry* entries, Index count, const DeviceSpecials& specials,
                  cudaStream_t stream) {
  if (count == 0) return;
  constexpr Index most = 16384;
  const DeviceEpilogue epilogue{.alpha = product.alpha, .beta = product.beta, .c0 = product.c0, .c = product.c};
  finish_exactly<<<static_cast<unsigned>(std::min(most, count)), exact_lanes, 0, stream>>>(
      {product.a, product.b, product.k, epilogue}, product.shape, entries, count, specials);
  check_launch("finish_exactly");
}

}  // namespace ozbound::gpu
