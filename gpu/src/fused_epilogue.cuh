// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "fused_arguments.hpp"
#include "fused_ptx.cuh"
#include "ozbound/core/detail/combine.hpp"

namespace ozbound::gpu {

/// True if the scalars only multiply a sum by +-2^e.
__device__ inline bool is_simple(const Scalars& scalars) {
  const auto alpha = scalars.alpha.magnitude;
  return scalars.beta.magnitude == 0 && alpha != 0 && (alpha & (alpha - 1)) == 0;
}

/// A thread's exact sum: head 2^held_bits + tail; see FusedSchedule. Head is int32, or int64 if int32 may overflow.
template <class Head>
struct HeldSum {
  Head head;
  std::uint64_t tail;  ///< < 2^48
};

/// x < 2^52 as a double.
__device__ inline double exact_double(std::uint64_t x) { return double_from_bits(std::uint64_t{0x433} << 52 | x) - 0x1p52; }

__device__ inline double exact_double(std::int32_t x) {
  return double_from_bits(std::uint64_t{0x433} << 52 | (static_cast<std::uint32_t>(x) ^ 0x80000000)) - (0x1p52 + 0x1p31);
}

/// @pre |x| <= 2^53.
__device__ inline double exact_double(std::int64_t x) { return static_cast<double>(x); }

/// x + y rounded to odd: towards zero, with the last bit set if that was not exact. A second rounding, to a precision at least
/// two bits shorter, then gives the result of a single rounding.
__device__ inline double add_to_odd(double x, double y) {
  const auto truncated = bits_of(__dadd_rz(x, y));
  return double_from_bits(__dadd_rd(x, y) == __dadd_ru(x, y) ? truncated : truncated | 1);
}

/// Numbers of a block's barriers. The number of a warpgroup's barrier is group 0's plus the group.
namespace barriers {
inline constexpr int scales_ready = 1, scales_read = 3, ahead = 5;
}

/// Exponents of the scales of a tile's rows and columns in shared memory. One warp fills them in while others multiply.
class TileScales {
 public:
  /// Values in place of exponents, recognisable after any addition: `special` for a vector with NaN or infinities, `outside`
  /// for a row or a column beyond the matrix.
  static constexpr int special = -(1 << 21), outside = -(1 << 24);
  [[nodiscard]] __device__ static bool is_outside(int exponent) { return exponent < outside / 2; }
  [[nodiscard]] __device__ static bool is_special(int exponent) { return exponent < special / 2 && !is_outside(exponent); }

  /// Facts that all entries share, if sums may be rounded to normal numbers and scaled afterwards.
  struct Common {
    int unit = 0;              ///< exponent of the sums' unit, times alpha
    std::uint32_t sign = 0;    ///< sign of alpha, in the upper half of a double
    int least = 0, most = -1;  ///< range of the sum of row and column exponents that allows it

    __device__ explicit Common(const FusedArguments& f) {
      constexpr int sum_bits = 112;  // of head and tail
      if (!writes_plainly(f)) return;
      const auto alpha = to_dyadic(f.epilogue.alpha_value());
      unit = f.unit_exponent + alpha.top_exponent();
      sign = alpha.negative ? 0x80000000u : 0u;
      least = -1022 - unit;
      most = 1023 - sum_bits - unit;
    }
  };

  /// `memory`: shared memory of tile_scales_bytes.
  __device__ explicit TileScales(std::uint8_t* memory) : scales_(reinterpret_cast<std::int32_t*>(memory)) {}

