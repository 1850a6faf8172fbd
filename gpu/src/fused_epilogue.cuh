#pragma once

#include <cstdint>

#include "fused_arguments.hpp"
#include "fused_ptx.cuh"
#include "ozbound/core/combine.hpp"

namespace ozbound::gpu {

/// What a thread holds of an exact sum: head 2^held_bits + tail; see FusedSchedule. Head: int32, or int64 where that may
/// overflow.
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

/// x + y rounded to odd: towards zero, and the last bit set where that was not exact. What is rounded again, to a precision two
/// bits or more shorter, is rounded as if once.
__device__ inline double add_to_odd(double x, double y) {
  const auto truncated = bits_of(__dadd_rz(x, y));
  return double_from_bits(__dadd_rd(x, y) == __dadd_ru(x, y) ? truncated : truncated | 1);
}

/// Exponents of the scales of a tile's rows and columns in shared memory, of each warpgroup its own: no_exponent where an entry
/// is not to be written by the simple way: a special vector, or none.
class TileExponents {
 public:
  static constexpr int no_exponent = -(1 << 24);

  /// `memory`: shared, multiplying_groups * tile_exponents_bytes.
  __device__ TileExponents(std::uint8_t* memory, int group)
      : exponents_(reinterpret_cast<std::int32_t*>(memory + group * tile_exponents_bytes)), group_(group) {}

  /// By every thread of the warpgroup; read after it returns.
  __device__ void fill(const FusedArguments& f, Index row, Index column, int thread) const {
    ptx::warpgroup_barrier(group_);  // what is there is no longer read
    exponents_[thread] = exponent(f.b, column + thread);
    if (thread < 64) exponents_[tile_size + thread] = exponent(f.a, row + thread);
    ptx::warpgroup_barrier(group_);
  }
  [[nodiscard]] __device__ int column(int j) const { return exponents_[j]; }
  [[nodiscard]] __device__ int row(int i) const { return exponents_[tile_size + i]; }

 private:
  [[nodiscard]] __device__ static int exponent(const DeviceSlices& slices, Index i) {
    const Index inside = i < slices.count ? i : 0;
    const int exponent = slices.exponents[inside], special = slices.special[inside];  // at once, not one after the other
    return i >= slices.count || special != 0 ? no_exponent : exponent;
  }

  std::int32_t* exponents_;
  int group_;
};

/// Rounds exact sums into C. Where C is a normal number, alpha +-2^e and beta 0, in a few instructions and with the same bits
/// as combine; else by combine.
template <int Limbs, class Head>
class FusedEpilogue {
 public:
  using Sum = HeldSum<Head>;

  /// `scratch`: of the warpgroup, whose first row and column are given.
  __device__ FusedEpilogue(const FusedArguments& arguments, std::uint8_t* scratch, int thread, Index row, Index column)
      : f_(arguments),
        scratch_(scratch),
        thread_(thread),
        row_(thread / 32 * 16 + thread % 32 / 4),
        column_(thread % 4 * 2),
        first_row_(row),
        first_column_(column),
        scalars_(arguments.epilogue.scalars()) {}

  /// Entry e of a thread lies e / 2 % 2 * 8 rows and e / 4 * 8 + e % 2 columns from (row_, column_). sum(t, e) is its sum where
  /// it is the t-th of those in the registers that come next; advance() goes on to the next entries_together. So few entries
  /// are in the code, which the instruction cache then holds.
  template <class SumOf, class Advance>
  __device__ void finish(const TileExponents& exponents, const SumOf& sum, const Advance& advance) const {
    if (!f_.epilogue.finite_scalars()) return;
    unsigned left = 0;  // runs of entries_together that combine_entry has to finish
    if (!simple())
      left = keep_all(sum, advance);
    else if (f_.epilogue.c.is_double)
      left = f_.schedule.words() > 0 ? write_all<true, double>(exponents, sum, advance)
                                     : write_all<false, double>(exponents, sum, advance);
    else
      left = f_.schedule.words() > 0 ? write_all<true, float>(exponents, sum, advance)
                                     : write_all<false, float>(exponents, sum, advance);
    if (left == 0) return;
#pragma unroll 1
    for (int e = 0; e < entries; ++e)
      if ((left >> (e / entries_together) & 1) != 0) combine_entry(e);
  }

 private:
  [[nodiscard]] __device__ static constexpr int row_of(int e) { return e / 2 % 2 * 8; }
  [[nodiscard]] __device__ static constexpr int column_of(int e) { return e / 4 * 8 + e % 2; }

  [[nodiscard]] __device__ bool simple() const {
    const auto magnitude = scalars_.alpha.magnitude;
    return scalars_.beta.magnitude == 0 && f_.epilogue.bound == nullptr && magnitude != 0 && (magnitude & (magnitude - 1)) == 0;
  }

