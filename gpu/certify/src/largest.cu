#include "largest.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "ozbound/bounds/entry_allowance.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 128;
using Word = unsigned long long;
constexpr int rows_together = 8;  // of a thread's column: each norm of the column is read once for all of them

/// Takes another entry if it is larger, or as large and before.
__device__ void take(LargestEntry& largest, const LargestEntry& other) {
  if (other.value > largest.value || (other.value == largest.value && other.value > 0 && other.place < largest.place))
    largest = other;
}

/// The largest of a block's, in its first thread.
__device__ void reduce(LargestEntry& largest) {
  __shared__ LargestEntry warps[32];
  for (int offset = 16; offset > 0; offset /= 2) {
    const LargestEntry other{__shfl_xor_sync(~0u, largest.value, offset), __shfl_xor_sync(~0u, largest.place, offset)};
    take(largest, other);
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned w = 1; w < blockDim.x / 32; ++w) take(largest, warps[w]);
}

// Most entries are seen to be below the largest so far from a bound in binary32, every operation rounded up; the others are
// evaluated as EntryBound and the target's formulas have it.

constexpr float above = 1 + 0x1p-12f, below = 1 - 0x1p-12f;  // far more than the formulas' own roundings

/// x 2^shift in binary32, from above; +Inf where shift is far from 0.
__device__ float estimate_upper(double x, std::int64_t shift) {
  if (shift < -60 || shift > 60) return x == 0 ? 0 : float_from_bits(binary32.inf);
  return __double2float_ru(__dmul_ru(x, power_of_two(static_cast<int>(shift))));
}

/// Rows of a bound, relative to 2^exponents over 2^base, base null for 1; columns likewise.
__global__ void __launch_bounds__(threads)
    find_estimates(const double* norms, Index count, const std::int32_t* exponents, const std::int32_t* base, const int* ends,
                   int terms, float* estimates, Index pitch) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i >= pitch) return;
  const std::int64_t shift = i < count ? std::int64_t{exponents[i]} - (base == nullptr ? 0 : base[i]) : 0;
  for (int outer = 0; outer < ends[terms - 1]; ++outer)
    estimates[outer * pitch + i] = i < count ? estimate_upper(norms[outer * count + i], shift) : 0;
}

/// The bound of some entries of a column, from above.
__device__ void estimate_rows(const DeviceBound& bound, const LargestWork& work, Index i, Index j,
                              float (&total)[rows_together]) {
#pragma unroll
  for (float& x : total) x = 0;
  for (int t = 0, outer = 0; t < bound.terms; ++t) {
    float least[rows_together];
#pragma unroll
    for (float& x : least) x = float_from_bits(binary32.inf);
    for (const int end = bound.ends[t]; outer < end; ++outer) {
      const float column = work.columns[outer * work.column_pitch + j];
      const auto* const fours = reinterpret_cast<const float4*>(work.rows + outer * work.row_pitch + i);
      const float4 low = fours[0], high = fours[1];
      const float rows[rows_together] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int r = 0; r < rows_together; ++r) {
        const float product = __fmul_ru(rows[r], column);  // a NaN, of Inf * 0, leaves what there was
        least[r] = product < least[r] ? product : least[r];
      }
    }
#pragma unroll
    for (int r = 0; r < rows_together; ++r) total[r] = __fadd_ru(total[r], least[r]);
  }
}

__device__ Word* word(std::uint64_t* x) { return reinterpret_cast<Word*>(x); }

/// Takes entry.value(i, j, the bound of (i, j), the largest value so far) of every entry of some rows, but for those that
/// entry.clearly_below says are less than it.
template <class Entry>
__device__ void find_largest(const DeviceBound& bound, const LargestWork& work, Index m, const Entry& entry) {
  LargestEntry largest;
  const Index j = Index{blockIdx.x} * threads + threadIdx.x;
  for (Index i = Index{blockIdx.y} * rows_together; j < bound.n && i < m; i += Index{gridDim.y} * rows_together) {
    float estimates[rows_together];
    estimate_rows(bound, work, i, j, estimates);
    double enough = double_from_bits(*static_cast<const volatile std::uint64_t*>(work.best));
#pragma unroll
    for (int r = 0; r < rows_together; ++r) {
      if (i + r >= m || entry.clearly_below(i + r, j, estimates[r], enough)) continue;
      const LargestEntry found{entry.value(i + r, j, bound.upper(i + r, j), enough), (i + r) * bound.n + j};
      take(largest, found);
      if (found.value > enough) atomicMax(word(work.best), bits_of(enough = found.value));
    }
  }
  reduce(largest);
  if (threadIdx.x == 0) work.parts[Index{blockIdx.y} * gridDim.x + blockIdx.x] = largest;
}

/// What an entry's share of M is, from its row's and column's norms or a lower bound of |A||B|.
__device__ double share_of(const LevelOneSums& product, const EntryTarget& target, Index i, Index j, double product_lower) {
  double m = target.row_norms == nullptr ? product_lower : multiply_lower(target.row_norms[i], target.column_norms[j]);
  if (target.beta != 0)
    m = add_lower(m, c0_share_lower(target.alpha, target.beta, double_from_bits(target.c0.bits(i, j)), product.exponent(i, j)));
  return multiply_lower(target.factor, m);
}

