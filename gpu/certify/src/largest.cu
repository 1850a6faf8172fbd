// SPDX-License-Identifier: BSD-3-Clause
#include "largest.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "entry_exponent.hpp"
#include "largest.cuh"
#include "level_two.cuh"
#include "ozbound/core/detail/fingerprint_term.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = search_threads;
using Word = unsigned long long;

/// x 2^shift in binary32, rounded up; +Inf if shift is far from 0.
__device__ float estimate_upper(double x, std::int64_t shift) {
  if (shift < -60 || shift > 60) return x == 0 ? 0 : float_from_bits(binary32.inf);
  return __double2float_ru(__dmul_ru(x, power_of_two(static_cast<int>(shift))));
}

/// The rows of a bound, or its columns, relative to 2^exponents over 2^base, base null for 1; and the memory for their
/// estimates.
struct SideNorms {
  const double* norms;
  Index count;
  const std::int32_t* exponents;
  const std::int32_t* base;
  SideEstimates out;
  const std::uint8_t* special = nullptr;  ///< given if exponents of entries are wanted
  std::int32_t* of_entries = nullptr;     ///< [blocks * tile]: EntryExponent

  [[nodiscard]] __device__ float estimate(Index i, Index outer) const {
    if (i >= count) return 0;
    const std::int64_t shift = std::int64_t{exponents[i]} - (base == nullptr ? 0 : base[i]);
    return estimate_upper(norms[outer * count + i], shift);
  }

  /// Stores the norms of a block's vectors, and the largest of them.
  __device__ void store(Index block, Index outer) const {
    if (block >= out.blocks) return;
    __shared__ float tops[threads / 32];
    const Index i = block * tile + threadIdx.x;
    const float own = estimate(i, outer);
    out.norms[outer * out.blocks * tile + i] = own;
    if (of_entries != nullptr && outer == 0)
      of_entries[i] = i < count ? EntryExponent::of(exponents[i], special[i] != 0, false) : EntryExponent::outside;
    float top = own;
    for (int offset = 16; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, offset));
    if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < threads / 32; ++w) top = fmaxf(top, tops[w]);
    out.tops[outer * out.blocks + block] = top;
  }
};

constexpr int search_words = 4 + LargestWork::print_words;  // best, prints, infinite, stored and finished, in this order
static_assert(search_words <= threads);

/// Also zeroes best, prints, infinite, stored and finished. Grid: one outer product for each block in y, rows and columns in z.
__global__ void __launch_bounds__(threads)
    find_estimates(const __grid_constant__ SideNorms rows, const __grid_constant__ SideNorms columns, std::uint64_t* best) {
  if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x < search_words) best[threadIdx.x] = 0;
  (blockIdx.z == 0 ? rows : columns).store(blockIdx.x, blockIdx.y);
}

__device__ Word* word(std::uint64_t* x) { return reinterpret_cast<Word*>(x); }

/// Sets the result from the first `count` parts. Called by all threads of one block, when the parts are known.
__device__ void set_result(const LargestWork& work, Index count) {
  LargestEntry largest;
  for (Index t = threadIdx.x; t < count; t += blockDim.x)
    take(largest, {__ldcg(&work.parts[t].value), static_cast<Index>(__ldcg(&work.parts[t].place))});
  reduce(largest);
  if (threadIdx.x != 0) return;
  std::uint64_t print = 0;
  for (int t = 0; t < LargestWork::print_words; ++t) print += __ldcg(word(work.prints) + t);
  *work.result = {largest, print, __ldcg(word(work.infinite)) != 0};
}

/// The largest value so far. Many reads of the one word that all blocks share take longer than the search; read it seldom.
__device__ double best_of(const LargestWork& work) {
  return double_from_bits(*static_cast<const volatile std::uint64_t*>(work.best));
}