  /// Writes what is certain to be rounded rightly and a normal number; keeps the runs where that is not all there is to write.
  template <bool Words, class T, class SumOf, class Advance>
  [[nodiscard]] __device__ unsigned write_all(const TileExponents& exponents, const SumOf& sum, const Advance& advance) const {
    const int unit = value_unit<Words>() + scalars_.alpha.top_exponent();
    const int rows[2] = {exponents.row(row_) + unit, exponents.row(row_ + 8) + unit};
    const double head_weight = power_of_two(f_.schedule.held_bits());
    const auto sign = scalars_.alpha.negative ? binary64.sign : 0;
    const Index row_step = 8 * f_.epilogue.c.row_stride, column_step = f_.epilogue.c.col_stride;
    auto* to = static_cast<T*>(f_.epilogue.c.data) + f_.epilogue.c.at(first_row_ + row_, first_column_ + column_);
    unsigned left = 0;
#pragma unroll 1
    for (int first = 0; first < entries; first += entries_together) {
      bool all = true;
#pragma unroll
      for (int t = 0; t < entries_together; t += 4) {
        const int group = (first + t) / 4;
        const int columns[2] = {exponents.column(column_ + 8 * group), exponents.column(column_ + 8 * group + 1)};
        T values[4];
        bool sure[4];
#pragma unroll
        for (int x = 0; x < 4; ++x) {  // without branches, so that entries overlap
          const auto value = rounded<Words, T>(sum(t + x, first + t + x), first + t + x, head_weight);
          const int exponent = rows[x / 2] + columns[x % 2];
          const int field = static_cast<int>(bits_of(value.value) >> 52 & 0x7ff);
          const bool written = exponent > TileExponents::no_exponent / 2, zero = field == 0;
          const bool normal = static_cast<unsigned>(field + exponent - 1) < 2046;
          sure[x] = written & (zero | normal) & value.certain;
          all &= sure[x] | !written;
          values[x] = scaled<T>(zero ? 0 : (bits_of(value.value) + (static_cast<std::uint64_t>(exponent) << 52)) ^ sign);
        }
#pragma unroll
        for (int x = 0; x < 4; ++x)
          if (sure[x]) to[x % 2 * column_step + x / 2 * row_step] = values[x];
        to += 8 * column_step;
      }
      if (!all) {
        keep(first, sum);
        left |= 1u << (first / entries_together);
      }
      advance();
    }
    return left;
  }

  /// Stores a run of sums for combine_entry.
  template <class SumOf>
  __device__ void keep(int first, const SumOf& sum) const {
#pragma unroll
    for (int t = 0; t < entries_together; ++t) kept(first + t) = sum(t, first + t);
  }

  template <class SumOf, class Advance>
  [[nodiscard]] __device__ unsigned keep_all(const SumOf& sum, const Advance& advance) const {
#pragma unroll 1
    for (int first = 0; first < entries; first += entries_together) {
      keep(first, sum);
      advance();
    }
    return ~0u;
  }

  struct Approximation {
    double value;
    bool certain;  ///< that it is the sum, rounded as it should be
  };

  /// The sum in units of value_unit(), rounded to double, or to odd where float will round it.
  template <bool Words, class T>
  [[nodiscard]] __device__ Approximation rounded(const Sum& held, int e, double head_weight) const {
    if constexpr (!Words) return {add<T>(exact_double(held.head), head_weight, exact_double(held.tail)), true};
    const int bits = f_.schedule.word_bits();
    if constexpr (Limbs == few_diagonal_limbs) {  // 64 bits of tail: 48 of them, and the others with the head, are two doubles
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

  /// high * weight + low, rounded once; high * weight is exact.
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
    const auto* words = reinterpret_cast<const std::uint32_t*>(scratch_ + FusedScratch::words + w * FusedScratch::plane);
    return words[(e / 4 * group_threads + thread_) * 4 + e % 4];
  }

  /// The last word of an entry, with a sticky last bit for the words before.
  [[nodiscard]] __device__ std::uint32_t low_word(int e) const {
    const int last = f_.schedule.words() - 1;
    bool sticky = false;
#pragma unroll 1
    for (int w = 0; w < last; ++w) sticky |= word(w, e) != 0;
    return word(last, e) | (sticky ? 1 : 0);
  }

  __device__ Sum& kept(int e) const {
    auto* sums = reinterpret_cast<Sum*>(scratch_ + FusedScratch::sums(f_.schedule.words()));
    return sums[e * group_threads + thread_];
  }

  /// Any entry that has no special operand.
  __device__ void combine_entry(int e) const {
    const Index i = first_row_ + row_ + row_of(e), j = first_column_ + column_ + column_of(e);
    if (i >= f_.a.count || j >= f_.b.count || f_.a.special[i] != 0 || f_.b.special[j] != 0) return;
    const auto c0 = scalars_.beta.magnitude == 0 ? bits_of(0.0) : f_.epilogue.c0.bits(i, j);
    if (!is_finite(c0, binary64)) return;
    const int scale = f_.a.exponents[i] + f_.b.exponents[j];
    auto sum = whole_sum(e);
    sum.exponent = scale + f_.unit_exponent;
    const auto entry = combine_sum(sum, scale, scalars_, to_dyadic(c0, binary64), f_.epilogue.error(i, j));
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
  std::uint8_t* scratch_;
  int thread_;
  int row_, column_;  ///< of the thread's first entry in the warpgroup's 64 x 128
  Index first_row_, first_column_;
  Scalars scalars_;
};

}  // namespace ozbound::gpu
