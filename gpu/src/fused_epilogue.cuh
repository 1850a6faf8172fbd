#pragma once

#include <cstdint>

#include "fused_arguments.hpp"
#include "ozbound/core/combine.hpp"

namespace ozbound::gpu {

/// What a thread holds of an exact sum: head 2^held_bits + tail; see FusedSchedule.
struct HeldSum {
  std::int64_t head;
  std::uint64_t tail;  ///< < 2^48
};

/// Fields of a word, side by side.
__device__ inline std::uint32_t packed_word(std::uint32_t word, int radix_bits) {
  return (word & 0xffff) | (word >> 16) << (2 * radix_bits);
}

/// x < 2^52 as a double.
__device__ inline double exact_double(std::uint64_t x) { return double_from_bits(std::uint64_t{0x433} << 52 | x) - 0x1p52; }

/// x + y rounded to odd: towards zero, and the last bit set where that was not exact. What is rounded again, to a precision two
/// bits or more shorter, is rounded as if once.
__device__ inline double add_to_odd(double x, double y) {
  const auto truncated = bits_of(__dadd_rz(x, y));
  return double_from_bits(__dadd_rd(x, y) == __dadd_ru(x, y) ? truncated : truncated | 1);
}

/// Rounds exact sums into C. Where C is a normal number, alpha +-2^e and beta 0, in a few instructions and with the same bits
/// as combine; else by combine.
template <int Limbs>
class FusedEpilogue {
 public:
  /// `scratch`: of the warpgroup.
  __device__ FusedEpilogue(const FusedArguments& arguments, std::uint8_t* scratch, int thread)
      : f_(arguments), scratch_(scratch), thread_(thread), scalars_(arguments.epilogue.scalars()) {
    const auto magnitude = scalars_.alpha.magnitude;
    simple_ =
        scalars_.beta.magnitude == 0 && f_.epilogue.bound == nullptr && magnitude != 0 && (magnitude & (magnitude - 1)) == 0;
    unit_ = f_.unit_exponent + f_.schedule.word_bits() * f_.schedule.words();
    simple_exponent_ = unit_ + scalars_.alpha.top_exponent();
    head_weight_ = power_of_two(f_.schedule.held_bits());
  }

  /// Entry e of a thread lies e / 2 % 2 * 8 rows and e / 4 * 8 + e % 2 columns from (row, column); sum(e) is its sum.
  template <class Sum>
  __device__ void finish(Index row, Index column, const Sum& sum) {
    if (!f_.epilogue.finite_scalars()) return;
    std::uint64_t left = 0;  // entries that are not finished
    const int rows[2] = {exponent(f_.a, row), exponent(f_.a, row + 8)};
#pragma unroll
    for (int group = 0; group < entries / 4; ++group) {
      const auto low = low_words(group);
      const int columns[2] = {exponent(f_.b, column + 8 * group), exponent(f_.b, column + 8 * group + 1)};
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const int e = 4 * group + t;
        const Index i = row + e / 2 % 2 * 8, j = column + e / 4 * 8 + e % 2;
        const HeldSum held = sum(e);
        if (i >= f_.a.count || j >= f_.b.count) continue;
        if (simple_ && write(i, j, held, low[t], rows[t / 2] + columns[t % 2] + simple_exponent_)) continue;
        left |= std::uint64_t{1} << e;
        kept(e) = held;
      }
    }
    for (; left != 0; left &= left - 1) {
      const int e = 63 - __clzll(static_cast<long long>(left & -left));
      combine_entry(row + e / 2 % 2 * 8, column + e / 4 * 8 + e % 2, e);
    }
  }

 private:
  static constexpr int no_exponent = -(1 << 24);  ///< no scaled sum is normal

  struct Words {
    std::uint32_t word[4];
    __device__ std::uint32_t operator[](int t) const { return word[t]; }
  };

  [[nodiscard]] __device__ int exponent(const DeviceSlices& slices, Index i) const {
    if (i >= slices.count) return 0;
    return slices.special[i] != 0 ? no_exponent : slices.exponents[i];
  }

  [[nodiscard]] __device__ uint4 word(int w, int group) const {
    const auto* words = reinterpret_cast<const uint4*>(scratch_ + FusedScratch::words + w * FusedScratch::plane);
    return words[group * group_threads + thread_];
  }

  /// The last words of four entries, with a sticky last bit for the words before.
  [[nodiscard]] __device__ Words low_words(int group) const {
    Words low{};
    const int count = f_.schedule.words();
    for (int w = 0; w < count; ++w) {
      const auto four = word(w, group);
      const std::uint32_t all[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int t = 0; t < 4; ++t) low.word[t] = packed_word(all[t], f_.schedule.radix_bits) | (low.word[t] != 0 ? 1 : 0);
    }
    return low;
  }

  __device__ HeldSum& kept(int e) const {
    auto* sums = reinterpret_cast<HeldSum*>(scratch_ + FusedScratch::sums(f_.schedule.words()));
    return sums[e * group_threads + thread_];
  }

  /// Writes a sum in units of 2^exponent, if it is certain to be rounded rightly and a normal number.
  [[nodiscard]] __device__ bool write(Index i, Index j, const HeldSum& held, std::uint32_t low, int exponent) const {
    double tail = exact_double(held.tail);
    if (f_.schedule.words() > 0) {
      if (held.head > -f_.least_head && held.head < f_.least_head) return false;
      const int bits = f_.schedule.word_bits();
      tail = add_to_odd(tail * power_of_two(bits), static_cast<double>(low)) * power_of_two(-bits);
    }
    const double head = static_cast<double>(held.head) * head_weight_;
    const auto bits = bits_of(f_.epilogue.c.is_double ? head + tail : add_to_odd(head, tail));
    const bool zero = bits << 1 == 0;
    const int field = static_cast<int>(bits >> 52 & 0x7ff) + exponent;
    if (!zero && (field < 1 || field > 2046)) return false;
    if (zero && exponent < no_exponent / 2) return false;
    const auto sign = scalars_.alpha.negative ? binary64.sign : 0;
    const auto scaled = zero ? 0 : (bits + (static_cast<std::uint64_t>(exponent) << 52)) ^ sign;
    const Index at = f_.epilogue.c.at(i, j);
    if (f_.epilogue.c.is_double)
      static_cast<std::uint64_t*>(f_.epilogue.c.data)[at] = scaled;
    else
      static_cast<float*>(f_.epilogue.c.data)[at] = __double2float_rn(double_from_bits(scaled));
    return true;
  }

  /// Any entry that has no special operand.
  __device__ void combine_entry(Index i, Index j, int e) const {
    if (f_.a.special[i] != 0 || f_.b.special[j] != 0) return;
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
    for (int w = 0; w < schedule.words(); ++w) {
      const auto four = word(w, e / 4);
      const std::uint32_t all[4] = {four.x, four.y, four.z, four.w};
      tail.add(packed_word(all[e % 4], schedule.radix_bits), schedule.word_bits() * w);
    }
    const HeldSum held = kept(e);
    tail.add(held.tail, schedule.word_bits() * schedule.words());
    return head_and_tail(held.head, schedule.tail_bits(), tail);
  }

  const FusedArguments& f_;
  std::uint8_t* scratch_;
  int thread_;
  Scalars scalars_;
  bool simple_;
  int unit_;
  int simple_exponent_;
  double head_weight_;
};

}  // namespace ozbound::gpu