/// Takes a block's largest entry, which a part stores if it may be the largest of all. The block that comes last sets the
/// result. Called by all threads. @pre `best` is at least the largest value
__device__ void conclude(const LargestWork& work, LargestEntry largest) {
  __shared__ bool last;
  reduce(largest);
  if (threadIdx.x == 0) {
    if (largest.value > 0 && largest.value >= best_of(work)) work.parts[atomicAdd(word(work.stored), Word{1})] = largest;
    __threadfence();  // other blocks see this part, and what the block's threads added, before they see the block counted
    last = atomicAdd(word(work.finished), Word{1}) == Word{gridDim.x} * gridDim.y - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();  // what the other blocks stored is read after their counts
  set_result(work, static_cast<Index>(__ldcg(word(work.stored))));
}

/// The row of a block of rows that seems to have the largest value. Called by all threads.
template <class Entry>
__device__ Index most_promising_row(const LargestWork& work, Index block, const Entry& entry) {
  __shared__ float best[threads / 32];
  __shared__ int at[threads / 32];
  const int t = static_cast<int>(threadIdx.x);
  float weight = 0;
  for (Index outer = 0; outer < work.outers; ++outer) weight += work.rows.norms[(outer * work.rows.blocks + block) * tile + t];
  weight *= entry.weight(block * tile + t);
  int row = t;
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(~0u, weight, offset);
    const int of_other = __shfl_xor_sync(~0u, row, offset);
    if (other > weight) weight = other, row = of_other;
  }
  if (t % 32 == 0) best[t / 32] = weight, at[t / 32] = row;
  __syncthreads();
  int warp = 0;
  for (int w = 1; w < threads / 32; ++w)
    if (best[w] > best[warp]) warp = w;
  return block * tile + at[warp];
}

/// Raises the largest value so far to the values of some rows, one row of each step-th block of rows for each block in y, so
/// that later entries can be skipped.
template <class Entry>
__device__ void raise_best(const DeviceBound& bound, const LargestWork& work, Index step, const Entry& entry) {
  const Index j = Index{blockIdx.x} * threads + threadIdx.x, i = most_promising_row(work, blockIdx.y * step, entry);
  double value = j < bound.n && i < bound.m ? entry.value(i, j, bound.upper(i, j)) : 0;
  for (int offset = 16; offset > 0; offset /= 2) value = fmax(value, __shfl_xor_sync(~0u, value, offset));
  if (threadIdx.x % 32 == 0 && value > 0) atomicMax(word(work.best), bits_of(value));
}

/// Takes one entry by the formulas.
template <class Entry>
__device__ void take_entry(const DeviceBound& bound, const LargestWork& work, const Entry& entry, Index i, Index j,
                           LargestEntry& largest) {
  const LargestEntry found{entry.value(i, j, bound.upper(i, j)), i * bound.n + j};
  take(largest, found);
  if (found.value > best_of(work)) atomicMax(word(work.best), bits_of(found.value));
}

