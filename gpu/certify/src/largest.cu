#include "largest.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cuda_check.hpp"
#include "ozbound/bounds/entry_allowance.hpp"
#include "plan_bound.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 128;
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

/// x 2^shift as rescaled_upper says: by its exponent's field where that is far from its ends.
__device__ double rescaled(double x, std::int64_t shift) {
  const auto field = static_cast<std::int64_t>(bits_of(x) >> 52);
  constexpr int least = 64, most = 1983;
  if (field >= least && field <= most && field + shift >= least && field + shift <= most)
    return double_from_bits(bits_of(x) + (static_cast<std::uint64_t>(shift) << 52));
  return rescaled_upper(x, shift);
}

constexpr int most_outer = 3 * PlanTerms::most;  // of all bounds there are: three alternatives a term, or one

/// The outer products of a bound that matter to a tile: a block's columns, some rows.
struct TileBound {
  double least[most_outer], largest[most_outer];  ///< of the block's columns
  double rows[most_outer][rows_together];
  std::uint8_t kept[most_outer];  ///< outer products that may be the least of their term, by terms
  int ends[PlanTerms::most];      ///< of the terms, in kept
};

/// Sets the range of the block's columns in every outer product. By the whole block.
__device__ void find_ranges(const DeviceBound& bound, int outers, Index first, TileBound& tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int outer = static_cast<int>(threadIdx.x) / 32; outer < outers; outer += threads / 32) {
    double least = double_from_bits(binary64.inf), largest = 0;
    for (Index j = first + lane; j < min(first + threads, bound.n); j += 32) {
      const double x = bound.columns[outer * bound.n + j];
      least = min(least, x), largest = max(largest, x);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      least = min(least, __shfl_xor_sync(~0u, least, offset));
      largest = max(largest, __shfl_xor_sync(~0u, largest, offset));
    }
    if (lane == 0) tile.least[outer] = least, tile.largest[outer] = largest;
  }
}

/// Sets what of the tile depends on the rows: i … i + count - 1. Products rounded up are monotone: an alternative whose least
/// product is above another's largest is the least nowhere. By the whole block.
__device__ void find_kept(const DeviceBound& bound, int outers, Index i, int count, TileBound& tile) {
  __syncthreads();
  for (int t = static_cast<int>(threadIdx.x); t < outers * rows_together; t += threads) {
    const int outer = t / rows_together, r = t % rows_together;
    tile.rows[outer][r] = bound.rows[outer * bound.m + i + (r < count ? r : 0)];
  }
  __syncthreads();
  const int t = static_cast<int>(threadIdx.x);
  if (t < bound.terms) {
    const int first = t == 0 ? 0 : bound.ends[t - 1], end = bound.ends[t];
    const auto row_range = [&](int h, bool of_largest) {
      double x = tile.rows[h][0];
      for (int r = 1; r < rows_together; ++r) x = of_largest ? max(x, tile.rows[h][r]) : min(x, tile.rows[h][r]);
      return x;
    };
    double most = double_from_bits(binary64.inf);
    for (int h = first; h < end; ++h) most = min(most, multiply_upper(row_range(h, true), tile.largest[h]));
    int kept = first;
    for (int h = first; h < end; ++h)
      if (!(multiply_upper(row_range(h, false), tile.least[h]) > most)) tile.kept[kept++] = static_cast<std::uint8_t>(h);
    tile.ends[t] = kept;
  }
  __syncthreads();
}

/// EntryBound::upper of the tile's entries in a column. Of alternatives that are not zero the least is rounded alone. Compared
/// as integers, below which Inf * 0 is too.
__device__ void upper_of_rows(const DeviceBound& bound, const TileBound& tile, Index j, double (&total)[rows_together]) {
  for (double& x : total) x = 0;
  for (int t = 0; t < bound.terms; ++t) {
    std::int64_t least[rows_together];
    const int first = t == 0 ? 0 : bound.ends[t - 1], end = tile.ends[t];
#pragma unroll
    for (auto& x : least) x = static_cast<std::int64_t>(binary64.inf);
    for (int h = first; h < end; ++h) {
      const int outer = tile.kept[h];
      const double column = bound.columns[outer * bound.n + j];
#pragma unroll
      for (int r = 0; r < rows_together; ++r)
        least[r] = min(least[r], static_cast<std::int64_t>(bits_of(tile.rows[outer][r] * column)));
    }
#pragma unroll
    for (int r = 0; r < rows_together; ++r) {
      double value = next_up(double_from_bits(static_cast<std::uint64_t>(least[r])));
      if (least[r] <= 0) {  // zero, or too small
        value = double_from_bits(binary64.inf);
        for (int h = first; h < end; ++h) {
          const int outer = tile.kept[h];
          value = min(value, multiply_upper(tile.rows[outer][r], bound.columns[outer * bound.n + j]));
        }
      }
      total[r] = add_upper(total[r], value);
    }
  }
#pragma unroll
  for (double& x : total) x = x < bound.uniform ? x : bound.uniform;
}

/// Takes value(i, j, the bound of (i, j), the largest value so far) of every entry.
template <class Value>
__device__ void find_largest(const DeviceBound& bound, LargestEntry* parts, const Value& value) {
  __shared__ TileBound tile;
  LargestEntry largest;
  const Index first = Index{blockIdx.x} * threads, j = first + threadIdx.x;
  const int outers = bound.terms == 0 ? 0 : bound.ends[bound.terms - 1];
  find_ranges(bound, outers, first, tile);
  for (Index i = Index{blockIdx.y} * rows_together; i < bound.m; i += Index{gridDim.y} * rows_together) {
    const int count = static_cast<int>(min(Index{rows_together}, bound.m - i));
    find_kept(bound, outers, i, count, tile);
    if (j >= bound.n) continue;
    double upper[rows_together];
    upper_of_rows(bound, tile, j, upper);
#pragma unroll
    for (int r = 0; r < rows_together; ++r)
      if (r < count) take(largest, {value(i + r, j, upper[r], largest.value), (i + r) * bound.n + j});
  }
  reduce(largest);
  if (threadIdx.x == 0) parts[Index{blockIdx.y} * gridDim.x + blockIdx.x] = largest;
}