  /// Called by one warp.
  __device__ void fill(const FusedArguments& f, const Common& common, Index row, Index column, int lane) const {
    int rows[tile_size / 32], columns[tile_size / 32];
    const auto of_columns = load(columns, f.b, column, lane), of_rows = load(rows, f.a, row, lane);
    const bool plain = of_rows.least + of_columns.least >= common.least && of_rows.most + of_columns.most <= common.most;
#pragma unroll
    for (int t = 0; t < tile_size / 32; ++t) {
      scales_[lane + 32 * t] = plain ? static_cast<int>(high_part(columns[t])) : columns[t];
      scales_[tile_size + lane + 32 * t] = plain ? static_cast<int>(high_part(rows[t] + common.unit) ^ common.sign) : rows[t];
    }
    if (lane == 0) scales_[2 * tile_size] = plain ? 1 : 0;
  }

  __device__ void announce() const {
    for (int g = 0; g < multiplying_groups; ++g) ptx::arrive(barriers::scales_ready + g, 32 + group_threads);
  }
  __device__ void await_read() const {
    for (int g = 0; g < multiplying_groups; ++g) ptx::sync(barriers::scales_read + g, 32 + group_threads);
  }
  __device__ void await(int group) const { ptx::sync(barriers::scales_ready + group, 32 + group_threads); }
  __device__ void release(int group) const { ptx::arrive(barriers::scales_read + group, 32 + group_threads); }

  /// True if every entry of the tile exists, is not special, and is a normal number or zero, and only alpha = +-2^e is applied.
  /// row() and column() are then the numbers to add to the upper half of a sum's bits; otherwise they are exponents.
  [[nodiscard]] __device__ bool plain() const { return scales_[2 * tile_size] != 0; }
  [[nodiscard]] __device__ int column(int j) const { return scales_[j]; }
  [[nodiscard]] __device__ int row(int i) const { return scales_[tile_size + i]; }

 private:
  struct Range {
    int least, most;
  };

  __device__ static Range load(int (&exponents)[tile_size / 32], const DeviceSlices& slices, Index first, int lane) {
    constexpr int count = tile_size / 32;
    int specials[count];
#pragma unroll
    for (int t = 0; t < count; ++t) {  // independent loads, which overlap
      const Index i = first + lane + 32 * t;
      exponents[t] = i < slices.count ? slices.exponents[i] : outside;
      specials[t] = i < slices.count ? slices.special[i] : 0;
    }
    Range range{-outside, outside};
#pragma unroll
    for (int t = 0; t < count; ++t) {
      if (specials[t] != 0) exponents[t] = special;
      range = {min(range.least, exponents[t]), max(range.most, exponents[t])};
    }
    for (int offset = 16; offset > 0; offset /= 2)
      range = {min(range.least, __shfl_xor_sync(~0u, range.least, offset)),
               max(range.most, __shfl_xor_sync(~0u, range.most, offset))};
    return range;
  }

  [[nodiscard]] __device__ static std::uint32_t high_part(int exponent) { return static_cast<std::uint32_t>(exponent) << 20; }

  [[nodiscard]] __device__ static bool writes_plainly(const FusedArguments& f) {
    if (!f.epilogue.finite_scalars() || f.epilogue.bound != nullptr || !f.epilogue.c.is_double || f.schedule.words() > 0)
      return false;
    return is_simple(f.epilogue.scalars());
  }

  std::int32_t* scales_;
};

/// The destination of a thread's sums.
struct EntriesPlace {
  TileScales scales;
  std::uint8_t* scratch;  ///< of the warpgroup
  int thread, group;
  Index row, column;             ///< first row and column of the warpgroup
  int first = 0, end = entries;  ///< of the thread's entries
};

/// Finishes the sums that FusedEpilogue::finish has stored. Not inline, because it would take registers from the products.
template <int Limbs, class Head>
__device__ __noinline__ void finish_kept(const FusedArguments& f, EntriesPlace place);

/// Rounds exact sums into C. If C is a normal number, alpha is +-2^e and beta is 0, uses a few instructions that give the bits
/// of combine. Otherwise uses combine.
template <int Limbs, class Head>
class FusedEpilogue {
 public:
  using Sum = HeldSum<Head>;