/// Takes entry.value(i, j, the bound of (i, j)) of every entry of a tile, except for entries that entry.clearly_below rules out
/// as less than the largest value so far. Visits every element. Neighbouring threads take neighbouring rows, or columns.
/// Several consecutive blocks in y share the vectors of a tile.
template <class Entry>
__device__ void find_largest(const DeviceBound& bound, const LargestWork& work, bool by_row, Entry entry) {
  __shared__ TileEstimate::Shared shared;
  const Index m = bound.m, n = bound.n, length = by_row ? m : n, count = by_row ? n : m;
  const auto &along = by_row ? work.rows : work.columns, &across = by_row ? work.columns : work.rows;
  const Index block = blockIdx.x % along.blocks, first = blockIdx.x / along.blocks * tile, t = block * tile + threadIdx.x;
  const TileEstimate estimate(bound, along, block, across, first / tile, shared);
  LargestEntry largest;
  const auto row = [&](int s) { return by_row ? t : first + s; };
  const auto column = [&](int s) { return by_row ? first + s : t; };
  const Index place_step = by_row ? 1 : n, step = entry.stride(by_row);
  const int share = tile / static_cast<int>(gridDim.y), begin = static_cast<int>(blockIdx.y) * share;
  const int last = t < length ? static_cast<int>(min(Index{begin + share}, count - first)) : 0;
  Index place = row(begin) * n + column(begin), offset = entry.offset(row(begin), column(begin));
  float limit = entry.limit(best_of(work));
  for (int s = begin; s < last; s += together, place += together * place_step, offset += together * step) {
    std::uint64_t elements[together];
#pragma unroll
    for (int r = 0; r < together; ++r) elements[r] = s + r < last ? entry.element(offset + r * step) : 0;
    float estimates[together];
    estimate.find(s, estimates);
    entry.see(elements, min(last - s, together), place, place_step);
    unsigned rest = 0;  // entries that may be the largest
#pragma unroll
    for (int r = 0; r < together; ++r)
      if (s + r < last && !entry.clearly_below(elements[r], row(s + r), column(s + r), estimates[r], limit)) rest |= 1u << r;
    if (rest == 0) continue;
#pragma unroll 1
    for (; rest != 0; rest &= rest - 1) {
      const int at = s + __ffs(static_cast<int>(rest)) - 1;
      take_entry(bound, work, entry, row(at), column(at), largest);
    }
    limit = entry.limit(best_of(work));
  }
  entry.finish(work);
  conclude(work, largest);
}

constexpr int most_terms_by_fours = 2;

/// find_largest for elements that lie side by side along one side, four to a thread, and bounds of at most two terms. Each warp
/// takes a few vectors of the other side at a time, and does not wait for other warps.
template <class Entry>
__device__ void find_largest_by_fours(const DeviceBound& bound, const LargestWork& work, bool by_row, Entry entry) {
  constexpr int warps = threads / 32, vectors = Entry::vectors, chunk = warps * vectors;
  __shared__ TileEstimate::Shared shared;
  const Index m = bound.m, n = bound.n, length = by_row ? m : n, count = by_row ? n : m;
  const auto &along = by_row ? work.rows : work.columns, &across = by_row ? work.columns : work.rows;
  const Index block = blockIdx.x % along.blocks, start = block * tile, first = blockIdx.x / along.blocks * tile;
  const TileEstimate estimate(bound, along, block, across, first / tile, shared);
  const int own = static_cast<int>(threadIdx.x) % 32 * 4, warp = static_cast<int>(threadIdx.x) / 32;
  const auto norms = estimate.four(own);
  LargestEntry largest;
  const int share = tile / static_cast<int>(gridDim.y), begin = static_cast<int>(blockIdx.y) * share;
  const int last = static_cast<int>(min(Index{begin + share}, count - first));
  const bool inside = start + own < length;
  const auto row = [&](int place, int s) { return by_row ? start + place : first + s; };
  const auto column = [&](int place, int s) { return by_row ? first + s : start + place; };
  float limit = entry.limit(best_of(work));
  for (int of_chunk = begin; of_chunk < last; of_chunk += chunk) {
    typename Entry::Four elements[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (const int s = of_chunk + warp + v * warps; inside && s < last) elements[v] = entry.four(row(own, s), column(own, s));
    unsigned candidates = 0;  // bit 4 v + e
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const int s = of_chunk + warp + v * warps;
      if (!inside || s >= last) continue;
      float parts[2];
      estimate.across(s, parts);
      entry.see(elements[v], row(own, s) * n + column(own, s), by_row ? n : 1);
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (!entry.clearly_below(elements[v], e, norms.with(e, parts), limit) && start + own + e < length)
          candidates |= 1u << (4 * v + e);
    }
    if (!__any_sync(~0u, candidates != 0)) continue;
#pragma unroll 1
    for (; candidates != 0; candidates &= candidates - 1) {
      const int at = __ffs(static_cast<int>(candidates)) - 1, s = of_chunk + warp + at / 4 * warps, place = own + at % 4;
      take_entry(bound, work, entry, row(place, s), column(place, s), largest);
    }
    limit = entry.limit(best_of(work));
  }
  entry.finish(work);
  conclude(work, largest);
}