/// error / allowed of an entry, rounded up; or less than `enough`, where it is seen to be.
__device__ double ratio_of(double error, double allowed, double enough) {
  const double limit = enough * allowed;
  if (limit > 0x1p-900 && limit < 0x1p900 && error < limit * (1 - 0x1p-40)) return 0;
  return ratio_upper(error, allowed);
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

__global__ void __launch_bounds__(threads, 4)
    find_worst_entry(const __grid_constant__ ScaledBound error, const __grid_constant__ LevelOneSums product,
                     const __grid_constant__ EntryTarget target, LargestEntry* parts) {
  find_largest(error.bound, parts, [&](Index i, Index j, double upper, double so_far) -> double {
    const std::int64_t of_row = product.rows.exponents[i], of_column = product.columns.exponents[j];
    const double relative =
        rescaled(upper, error.row_exponents[i] - of_row + (std::int64_t{error.column_exponents[j]} - of_column));
    if (relative == 0 || is_special(product, target, i, j)) return 0;
    const auto bounds = product.at(i, j);
    if (bounds.upper == 0) return 0;
    return ratio_of(relative, share_of(product, target, i, j, bounds.lower), so_far);
  });
}

__global__ void __launch_bounds__(threads, 4)
    find_largest_bound(const __grid_constant__ ScaledBound error, const __grid_constant__ RoundingError rounding,
                       const DeviceMatrix c, const __grid_constant__ DeviceSpecials specials, LargestEntry* parts) {
  find_largest(error.bound, parts, [&](Index i, Index j, double upper, double) -> double {
    if (specials.at(i, j)) return 0;
    const auto scale = std::int64_t{error.row_exponents[i]} + error.column_exponents[j];
    return rounding.at(upper, scale, double_from_bits(c.bits(i, j)));
  });
}

__global__ void __launch_bounds__(1024) reduce_parts(const LargestEntry* parts, Index count, LargestEntry* result) {
  LargestEntry largest;
  for (Index t = threadIdx.x; t < count; t += 1024) take(largest, parts[t]);
  reduce(largest);
  if (threadIdx.x == 0) *result = largest;
}

void check_size(const DeviceBound& bound) {
  if (bound.terms > PlanTerms::most) throw std::length_error("a bound of " + std::to_string(bound.terms) + " terms");
}

dim3 grid_for(Index m, Index n) {
  constexpr Index most_rows = 64;
  return {static_cast<unsigned>((n + threads - 1) / threads),
          static_cast<unsigned>(std::min((m + rows_together - 1) / rows_together, most_rows))};
}

void launch_reduction(const LargestEntry* parts, Index m, Index n, LargestEntry* result, cudaStream_t stream) {
  const dim3 grid = grid_for(m, n);
  reduce_parts<<<1, 1024, 0, stream>>>(parts, Index{grid.x} * grid.y, result);
  check_launch("reduce_parts");
}

}  // namespace

Index largest_parts(Index m, Index n) {
  const dim3 grid = grid_for(m, n);
  return Index{grid.x} * std::max<Index>(grid.y, most_probed_rows);
}

void launch_least_allowing(const LevelOneSums& product, const EntryTarget& target, LargestEntry* parts, LargestEntry* result,
                           cudaStream_t stream) {
  const Index m = product.m, n = product.n, step = (m + most_probed_rows - 1) / most_probed_rows;
  const dim3 grid(static_cast<unsigned>((n + threads - 1) / threads), static_cast<unsigned>((m + step - 1) / step));
  find_least_allowing<<<grid, threads, 0, stream>>>(product, target, step, parts);
  check_launch("find_least_allowing");
  reduce_parts<<<1, 1024, 0, stream>>>(parts, Index{grid.x} * grid.y, result);
  check_launch("reduce_parts");
}

void launch_probes(const LevelOneSums& product, const EntryTarget& target, const Index* places, Index count, double* allowed,
                   cudaStream_t stream) {
  probe_entries<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(product, target, places, count,
                                                                                                allowed);
  check_launch("probe_entries");
}

void launch_worst_entry(const ScaledBound& error, const LevelOneSums& product, const EntryTarget& target, LargestEntry* parts,
                        LargestEntry* result, cudaStream_t stream) {
  check_size(error.bound);
  const Index m = error.bound.m, n = error.bound.n;
  if (m > 0 && n > 0) {
    find_worst_entry<<<grid_for(m, n), threads, 0, stream>>>(error, product, target, parts);
    check_launch("find_worst_entry");
  }
  launch_reduction(parts, m, n, result, stream);
}

void launch_largest_bound(const ScaledBound& error, const RoundingError& rounding, const DeviceMatrix& c,
                          const DeviceSpecials& specials, LargestEntry* parts, LargestEntry* result, cudaStream_t stream) {
  check_size(error.bound);
  const Index m = error.bound.m, n = error.bound.n;
  if (m > 0 && n > 0) {
    find_largest_bound<<<grid_for(m, n), threads, 0, stream>>>(error, rounding, c, specials, parts);
    check_launch("find_largest_bound");
  }
  launch_reduction(parts, m, n, result, stream);
}

}  // namespace ozbound::gpu