  /// @pre the scales are filled in.
  __device__ FusedEpilogue(const FusedArguments& arguments, EntriesPlace place)
      : f_(arguments), place_(place), row_(place.thread / 32 * 16 + place.thread % 32 / 4), column_(place.thread % 4 * 2) {}

  /// Entry e of a thread lies e / 2 % 2 * 8 rows and e / 4 * 8 + e % 2 columns from (row_, column_). sum(t, e) is the sum of
  /// entry e, the t-th in the registers that come next. advance(count) moves on by `count` entries. The code thus contains only
  /// some entries, and fits the instruction cache.
  template <class SumOf, class Advance>
  __device__ __forceinline__ void finish(const SumOf& sum, const Advance& advance) const {
    if (place_.scales.plain()) return write_plainly(sum, advance);
    if (!f_.epilogue.finite_scalars() && !f_.operands.exists()) return;
#pragma unroll 1
    for (int first = place_.first; first < place_.end; first += entries_together) {
#pragma unroll
      for (int t = 0; t < entries_together; ++t) kept(first + t) = sum(t, first + t);
      advance(std::integral_constant<int, entries_together>{});
    }
    finish_kept<Limbs, Head>(f_, place_);
  }

  __device__ void finish_kept_entries() const {
    unsigned left = ~0u;  // runs of entries_together that finish_entry must finish
    if (f_.epilogue.finite_scalars() && is_simple(f_.epilogue.scalars()) && f_.epilogue.bound == nullptr)
      left = f_.epilogue.c.is_double ? write_all<double>() : write_all<float>();
    if (left == 0) return;
#pragma unroll 1
    for (int e = place_.first; e < place_.end; ++e)
      if ((left >> (e / entries_together) & 1) != 0) finish_entry(e);
  }

 private:
  static constexpr int entries_together = 8, plain_entries_together = 16;

  [[nodiscard]] __device__ static constexpr int row_of(int e) { return e / 2 % 2 * 8; }
  [[nodiscard]] __device__ static constexpr int column_of(int e) { return e / 4 * 8 + e % 2; }

  /// Writes a tile for which TileScales::plain() is true. Sums are rounded to normal numbers or zero, and then scaled.
  template <class SumOf, class Advance>
  __device__ __forceinline__ void write_plainly(const SumOf& sum, const Advance& advance) const {
    const auto& c = f_.epilogue.c;
    const unsigned rows[2] = {static_cast<unsigned>(row_scale(0)), static_cast<unsigned>(row_scale(8))};
    const double head_weight = power_of_two(f_.schedule.held_bits());
    auto* to = static_cast<double*>(c.data) + c.at(place_.row + row_, place_.column + column_ + column_of(place_.first));
#pragma unroll 1
    for (int first = place_.first; first < place_.end; first += plain_entries_together) {
#pragma unroll
      for (int t = 0; t < plain_entries_together; ++t) {
        const double value = rounded<false, double>(sum(t, first + t), first + t, head_weight).value;
        const auto high = static_cast<unsigned>(__double2hiint(value));
        const auto scale = rows[t / 2 % 2] + static_cast<unsigned>(place_.scales.column(column_ + column_of(first + t)));
        *to = __hiloint2double(static_cast<int>(high == 0 ? 0 : high + scale), __double2loint(value));
        to += t % 4 == 0   ? c.col_stride
              : t % 4 == 1 ? 8 * c.row_stride - c.col_stride
              : t % 4 == 2 ? c.col_stride
                           : 7 * c.col_stride - 8 * c.row_stride;
      }
      advance(std::integral_constant<int, plain_entries_together>{});
    }
  }

  [[nodiscard]] __device__ int row_scale(int rows_below) const {
    return place_.scales.row(64 * place_.group + row_ + rows_below);
  }

  template <class T>
  [[nodiscard]] __device__ unsigned write_all() const {
    return f_.schedule.words() > 0 ? write_all<true, T>() : write_all<false, T>();
  }

