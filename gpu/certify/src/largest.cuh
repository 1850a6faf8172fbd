// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "largest.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/detail/rounded_error.hpp"

namespace ozbound::gpu {

// Searches for a maximum over all entries of a product.

inline constexpr int search_threads = 128;
inline constexpr int tile = LargestWork::tile;  // vectors of either side; equal to the number of threads
inline constexpr int together = 8;              // entries of a thread that share the norms of its vector
static_assert(tile == search_threads);

/// Takes another entry if it is larger, or equally large and earlier.
__device__ inline void take(LargestEntry& largest, const LargestEntry& other) {
  if (other.value > largest.value || (other.value == largest.value && other.value > 0 && other.place < largest.place))
    largest = other;
}

/// The largest entry of a block, in the block's first thread.
__device__ inline void reduce(LargestEntry& largest) {
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

// A bound in binary32, with every operation rounded up, rules out most entries as below the largest so far. The other entries
// are evaluated by the formulas of EntryBound and the target.

inline constexpr float above = 1 + 0x1p-12f, below = 1 - 0x1p-12f;  // a much larger margin than the roundings of the formulas

inline constexpr int most_terms = 32;  // with more terms every entry is evaluated

/// An upper bound in binary32 for the entries of a tile. For each term it uses the alternative that is least for the largest
/// norms of the tile. For each entry this alternative is at least the entry's least alternative.
class TileEstimate {
 public:
  struct Shared {
    alignas(16) float across[most_terms][tile];
    int chosen[most_terms];
  };

  /// Threads of a block take vectors of one side, `along`. Each thread meets all vectors of a tile of the other side. Called by
  /// all threads.
  __device__ TileEstimate(const DeviceBound& bound, const SideEstimates& along, Index along_block, const SideEstimates& across,
                          Index across_block, Shared& shared)
      : terms_(bound.terms), along_(along), at_(along_block * tile + threadIdx.x), shared_(shared) {
    if (terms_ > most_terms) return;
    if (static_cast<int>(threadIdx.x) < terms_) {
      const int t = static_cast<int>(threadIdx.x), begin = t == 0 ? 0 : bound.ends[t - 1];
      int chosen = begin;
      float least = float_from_bits(binary32.inf);
      for (int outer = begin; outer < bound.ends[t]; ++outer) {
        const float product =
            __fmul_ru(along.tops[outer * along.blocks + along_block], across.tops[outer * across.blocks + across_block]);
        if (product < least) least = product, chosen = outer;  // a NaN, from Inf * 0, is not less
      }
      shared.chosen[t] = bound.ends[t] > begin ? chosen : -1;
    }
    __syncthreads();
    for (int t = 0; t < terms_; ++t) {
      const int chosen = shared.chosen[t];
      shared.across[t][threadIdx.x] = chosen < 0 ? float_from_bits(binary32.inf)
                                                 : across.norms[(chosen * across.blocks + across_block) * tile + threadIdx.x];
    }
    __syncthreads();
  }

  /// Bounds for the vectors s … s + together - 1 of the tile.
  __device__ void find(int s, float (&total)[together]) const {
#pragma unroll
    for (float& x : total) x = terms_ > most_terms ? float_from_bits(binary32.inf) : 0;
    if (terms_ > most_terms) return;
    for (int t = 0; t < terms_; ++t) {
      const int chosen = shared_.chosen[t];
      const float own = chosen < 0 ? 1 : along_.norms[chosen * along_.blocks * tile + at_];
      const auto* const fours = reinterpret_cast<const float4*>(&shared_.across[t][s]);
      const float4 low = fours[0], high = fours[1];
      const float others[together] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int r = 0; r < together; ++r)
        total[r] = __fmaf_ru(others[r], own, total[r]);  // a NaN, from Inf * 0, is below
                                                         // nothing
    }
  }

  /// For bounds of at most two terms: the parts of four vectors of `along`, from `first` on, a multiple of four in the tile.
  struct Four {
    float of[2][4];

    /// The bound of vector e of the four and vector s of the tile.
    [[nodiscard]] __device__ float with(int e, const float (&across)[2]) const {
      return __fmaf_ru(across[1], of[1][e], __fmul_ru(across[0], of[0][e]));  // a NaN, from Inf * 0, is below nothing
    }
  };
  [[nodiscard]] __device__ Four four(int first) const {
    Four result = {};
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      if (t >= terms_) break;
      const int chosen = shared_.chosen[t];
      const auto own = chosen < 0 ? float4{1, 1, 1, 1}
                                  : *reinterpret_cast<const float4*>(
                                        &along_.norms[chosen * along_.blocks * tile + at_ - Index{threadIdx.x} + first]);
      result.of[t][0] = own.x, result.of[t][1] = own.y, result.of[t][2] = own.z, result.of[t][3] = own.w;
    }
    return result;
  }
  /// The parts of vector s of the tile.
  __device__ void across(int s, float (&parts)[2]) const {
    parts[0] = terms_ > 0 ? shared_.across[0][s] : 0;
    parts[1] = terms_ > 1 ? shared_.across[1][s] : 0;
  }