__device__ bool is_special(const LevelOneSums& product, const EntryTarget& target, Index i, Index j) {
  return product.special(i, j) || (target.beta != 0 && !is_finite(target.c0.bits(i, j), binary64));
}

/// Turns the order of positive numbers round.
__host__ __device__ double reversed(double x) { return x > 0 ? double_from_bits(Format(binary64).inf - bits_of(x)) : 0; }

/// The entry that allows least, of every step-th row.
__global__ void __launch_bounds__(threads)
    find_least_allowing(const __grid_constant__ LevelOneSums product, const __grid_constant__ EntryTarget target, Index step,
                        LargestEntry* parts) {
  LargestEntry largest;
  const Index j = Index{blockIdx.x} * threads + threadIdx.x;
  for (Index i = blockIdx.y * step; j < product.n && i < product.m; i += gridDim.y * step)
    if (!is_special(product, target, i, j))
      take(largest, {reversed(share_of(product, target, i, j, product.at(i, j).lower)), i * product.n + j});
  reduce(largest);
  if (threadIdx.x == 0) parts[Index{blockIdx.y} * gridDim.x + blockIdx.x] = largest;
}

/// What Allowance::probe says of some entries.
__global__ void __launch_bounds__(threads)
    probe_entries(const __grid_constant__ LevelOneSums product, const __grid_constant__ EntryTarget target, const Index* places,
                  Index count, double* allowed) {
  const Index t = Index{blockIdx.x} * threads + threadIdx.x;
  if (t >= count) return;
  const Index i = places[t] / product.n, j = places[t] % product.n;
  const auto bounds = product.at(i, j);
  allowed[t] = is_special(product, target, i, j) || bounds.upper == 0 ? double_from_bits(binary64.inf)
                                                                      : share_of(product, target, i, j, bounds.lower);
}

/// error / allowed of an entry, where the error is relative to the scales of the product.
struct RatioOfEntry {
  const ScaledBound& error;
  const LevelOneSums& product;
  const EntryTarget& target;

  [[nodiscard]] __device__ bool clearly_below(Index i, Index j, float estimate, double enough) const {
    if (estimate == 0) return true;  // no error, nothing to compare
    if (!(enough < 0x1p60)) return false;
    const float m = target.row_norms == nullptr
                        ? __fmul_rd(__ull2float_rd(product.sum(i, j)), 0x1p-14f)
                        : __fmul_rd(__double2float_rd(target.row_norms[i]), __double2float_rd(target.column_norms[j]));
    return estimate < __fmul_rd(__double2float_rd(enough * target.factor * below), m);
  }

  [[nodiscard]] __device__ double value(Index i, Index j, double upper, double enough) const {
    const std::int64_t of_row = product.rows.exponents[i], of_column = product.columns.exponents[j];
    const double relative =
        rescaled_upper(upper, error.row_exponents[i] - of_row + (std::int64_t{error.column_exponents[j]} - of_column));
    if (relative == 0 || is_special(product, target, i, j)) return 0;
    const auto bounds = product.at(i, j);
    if (bounds.upper == 0) return 0;
    return ratio_upper(relative, share_of(product, target, i, j, bounds.lower));
  }
};

/// The bound of an entry of C.
struct BoundOfEntry {
  const ScaledBound& error;
  const RoundingError& rounding;
  const DeviceMatrix& c;
  const DeviceSpecials& specials;

  [[nodiscard]] __device__ bool clearly_below(Index i, Index j, float estimate, double enough) const {
    const float magnitude = __double2float_ru(fabs(double_from_bits(c.bits(i, j))));
    const float of_rounding =
        __fadd_ru(__fmul_ru(magnitude, __double2float_ru(rounding.result_factor)), __double2float_ru(rounding.underflow));
    const float of_error = __fmul_ru(estimate, __double2float_ru(fabs(rounding.alpha)));
    return __fmul_ru(__fadd_ru(of_error, of_rounding), above) < __double2float_rd(enough);
  }

  [[nodiscard]] __device__ double value(Index i, Index j, double upper, double) const {
    if (specials.at(i, j)) return 0;
    const auto scale = std::int64_t{error.row_exponents[i]} + error.column_exponents[j];
    return rounding.at(upper, scale, double_from_bits(c.bits(i, j)));
  }
};

__global__ void __launch_bounds__(threads)
    find_worst_entry(const __grid_constant__ ScaledBound error, const __grid_constant__ LevelOneSums product,
                     const __grid_constant__ EntryTarget target, const __grid_constant__ LargestWork work, Index m) {
  find_largest(error.bound, work, m, RatioOfEntry{error, product, target});
}