  /// Writes entries that are certainly rounded correctly and normal. Returns the runs with other entries.
  template <bool Words, class T>
  [[nodiscard]] __device__ unsigned write_all() const {
    const auto alpha = to_dyadic(f_.epilogue.alpha_value());
    const int unit = value_unit<Words>() + alpha.top_exponent();
    const int rows[2] = {row_scale(0) + unit, row_scale(8) + unit};
    const double head_weight = power_of_two(f_.schedule.held_bits());
    const auto sign = alpha.negative ? binary64.sign : 0;
    const Index row_step = 8 * f_.epilogue.c.row_stride, column_step = f_.epilogue.c.col_stride;
    auto* to = static_cast<T*>(f_.epilogue.c.data) +
               f_.epilogue.c.at(place_.row + row_, place_.column + column_ + column_of(place_.first));
    unsigned left = 0;
#pragma unroll 1
    for (int first = place_.first; first < place_.end; first += entries_together) {
      bool all = true;
#pragma unroll
      for (int t = 0; t < entries_together; t += 4) {
        const int group = (first + t) / 4;
        const int columns[2] = {place_.scales.column(column_ + 8 * group), place_.scales.column(column_ + 8 * group + 1)};
        T values[4];
        bool sure[4];
#pragma unroll
        for (int x = 0; x < 4; ++x) {  // without branches, so that entries overlap
          const auto value = rounded<Words, T>(kept(first + t + x), first + t + x, head_weight);
          const int exponent = rows[x / 2] + columns[x % 2];
          const int field = static_cast<int>(bits_of(value.value) >> 52 & 0x7ff);
          const bool zero = field == 0;
          const bool normal = static_cast<unsigned>(field + exponent - 1) < 2046;
          const bool finite = !TileScales::is_special(exponent), inside = !TileScales::is_outside(exponent);
          sure[x] = inside & finite & (zero | normal) & value.certain;
          all &= sure[x] | !inside;
          values[x] = scaled<T>(zero ? 0 : (bits_of(value.value) + (static_cast<std::uint64_t>(exponent) << 52)) ^ sign);
        }
#pragma unroll
        for (int x = 0; x < 4; ++x)
          if (sure[x]) to[x % 2 * column_step + x / 2 * row_step] = values[x];
        to += 8 * column_step;
      }
      if (!all) left |= 1u << (first / entries_together);
    }
    return left;
  }

  struct Approximation {
    double value;
    bool certain;  ///< value is certainly the correctly rounded sum
  };

  /// The sum in units of value_unit(), rounded to double, or to odd if it is rounded to float later.
  template <bool Words, class T>
  [[nodiscard]] __device__ Approximation rounded(const Sum& held, int e, double head_weight) const {
    if constexpr (!Words) return {add<T>(exact_double(held.head), head_weight, exact_double(held.tail)), true};
    const int bits = f_.schedule.word_bits();
    if constexpr (Limbs == few_diagonal_limbs) {  // 64 bits of tail: 48 of them are one double, the others with the head
                                                  // another
      const int words = f_.schedule.words(), low = min(48, f_.schedule.tail_bits());
      std::uint64_t tail = held.tail << bits * words;
#pragma unroll 1
      for (int w = 0; w < words; ++w) tail |= std::uint64_t{word(w, e)} << bits * w;
      const auto high = (std::int64_t{held.head} << (f_.schedule.tail_bits() - low)) + static_cast<std::int64_t>(tail >> low);
      return {add<T>(exact_double(high), power_of_two(low), exact_double(tail & ((std::uint64_t{1} << low) - 1))), true};
    } else {
      const double tail = add_to_odd(exact_double(held.tail) * power_of_two(bits), exact_double(std::uint64_t{low_word(e)}));
      const bool large = held.head >= f_.least_head || held.head <= -f_.least_head;
      return {add<T>(exact_double(held.head), head_weight, tail * power_of_two(-bits)), large};
    }
  }