/// Reverses the order of positive numbers.
__host__ __device__ double reversed(double x) { return x > 0 ? double_from_bits(Format(binary64).inf - bits_of(x)) : 0; }

/// The entry with the smallest allowance, in every step-th row.
__global__ void __launch_bounds__(threads)
    find_least_allowing(const __grid_constant__ DeviceMagnitudes of, const __grid_constant__ EntryTarget target, Index step,
                        LargestEntry* parts) {
  const auto& product = of.one;
  LargestEntry largest;
  const Index j = Index{blockIdx.x} * threads + threadIdx.x;
  for (Index i = blockIdx.y * step; j < product.n && i < product.m; i += gridDim.y * step)
    if (!is_special(product, target, i, j))
      take(largest, {reversed(share_of(product, target, i, j, cheap_lower(of, i, j))), i * product.n + j});
  reduce(largest);
  if (threadIdx.x == 0) parts[Index{blockIdx.y} * gridDim.x + blockIdx.x] = largest;
}

__global__ void take_place(const LargestResult* result, Index n, PlaceOfEntry* place) {
  const Index found = result->entry.place;
  *place = {found, found / n, found % n};
}

/// Allowance::probe of some entries, one warp for each. @param places null: the one entry is at `only`
__global__ void __launch_bounds__(threads)
    probe_entries(const __grid_constant__ DeviceMagnitudes of, const __grid_constant__ EntryTarget target, const Index* places,
                  Index only, Index count, double* allowed) {
  const Index t = Index{blockIdx.x} * (threads / 32) + threadIdx.x / 32;
  if (t >= count) return;
  const Index place = places == nullptr ? only : places[t], i = place / of.one.n, j = place % of.one.n;
  const auto bounds = bounds_by_warp(of, i, j);
  if (threadIdx.x % 32 == 0) allowed[t] = allowed_at(of.one, target, i, j, bounds);
}

/// error / allowed of an entry. The error is relative to the scales of the product.
struct RatioOfEntry {
  const BoundWithScales& error;
  const LevelOneSums& product;
  const EntryTarget& target;

  [[nodiscard]] __device__ Index offset(Index i, Index j) const { return i * product.row_stride + j * product.col_stride; }
  [[nodiscard]] __device__ Index stride(bool by_row) const { return by_row ? product.col_stride : product.row_stride; }
  [[nodiscard]] __device__ std::uint64_t element(Index offset) const {
    return product.narrow != nullptr ? static_cast<std::uint32_t>(product.narrow[offset])
                                     : static_cast<std::uint64_t>(product.wide[offset]);
  }
  __device__ void see(const std::uint64_t (&)[together], int, Index, Index) const {}
  __device__ void finish(const LargestWork&) const {}

  /// The factor by which the errors of row i may make large ratios; any number may be returned.
  [[nodiscard]] __device__ float weight(Index i) const {
    if (i >= product.m || product.narrow == nullptr || !product.row_least.any(i)) return 1;
    return 1 / static_cast<float>(product.row_least.of(i));
  }

  /// An error below limit(enough) times an entry's share of M, in units of 2^-14 if it comes from sums, has a ratio below
  /// `enough`. -1: no error is below.
  [[nodiscard]] __device__ float limit(double enough) const {
    return enough < 0x1p60 ? __double2float_rd(enough * target.factor * below) : -1;
  }

  [[nodiscard]] __device__ bool clearly_below(std::uint64_t sum, Index i, Index j, float estimate, float limit) const {
    if (estimate == 0) return true;  // without an error there is nothing to compare
    if (target.row_norms == nullptr) return estimate < __fmul_rd(limit, relative_sum_lower(product, sum));
    return estimate <
           __fmul_rd(limit, __fmul_rd(__double2float_rd(target.row_norms[i]), __double2float_rd(target.column_norms[j])));
  }

