#include "entries.hpp"

#include <algorithm>
#include <climits>

#include "cuda_check.hpp"
#include "entries.cuh"
#include "exact_entries.cuh"
#include "ozbound/bounds/entry_allowance.hpp"

namespace ozbound::gpu {
namespace {

__host__ __device__ bool by_row(const DeviceMatrix& c) { return c.row_stride < c.col_stride; }

__device__ unsigned long long* counter(std::uint64_t* x) { return reinterpret_cast<unsigned long long*>(x); }

__global__ void find_last_inexact(const DeviceBound* bound, const __grid_constant__ DeviceSpecials specials, Shape shape,
                                  std::uint64_t* after) {
  std::uint64_t last = 0;
  for_each_entry(shape.m, shape.n, false, [&](Index i, Index j) {
    if (bound->upper(i, j) > 0 && !specials.at(i, j)) last = max(last, static_cast<std::uint64_t>(i * shape.n + j + 1));
  });
  if (last > 0) atomicMax(counter(after), last);
}

__global__ void count_specials(const __grid_constant__ DeviceSpecials specials, Shape shape, std::uint64_t* count) {
  std::uint64_t own = 0;
  for_each_entry(shape.m, shape.n, by_row(specials.c0), [&](Index i, Index j) { own += specials.at(i, j) ? 1 : 0; });
  if (own > 0) atomicAdd(counter(count), own);
}

__device__ void set_open(std::uint32_t* open, unsigned long long* count, Index place) {
  const auto bit = static_cast<std::uint64_t>(place);
  atomicOr(open + bit / 32, 1u << (bit % 32));
  atomicAdd(count, 1ull);
}

__global__ void find_infinite(const __grid_constant__ DeviceMatrix c, const __grid_constant__ DeviceSpecials specials,
                              Shape shape, std::uint32_t* open, unsigned long long* count) {
  for_each_entry(shape.m, shape.n, by_row(c), [&](Index i, Index j) {
    if ((c.bits(i, j) & ~binary64.sign) == binary64.inf && !specials.at(i, j)) set_open(open, count, i * shape.n + j);
  });
}

__global__ void accept_relative(const __grid_constant__ RelativeProduct x, const __grid_constant__ DeviceErrorBound bound,
                                const __grid_constant__ DeviceSpecials specials, Shape shape) {
  const double least_normal = x.c.is_double ? 0x1p-1022 : 0x1p-126;
  double worst = 0;
  for_each_entry(shape.m, shape.n, by_row(x.c), [&](Index i, Index j) {
    if (specials.at(i, j)) return;
    const auto bits = x.product.bits(i, j);
    const auto scale = std::int64_t{bound.row_exponents[i]} + bound.column_exponents[j];
    const auto verdict = judge_relative(bits, bound.product->upper(i, j), scale, bound.rounding.alpha, x.factor, least_normal);
    if (!verdict.accepted) {
      set_open(x.open, x.open_count, i * shape.n + j);
      return;
    }
    worst = verdict.share > worst ? verdict.share : worst;
    x.c.set_bits(i, j, x.c.is_double ? bits : bits_of(static_cast<float>(double_from_bits(bits))));
  });
  if (worst > 0) atomicMax(counter(x.worst), bits_of(worst));
}

constexpr int range_threads = 256;

/// One block a vector, or many that share a matrix's elements.
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

/// One warp an entry.
__global__ void __launch_bounds__(exact_lanes)
    finish_exactly(const __grid_constant__ ExactEntries exact, Shape shape, const Entry* entries, Index count,
                   const __grid_constant__ DeviceSpecials specials) {
  __shared__ ExactBins bins;
  for (Index t = blockIdx.x; t < count; t += gridDim.x) {
    const auto [i, j] = entries != nullptr ? entries[t] : Entry{t / shape.n, t % shape.n};
    if (entries != nullptr || !specials.at(i, j)) exact.finish(i, j, bins);
  }
}

bool empty(Shape shape) { return shape.m == 0 || shape.n == 0; }

}  // namespace

void launch_last_inexact(const DeviceBound* bound, const DeviceSpecials& specials, Shape shape, std::uint64_t* after,
                         cudaStream_t stream) {
  if (empty(shape)) return;
  find_last_inexact<<<entry_grid(shape.m, shape.n, false), entry_threads, 0, stream>>>(bound, specials, shape, after);
  check_launch("find_last_inexact");
}

void launch_counting(const DeviceSpecials& specials, Shape shape, std::uint64_t* count, cudaStream_t stream) {
  if (empty(shape)) return;
  count_specials<<<entry_grid(shape.m, shape.n, by_row(specials.c0)), entry_threads, 0, stream>>>(specials, shape, count);
  check_launch("count_specials");
}

void launch_accepting(const RelativeProduct& relative, const DeviceErrorBound& bound, const DeviceSpecials& specials,
                      Shape shape, cudaStream_t stream) {
  if (empty(shape)) return;
  accept_relative<<<entry_grid(shape.m, shape.n, by_row(relative.c)), entry_threads, 0, stream>>>(relative, bound, specials,
                                                                                                  shape);
  check_launch("accept_relative");
}

void launch_finding_infinite(const DeviceMatrix& c, const DeviceSpecials& specials, Shape shape, std::uint32_t* open,
                             unsigned long long* count, cudaStream_t stream) {
  if (empty(shape)) return;
  find_infinite<<<entry_grid(shape.m, shape.n, by_row(c)), entry_threads, 0, stream>>>(c, specials, shape, open, count);
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

void launch_exact(const ExactCall& call, const Entry* entries, Index count, const DeviceSpecials& specials,
                  cudaStream_t stream) {
  if (count == 0) return;
  constexpr Index most = 16384;
  const DeviceEpilogue epilogue{.alpha = call.alpha, .beta = call.beta, .c0 = call.c0, .c = call.c};
  finish_exactly<<<static_cast<unsigned>(std::min(most, count)), exact_lanes, 0, stream>>>(
      {call.a, call.b, call.k, epilogue}, call.shape, entries, count, specials);
  check_launch("finish_exactly");
}

}  // namespace ozbound::gpu