  /// Exponent of the unit of write_all's sums, relative to rho_i sigma_j.
  template <bool Words>
  [[nodiscard]] __device__ int value_unit() const {
    if (!Words || Limbs == few_diagonal_limbs) return f_.unit_exponent;
    return f_.unit_exponent + f_.schedule.word_bits() * f_.schedule.words();
  }

  /// high * weight + low, rounded once. high * weight is exact.
  template <class T>
  [[nodiscard]] __device__ static double add(double high, double weight, double low) {
    return sizeof(T) == sizeof(double) ? __fma_rn(high, weight, low) : add_to_odd(high * weight, low);
  }

  template <class T>
  [[nodiscard]] __device__ static T scaled(std::uint64_t bits) {
    if constexpr (sizeof(T) == sizeof(double)) return double_from_bits(bits);
    return __double2float_rn(double_from_bits(bits));
  }

  [[nodiscard]] __device__ std::uint32_t word(int w, int e) const {
    const auto* words = reinterpret_cast<const std::uint32_t*>(place_.scratch + FusedScratch::words + w * FusedScratch::plane);
    return words[(e / 4 * group_threads + place_.thread) * 4 + e % 4];
  }

  /// The last word of an entry, with a sticky last bit for the earlier words.
  [[nodiscard]] __device__ std::uint32_t low_word(int e) const {
    const int last = f_.schedule.words() - 1;
    bool sticky = false;
#pragma unroll 1
    for (int w = 0; w < last; ++w) sticky |= word(w, e) != 0;
    return word(last, e) | (sticky ? 1 : 0);
  }

  __device__ Sum& kept(int e) const {
    auto* sums = reinterpret_cast<Sum*>(place_.scratch + FusedScratch::sums(f_.schedule.words()));
    return sums[e * group_threads + place_.thread];
  }

  /// Finishes any entry. Writes a special entry if the operands are given.
  __device__ void finish_entry(int e) const {
    const Index i = place_.row + row_ + row_of(e), j = place_.column + column_ + column_of(e);
    if (i >= f_.a.count || j >= f_.b.count) return;
    const bool of_vectors = f_.a.special[i] != 0 || f_.b.special[j] != 0;
    finish_or_write_special(f_.operands, f_.epilogue, i, j, of_vectors, [&] { combine_entry(e, i, j); });
  }

  /// @pre (i, j) is not special.
  __device__ void combine_entry(int e, Index i, Index j) const {
    const auto c0 = f_.epilogue.c0_bits(i, j);
    const int scale = f_.a.exponents[i] + f_.b.exponents[j];
    auto sum = whole_sum(e);
    sum.exponent = scale + f_.unit_exponent;
    const auto entry = combine_sum(sum, scale, f_.epilogue.scalars(), to_dyadic(c0, binary64), f_.epilogue.error(i, j));
    f_.epilogue.finish(i, j, f_.b.count, entry);
  }

  [[nodiscard]] __device__ WideDyadic<Limbs> whole_sum(int e) const {
    const auto& schedule = f_.schedule;
    WideInteger<Limbs> tail;
#pragma unroll 1
    for (int w = 0; w < schedule.words(); ++w) tail.add(word(w, e), schedule.word_bits() * w);
    const Sum held = kept(e);
    tail.add(held.tail, schedule.word_bits() * schedule.words());
    return head_and_tail(std::int64_t{held.head}, schedule.tail_bits(), tail);
  }

  const FusedArguments& f_;
  EntriesPlace place_;
  int row_, column_;  ///< position of the thread's first entry in the warpgroup's 64 x 128
};

template <int Limbs, class Head>
__device__ __noinline__ void finish_kept(const FusedArguments& f, EntriesPlace place) {
  FusedEpilogue<Limbs, Head>(f, place).finish_kept_entries();
}

}  // namespace ozbound::gpu