  [[nodiscard]] __device__ double value(Index i, Index j, double upper) const {
    const double relative = error_at(error, product, i, j, upper);
    return relative == 0 ? 0 : ratio_upper(relative, allowed_at(product, target, i, j, product.at(i, j)));
  }
};

/// RatioOfEntry for 32-bit sums, where an entry's share of M is at least that of its sum.
struct RatioByFours : RatioOfEntry {
  using Four = uint4;
  static constexpr int vectors = 4;  ///< that a warp takes at a time

  /// @pre the padding of the sums makes four of them of one column.
  [[nodiscard]] __device__ uint4 four(Index i, Index j) const {
    return __ldcs(reinterpret_cast<const uint4*>(product.narrow + offset(i, j)));
  }
  __device__ void see(const uint4&, Index, Index) const {}
  [[nodiscard]] __device__ float limit(double enough) const {
    const float of_units = RatioOfEntry::limit(enough);
    return of_units < 0 ? of_units : __fmul_rd(of_units, 0x1p-14f);
  }
  [[nodiscard]] __device__ static bool clearly_below(const uint4& sums, int e, float estimate, float limit) {
    const auto sum = e == 0 ? sums.x : e == 1 ? sums.y : e == 2 ? sums.z : sums.w;
    return estimate == 0 || estimate < __fmul_rd(limit, __uint2float_rd(sum));  // without an error there is nothing to compare
  }
};

/// The bound of an entry of C. Also computes C's fingerprint, and whether an entry that is not special is infinite.
struct BoundOfEntry {
  const BoundWithScales& error;
  const RoundingError& rounding;
  const DeviceMatrix& c;
  const DeviceSpecials& specials;
  RoundingEstimate estimate_of;
  Word print = 0;
  bool infinite = false;

  __device__ BoundOfEntry(const BoundWithScales& of, const RoundingError& rounds, const DeviceMatrix& matrix,
                          const DeviceSpecials& known)
      : error(of), rounding(rounds), c(matrix), specials(known), estimate_of(rounds) {}

  [[nodiscard]] __device__ Index offset(Index i, Index j) const { return c.at(i, j); }
  [[nodiscard]] __device__ Index stride(bool by_row) const { return by_row ? c.col_stride : c.row_stride; }
  [[nodiscard]] __device__ std::uint64_t element(Index offset) const {
    return DeviceMatrix{c.data, 1, 1, c.is_double}.bits(offset, 0);
  }
  __device__ void see(const std::uint64_t (&bits)[together], int count, Index place, Index place_step) {
    auto key = fingerprint_key(static_cast<std::uint64_t>(place));
    const auto key_step = static_cast<std::uint64_t>(place_step) * fingerprint_step;
#pragma unroll
    for (int r = 0; r < together; ++r, key += key_step)
      if (r < count) {
        print += fingerprint_term(double_from_bits(bits[r]), key);
        if ((bits[r] & ~binary64.sign) == binary64.inf) see_infinite(place + r * place_step);
      }
  }
  __device__ void see_infinite(Index place) {
    if (!specials.at(place / error.bound.n, place % error.bound.n)) infinite = true;
  }
  __device__ void finish(const LargestWork& work) {
    for (int offset = 16; offset > 0; offset /= 2) print += __shfl_xor_sync(~0u, print, offset);
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    if (threadIdx.x % 32 == 0) atomicAdd(word(work.prints) + block % LargestWork::print_words, print);
    if (infinite) atomicMax(word(work.infinite), Word{1});
  }

  [[nodiscard]] __device__ static float weight(Index) { return 1; }
  [[nodiscard]] __device__ float limit(double enough) const { return __double2float_rd(enough); }

  [[nodiscard]] __device__ bool clearly_below(std::uint64_t bits, Index, Index, float estimate, float limit) const {
    return __fmul_ru(estimate_of.upper(estimate, double_from_bits(bits)), above) < limit;
  }