__global__ void __launch_bounds__(threads)
    find_largest_bound(const __grid_constant__ ScaledBound error, const __grid_constant__ RoundingError rounding,
                       const __grid_constant__ DeviceMatrix c, const __grid_constant__ DeviceSpecials specials,
                       const __grid_constant__ LargestWork work, Index m) {
  find_largest(error.bound, work, m, BoundOfEntry{error, rounding, c, specials});
}

__global__ void __launch_bounds__(1024) reduce_parts(const LargestEntry* parts, Index count, LargestEntry* result) {
  LargestEntry largest;
  for (Index t = threadIdx.x; t < count; t += 1024) take(largest, parts[t]);
  reduce(largest);
  if (threadIdx.x == 0) *result = largest;
}

dim3 grid_for(Index m, Index n) {
  constexpr Index most_rows = 64;
  return {static_cast<unsigned>((n + threads - 1) / threads),
          static_cast<unsigned>(std::min((m + rows_together - 1) / rows_together, most_rows))};
}

void launch_estimates(const double* norms, Index count, const std::int32_t* exponents, const std::int32_t* base,
                      const DeviceBound& bound, float* estimates, Index pitch, cudaStream_t stream) {
  if (bound.terms == 0) return;
  const auto blocks = static_cast<unsigned>((pitch + threads - 1) / threads);
  find_estimates<<<blocks, threads, 0, stream>>>(norms, count, exponents, base, bound.ends, bound.terms, estimates, pitch);
  check_launch("find_estimates");
}

/// launch(grid, rows): of some rows first, so that the others have something to be below.
template <class Launch>
void launch_search(const ScaledBound& error, const std::int32_t* row_base, const std::int32_t* column_base,
                   const LargestWork& work, cudaStream_t stream, const Launch& launch) {
  const auto& bound = error.bound;
  const Index m = bound.m, n = bound.n;
  constexpr Index first_rows = 2 * rows_together;
  dim3 grid = m == 0 || n == 0 ? dim3{0, 0} : grid_for(m, n);
  check(cudaMemsetAsync(work.best, 0, sizeof *work.best, stream), "cudaMemsetAsync");
  if (m > 0 && n > 0) {
    launch_estimates(bound.rows, m, error.row_exponents, row_base, bound, work.rows, work.row_pitch, stream);
    launch_estimates(bound.columns, n, error.column_exponents, column_base, bound, work.columns, work.column_pitch, stream);
    if (m > first_rows) launch(grid_for(first_rows, n), first_rows);
    launch(grid, m);
  }
  reduce_parts<<<1, 1024, 0, stream>>>(work.parts, Index{grid.x} * grid.y, work.result);
  check_launch("reduce_parts");
}

}  // namespace

LargestWork LargestWork::take(Arena& arena, Index outers, Index m, Index n) {
  const dim3 grid = grid_for(m, n);
  LargestWork work;
  work.row_pitch = (m + rows_together - 1) / rows_together * rows_together;
  work.column_pitch = n;
  work.parts = arena.take<LargestEntry>(Index{grid.x} * std::max<Index>(grid.y, most_probed_rows));
  work.result = arena.take<LargestEntry>(1);
  work.rows = arena.take<float>(outers * work.row_pitch);
  work.columns = arena.take<float>(outers * work.column_pitch);
  work.best = arena.take<std::uint64_t>(1);
  return work;
}

void launch_least_allowing(const LevelOneSums& product, const EntryTarget& target, const LargestWork& work,
                           cudaStream_t stream) {
  const Index m = product.m, n = product.n, step = (m + most_probed_rows - 1) / most_probed_rows;
  const dim3 grid(static_cast<unsigned>((n + threads - 1) / threads), static_cast<unsigned>((m + step - 1) / step));
  find_least_allowing<<<grid, threads, 0, stream>>>(product, target, step, work.parts);
  check_launch("find_least_allowing");
  reduce_parts<<<1, 1024, 0, stream>>>(work.parts, Index{grid.x} * grid.y, work.result);
  check_launch("reduce_parts");
}

void launch_probes(const LevelOneSums& product, const EntryTarget& target, const Index* places, Index count, double* allowed,
                   cudaStream_t stream) {
  probe_entries<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(product, target, places, count,
                                                                                                allowed);
  check_launch("probe_entries");
}

void launch_worst_entry(const ScaledBound& error, const LevelOneSums& product, const EntryTarget& target,
                        const LargestWork& work, cudaStream_t stream) {
  launch_search(error, product.rows.exponents, product.columns.exponents, work, stream, [&](const dim3& grid, Index rows) {
    find_worst_entry<<<grid, threads, 0, stream>>>(error, product, target, work, rows);
    check_launch("find_worst_entry");
  });
}

void launch_largest_bound(const ScaledBound& error, const RoundingError& rounding, const DeviceMatrix& c,
                          const DeviceSpecials& specials, const LargestWork& work, cudaStream_t stream) {
  launch_search(error, nullptr, nullptr, work, stream, [&](const dim3& grid, Index rows) {
    find_largest_bound<<<grid, threads, 0, stream>>>(error, rounding, c, specials, work, rows);
    check_launch("find_largest_bound");
  });
}

}  // namespace ozbound::gpu