 private:
  int terms_;
  const SideEstimates& along_;
  Index at_;
  const Shared& shared_;
};

/// A RoundingError in binary32, rounded up.
struct RoundingEstimate {
  float factor = 0, underflow = 0, alpha = 0;

  __device__ explicit RoundingEstimate(const RoundingError& of) {
    factor = __double2float_ru(of.result_factor);
    underflow = __double2float_ru(of.underflow);
    alpha = __double2float_ru(fabs(of.alpha));
  }

  /// An upper bound in binary32 of an entry's bound, from an estimate of its error and its computed value.
  [[nodiscard]] __device__ float upper(float estimate, double value) const {
    const float of_rounding = __fadd_ru(__fmul_ru(__double2float_ru(fabs(value)), factor), underflow);
    return __fadd_ru(__fmul_ru(estimate, alpha), of_rounding);
  }
};

/// The bound of an entry with this computed value. @param upper its error, relative to the scales of the bound
__device__ inline double bound_at(const BoundWithScales& error, const RoundingError& rounding, Index i, Index j, double upper,
                                  double value) {
  const auto scale = std::int64_t{error.row_exponents[i]} + error.column_exponents[j];
  return rounded_error_upper(rounding, upper, scale, value);
}

/// A sum of level 1 relative to the product's scales, in binary32, rounded down.
__device__ inline float relative_sum_lower(const LevelOneSums& product, std::uint64_t sum) {
  const float units = product.narrow != nullptr ? __uint2float_rd(static_cast<std::uint32_t>(sum)) : __ull2float_rd(sum);
  return __fmul_rd(units, 0x1p-14f);
}

/// An entry's share of M, from the norms of its row and column or from a lower bound of |A||B|.
__device__ inline double share_of(const LevelOneSums& product, const EntryTarget& target, Index i, Index j,
                                  double product_lower) {
  double m = target.row_norms == nullptr ? product_lower : multiply_lower(target.row_norms[i], target.column_norms[j]);
  if (target.beta != 0)
    m = add_lower(m, c0_share_lower(target.alpha, target.beta, double_from_bits(target.c0.bits(i, j)), product.exponent(i, j)));
  return target.of_norm ? m : multiply_lower(target.factor, m);
}

__device__ inline bool is_special(const LevelOneSums& product, const EntryTarget& target, Index i, Index j) {
  return product.special(i, j) || (target.beta != 0 && !is_finite(target.c0.bits(i, j), binary64));
}

/// EntryTarget's allowance for an entry with an enclosed |A||B|.
__device__ inline double allowed_at(const LevelOneSums& product, const EntryTarget& target, Index i, Index j,
                                    const MagnitudeBounds& bounds) {
  if (is_special(product, target, i, j) || bounds.upper == 0) return double_from_bits(binary64.inf);
  return share_of(product, target, i, j, bounds.lower);
}

/// A bound relative to the product's scales.
__device__ inline double error_at(const BoundWithScales& error, const LevelOneSums& product, Index i, Index j, double upper) {
  const std::int64_t of_row = product.rows.exponents[i], of_column = product.columns.exponents[j];
  return rescaled_upper(upper, error.row_exponents[i] - of_row + (std::int64_t{error.column_exponents[j]} - of_column));
}

/// The number of blocks for a tile, at most `most`, a power of two: large enough that a small product has work for every
/// multiprocessor, with `enough` blocks in all.
inline Index blocks_of_a_tile(Index tiles, Index most, Index enough) {
  Index blocks = 1;
  while (blocks < most && tiles * blocks < enough) blocks *= 2;
  return blocks;
}

/// Zeroes `best`, `prints`, `infinite`, `stored` and `finished`.
void clear_sums(const LargestWork& work, cudaStream_t stream);

/// Summands of rows and of columns for the exponents of entries, EntryExponent, to the ends of the tiles of a search.
struct ExponentsOfEntries {
  std::int32_t* rows = nullptr;
  std::int32_t* columns = nullptr;
  DeviceSpecials specials = {};  ///< flags of rows and columns
};

/// Zeroes what clear_sums zeroes, and fills work.rows and work.columns with a bound's norms relative to the exponents of a
/// product, or to 1 if the exponents are null. Sets the exponents of entries too, if their memory and the flags are given.
void launch_estimates(const BoundWithScales& error, const std::int32_t* row_base, const std::int32_t* column_base,
                      const LargestWork& work, cudaStream_t stream, const ExponentsOfEntries& exponents = {});

/// Sets the result from the first `count` parts.
void launch_reduction(const LargestWork& work, Index count, cudaStream_t stream);

}  // namespace ozbound::gpu