  [[nodiscard]] __device__ double value(Index i, Index j, double upper) const {
    return specials.at(i, j) ? 0 : bound_at(error, rounding, i, j, upper, double_from_bits(c.bits(i, j)));
  }
};

/// BoundOfEntry for numbers of binary64 that lie side by side.
struct BoundByFours : BoundOfEntry {
  static constexpr int vectors = 2;  ///< that a warp takes at a time
  struct Four {
    double2 low, high;

    [[nodiscard]] __device__ double of(int e) const { return e == 0 ? low.x : e == 1 ? low.y : e == 2 ? high.x : high.y; }
  };

  using BoundOfEntry::BoundOfEntry;

  [[nodiscard]] __device__ Four four(Index i, Index j) const {
    const auto* const at = reinterpret_cast<const double2*>(static_cast<const double*>(c.data) + offset(i, j));
    return {__ldcs(at), __ldcs(at + 1)};
  }
  __device__ void see(const Four& elements, Index place, Index place_step) {
    auto key = fingerprint_key(static_cast<std::uint64_t>(place));
    const auto key_step = static_cast<std::uint64_t>(place_step) * fingerprint_step;
    bool finite = true;
#pragma unroll
    for (int e = 0; e < 4; ++e, key += key_step) {
      const double x = elements.of(e);
      print += fingerprint_term_of_one_nan(bits_of(x), key);
      finite = finite && (__double2hiint(x) & 0x7ff00000) != 0x7ff00000;
    }
    if (finite) return;
#pragma unroll 1
    for (int e = 0; e < 4; ++e, place += place_step) {
      const auto bits = bits_of(elements.of(e));
      const auto of_place = fingerprint_key(static_cast<std::uint64_t>(place));
      print += fingerprint_term(bits, of_place) - fingerprint_term_of_one_nan(bits, of_place);  // of NaNs
      if ((bits & ~binary64.sign) == binary64.inf) see_infinite(place);
    }
  }
  [[nodiscard]] __device__ bool clearly_below(const Four& elements, int e, float estimate, float limit) const {
    return BoundOfEntry::clearly_below(bits_of(elements.of(e)), 0, 0, estimate, limit);
  }
};

constexpr int blocks_together = 8;  // per multiprocessor, so that all blocks of a product of 4096 x 4096 run at once

/// First: some rows. Then all rows.
enum class Pass { first, all, all_by_fours };

template <Pass P>
__global__ void __launch_bounds__(threads, blocks_together)
    find_worst_entry(const __grid_constant__ BoundWithScales error, const __grid_constant__ LevelOneSums product,
                     const __grid_constant__ EntryTarget target, const __grid_constant__ LargestWork work, Index step,
                     bool by_row) {
  const RatioOfEntry entry{error, product, target};
  if constexpr (P == Pass::first) raise_best(error.bound, work, step, entry);
  if constexpr (P == Pass::all) find_largest(error.bound, work, by_row, entry);
  if constexpr (P == Pass::all_by_fours) find_largest_by_fours(error.bound, work, by_row, RatioByFours{entry});
}

template <Pass P>
__global__ void __launch_bounds__(threads, blocks_together)
    find_largest_bound(const __grid_constant__ BoundWithScales error, const __grid_constant__ RoundingError rounding,
                       const __grid_constant__ DeviceMatrix c, const __grid_constant__ DeviceSpecials specials,
                       const __grid_constant__ LargestWork work, Index step, bool by_row) {
  if constexpr (P == Pass::first) raise_best(error.bound, work, step, BoundOfEntry{error, rounding, c, specials});
  if constexpr (P == Pass::all) find_largest(error.bound, work, by_row, BoundOfEntry{error, rounding, c, specials});
  if constexpr (P == Pass::all_by_fours)
    find_largest_by_fours(error.bound, work, by_row, BoundByFours{error, rounding, c, specials});
}

__global__ void __launch_bounds__(1024) reduce_parts(const LargestWork work, Index count) { set_result(work, count); }

/// The blocks of a tile for a search of this file.
Index blocks_of_a_tile(Index tiles) { return gpu::blocks_of_a_tile(tiles, tile / together, 1024); }

/// Runs first(grid, step) for a row of every step-th block of rows, unless there are few tiles; then all(grid), whose last
/// block sets the result.
template <class First, class All>
void launch_search(const BoundWithScales& error, const std::int32_t* row_base, const std::int32_t* column_base,
                   const LargestWork& work, cudaStream_t stream, const First& first, const All& all) {
  const Index m = error.bound.m, n = error.bound.n;
  if (m == 0 || n == 0) {
    clear_sums(work, stream);
    return launch_reduction(work, 0, stream);
  }
  launch_estimates(error, row_base, column_base, work, stream);
  constexpr Index most_first_rows = 32, few_tiles = 16;
  const Index step = (work.rows.blocks + most_first_rows - 1) / most_first_rows;
  if (work.tiles() > few_tiles)  // to evaluate all entries of a few tiles takes no longer
    first(dim3(static_cast<unsigned>(work.columns.blocks), static_cast<unsigned>((work.rows.blocks + step - 1) / step)), step);
  const dim3 grid(static_cast<unsigned>(work.tiles()), static_cast<unsigned>(blocks_of_a_tile(work.tiles())));
  all(grid);
}

/// True if elements lie side by side along one side, and all lines of them consist of aligned fours.
bool lies_by_fours(const DeviceMatrix& c, Index m, Index n) {
  const bool along_rows = c.row_stride < c.col_stride;
  const Index length = along_rows ? m : n, stride = along_rows ? c.row_stride : c.col_stride;
  const Index line = along_rows ? c.col_stride : c.row_stride;
  return c.is_double && stride == 1 && length % 4 == 0 && line % 2 == 0 && reinterpret_cast<std::uintptr_t>(c.data) % 16 == 0;
}

SideEstimates take_side(Arena& arena, Index outers, Index count) {
  SideEstimates side;
  side.blocks = (count + tile - 1) / tile;
  side.norms = arena.take<float>(outers * side.blocks * tile);
  side.tops = arena.take<float>(outers * side.blocks);
  return side;
}

}  // namespace

void launch_reduction(const LargestWork& work, Index count, cudaStream_t stream) {
  reduce_parts<<<1, 1024, 0, stream>>>(work, count);
  check_launch("reduce_parts");
}

void clear_sums(const LargestWork& work, cudaStream_t stream) {
  check(cudaMemsetAsync(work.best, 0, search_words * sizeof *work.best, stream), "cudaMemsetAsync");
}

void launch_estimates(const BoundWithScales& error, const std::int32_t* row_base, const std::int32_t* column_base,
                      const LargestWork& work, cudaStream_t stream, const ExponentsOfEntries& exponents) {
  if (work.outers == 0) return clear_sums(work, stream);
  const auto& bound = error.bound;
  const auto blocks = static_cast<unsigned>(std::max(work.rows.blocks, work.columns.blocks));
  find_estimates<<<dim3(blocks, static_cast<unsigned>(work.outers), 2), threads, 0, stream>>>(
      {bound.rows, bound.m, error.row_exponents, row_base, work.rows, exponents.specials.rows, exponents.rows},
      {bound.columns, bound.n, error.column_exponents, column_base, work.columns, exponents.specials.columns,
       exponents.columns},
      work.best);
  check_launch("find_estimates");
}

LargestWork LargestWork::take(Arena& arena, Index outers, Index m, Index n) {
  LargestWork work;
  work.outers = outers;
  work.rows = take_side(arena, outers, m);
  work.columns = take_side(arena, outers, n);
  work.parts_count = std::max({work.tiles() * std::max<Index>(blocks_of_a_tile(work.tiles()), parts_of_tile),
                               work.columns.blocks * most_probed_rows, Index{2}});
  work.parts = arena.take<LargestEntry>(work.parts_count);
  work.result = arena.take<LargestResult>(1);
  work.best = arena.take<std::uint64_t>(4 + print_words);
  work.prints = work.best == nullptr ? nullptr : work.best + 1;
  work.infinite = work.best == nullptr ? nullptr : work.prints + print_words;
  work.stored = work.best == nullptr ? nullptr : work.infinite + 1;
  work.finished = work.best == nullptr ? nullptr : work.stored + 1;
  return work;
}

void launch_least_allowing(const DeviceMagnitudes& of, const EntryTarget& target, const LargestWork& work,
                           cudaStream_t stream) {
  const Index m = of.one.m, n = of.one.n, step = (m + most_probed_rows - 1) / most_probed_rows;
  const dim3 grid(static_cast<unsigned>((n + threads - 1) / threads), static_cast<unsigned>((m + step - 1) / step));
  clear_sums(work, stream);
  find_least_allowing<<<grid, threads, 0, stream>>>(of, target, step, work.parts);
  check_launch("find_least_allowing");
  launch_reduction(work, Index{grid.x} * grid.y, stream);
}

void launch_taking_place(const LargestWork& work, Index n, PlaceOfEntry* place, cudaStream_t stream) {
  take_place<<<1, 1, 0, stream>>>(work.result, n, place);
  check_launch("take_place");
}

void launch_probes(const DeviceMagnitudes& of, const EntryTarget& target, const Index* places, Index count, double* allowed,
                   cudaStream_t stream) {
  constexpr Index together = threads / 32;
  probe_entries<<<static_cast<unsigned>((count + together - 1) / together), threads, 0, stream>>>(of, target, places, 0, count,
                                                                                                  allowed);
  check_launch("probe_entries");
}

void launch_probe(const DeviceMagnitudes& of, const EntryTarget& target, Index place, double* allowed, cudaStream_t stream) {
  probe_entries<<<1, threads, 0, stream>>>(of, target, nullptr, place, 1, allowed);
  check_launch("probe_entries");
}

void launch_worst_entry(const BoundWithScales& error, const DeviceMagnitudes& of, const EntryTarget& target,
                        const LargestWork& work, cudaStream_t stream) {
  if (of.loose()) return launch_worst_loose_entry(error, of, target, work, stream);
  const auto& product = of.one;
  const auto launch = [&](const auto& kernel, const dim3& grid, Index step) {
    kernel<<<grid, threads, 0, stream>>>(error, product, target, work, step, product.row_stride < product.col_stride);
    check_launch("find_worst_entry");
  };
  launch_search(
      error, product.rows.exponents, product.columns.exponents, work, stream,
      [&](const dim3& grid, Index step) { launch(find_worst_entry<Pass::first>, grid, step); },
      [&](const dim3& grid) {
        if (product.narrow != nullptr && target.row_norms == nullptr && error.bound.terms <= most_terms_by_fours)
          launch(find_worst_entry<Pass::all_by_fours>, grid, 0);
        else
          launch(find_worst_entry<Pass::all>, grid, 0);
      });
}

void launch_largest_bound(const BoundWithScales& error, const RoundingError& rounding, const DeviceMatrix& c,
                          const DeviceSpecials& specials, const LargestWork& work, cudaStream_t stream) {
  const auto launch = [&](const auto& kernel, const dim3& grid, Index step) {
    kernel<<<grid, threads, 0, stream>>>(error, rounding, c, specials, work, step, c.row_stride < c.col_stride);
    check_launch("find_largest_bound");
  };
  launch_search(
      error, nullptr, nullptr, work, stream,
      [&](const dim3& grid, Index step) { launch(find_largest_bound<Pass::first>, grid, step); },
      [&](const dim3& grid) {
        if (lies_by_fours(c, error.bound.m, error.bound.n) && error.bound.terms <= most_terms_by_fours)
          launch(find_largest_bound<Pass::all_by_fours>, grid, 0);
        else
          launch(find_largest_bound<Pass::all>, grid, 0);
      });
}

}  // namespace ozbound::gpu
