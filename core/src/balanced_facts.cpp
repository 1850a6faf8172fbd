// SPDX-License-Identifier: BSD-3-Clause
#include "balanced_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/encoding.hpp"

namespace ozbound {
namespace {

constexpr std::size_t capacity = static_cast<std::size_t>(balanced_block);

/// Data about each element of a block. The digits d_1 … d_s of x are the bytes of W = N + 0x80…80, less 128 each. N w_s is x
/// rounded to a multiple of the last weight w_s; the rest of x is at most half of w_s.
struct Block {
  alignas(64) std::uint64_t low[capacity];         ///< the last eight bytes of W
  alignas(64) std::uint64_t high[capacity];        ///< the bytes before those
  alignas(64) std::uint32_t whole[capacity];       ///< |x| in units of rho 2^-16, rounded up
  alignas(64) std::uint32_t floor[capacity];       ///< |x| in the same units, rounded down
  alignas(64) std::uint16_t rest_floor[capacity];  ///< |rest| in units of w_s 2^-16, rounded down
  alignas(64) std::uint16_t rest_upper[capacity];  ///< |rest| in the same units, rounded up
  alignas(64) std::int8_t sign[capacity];          ///< has the sign of the rest of x after some slice, 0 without a rest
  alignas(64) std::int8_t digit[capacity];         ///< digits of one slice
  alignas(64) std::int8_t next[capacity];          ///< digits of another slice
  alignas(64) std::uint16_t tail[capacity];        ///< |rest| after a slice, in units of its weight 2^-16, rounded up
};

// Written without branches: the compiler does not vectorise loops with branches.

/// All bits set, or no bit.
constexpr std::uint64_t mask(bool condition) { return -static_cast<std::uint64_t>(condition); }
constexpr std::uint64_t shift_left(std::uint64_t x, std::int64_t by) { return x << (by & 63) & mask(by < 64); }
constexpr std::uint64_t shift_right(std::uint64_t x, std::int64_t by) { return x >> (by & 63) & mask(by < 64); }
constexpr std::int64_t positive_part(std::int64_t x) { return x > 0 ? x : 0; }

constexpr std::uint64_t carries = 0x8080808080808080;

/// Computes W, the rest, and |x| as an integer. wide: more than eight slices.
template <bool wide>
[[gnu::always_inline]] inline void place_elements(const double* x, std::size_t length, std::int64_t scale, int slices,
                                                  Block& out) {
  const std::int64_t unit = scale + Encoding::balanced().weight_exponent(slices);
  const std::int64_t whole_unit = scale - VectorFacts::fraction_bits;
  const std::uint64_t low_carries = slices >= 8 ? carries : carries >> (64 - 8 * slices);
  const std::uint64_t high_carries = slices >= 16 ? carries : wide ? carries >> (128 - 8 * slices) : 0;
  std::memcpy(out.low, x, length * sizeof(double));  // a loop that reads doubles as integers would not be vectorised
  for (std::size_t l = 0; l < length; ++l) {
    const std::uint64_t bits = out.low[l];
    const auto field = static_cast<std::int64_t>(bits >> 52 & 0x7ff);
    const std::uint64_t magnitude = (bits & 0xfffffffffffff) | (mask(field != 0) & std::uint64_t{1} << 52);
    const std::int64_t exponent = field - static_cast<std::int64_t>(field != 0) - 1074;
    const std::uint64_t negative = -(bits >> 63);

    const std::int64_t whole_down = positive_part(whole_unit - exponent);
    const std::uint64_t aligned = shift_left(magnitude, positive_part(exponent - whole_unit));
    const std::uint64_t floor = shift_right(aligned, whole_down);
    out.floor[l] = static_cast<std::uint32_t>(floor);
    out.whole[l] = static_cast<std::uint32_t>(floor + static_cast<std::uint64_t>(shift_left(floor, whole_down) != aligned));

    const std::int64_t up = positive_part(exponent - unit);
    const std::int64_t down = positive_part(unit - exponent);
    const std::uint64_t quotient = shift_right(magnitude, down);
    const std::uint64_t halves = shift_right(2 * magnitude, down);  // the quotient and one more bit
    const bool more_than_half = shift_left(halves, down) != 2 * magnitude;
    const std::uint64_t nearest = quotient + (halves & 1 & (quotient | static_cast<std::uint64_t>(more_than_half)));
    const std::uint64_t away = mask(nearest != quotient);
    const std::uint64_t beyond = shift_left(nearest, down) - magnitude;
    const std::uint64_t rest = (beyond & away) | (-beyond & ~away);
    const std::int64_t rest_down = positive_part(down - 16);
    const std::uint64_t rest_floor = shift_right(shift_left(rest, positive_part(16 - down)), rest_down);
    out.rest_floor[l] = static_cast<std::uint16_t>(rest_floor);
    out.rest_upper[l] = static_cast<std::uint16_t>(
        rest_floor + (static_cast<std::uint64_t>(shift_left(rest_floor, rest_down) != rest) & mask(rest_down > 0)));
    out.sign[l] = static_cast<std::int8_t>(((away ^ negative) | 1) & mask(rest != 0));

    const std::uint64_t low = shift_left(nearest, up);
    out.low[l] = ((low ^ negative) - negative) + low_carries;
    if (wide) {
      const std::uint64_t high = (nearest >> (-up & 63) & mask((up > 0) & (up < 64))) | (nearest << (up & 63) & mask(up >= 64));
      const std::uint64_t carry =
          (negative & static_cast<std::uint64_t>(low == 0)) + static_cast<std::uint64_t>(out.low[l] < low_carries);
      out.high[l] = (high ^ negative) + high_carries + carry;
    }
  }
}

// The same computation in floating point, exactly. It needs powers of two that take the elements to units of w_s, and no
// element may be too small for that.

constexpr double integers = 0x1.8p52;  // added to a number below 2^51, rounds it to an integer, ties to even
constexpr auto integers_bits = __builtin_bit_cast(std::uint64_t, integers);

/// x rounded down to an integer. @pre 0 <= x < 2^32.
[[gnu::always_inline]] inline double floor_of(double x) {
  const double nearest = (x + 0x1p52) - 0x1p52;
  return nearest - (nearest > x ? 1.0 : 0.0);
}

[[gnu::always_inline]] inline double magnitude_of(double x) { return x < 0 ? -x : x; }

/// True if scaling by a power of two takes every element to units of w_s exactly.
constexpr bool exact_in_units(std::int64_t scale, int slices) {
  const std::int64_t unit = scale + Encoding::balanced().weight_exponent(slices);
  return slices <= 8 && unit <= 0 && unit >= -1000;
}

/// place_elements for at most eight slices. large: more than six slices, whose N may exceed 2^51 and is found in two parts.
/// @pre exact_in_units; a FloatEnvironment.
template <bool large>
[[gnu::always_inline]] inline void place_exactly(const double* x, std::size_t length, std::int64_t scale, int slices,
                                                 Block& out) {
  const int last = Encoding::balanced().weight_exponent(slices);
  const double to_units = power_of_two(static_cast<int>(-scale - last));
  const double to_whole = power_of_two(last + VectorFacts::fraction_bits);
  const double from_whole = power_of_two(-last - VectorFacts::fraction_bits);
  const std::uint64_t low_carries = (slices == 8 ? carries : carries >> (64 - 8 * slices)) - integers_bits;  // modulo 2^64
  alignas(64) double sums[capacity], highs[large ? capacity : 1];
  for (std::size_t l = 0; l < length; ++l) {
    const double value = x[l] * to_units;
    const double magnitude = magnitude_of(value);
    const double floor = floor_of(magnitude * to_whole);
    out.floor[l] = static_cast<std::uint32_t>(static_cast<std::int32_t>(floor));
    out.whole[l] = static_cast<std::uint32_t>(static_cast<std::int32_t>(floor) + (floor * from_whole != magnitude ? 1 : 0));
    double part = value;
    if (large) {
      highs[l] = value * 0x1p-32 + integers;
      part = value - (highs[l] - integers) * 0x1p32;
    }
    sums[l] = part + integers;
    const double rest = part - (sums[l] - integers);
    const double rest_units = magnitude_of(rest) * 0x1p16;
    const double rest_floor = floor_of(rest_units);
    out.rest_floor[l] = static_cast<std::uint16_t>(static_cast<std::int32_t>(rest_floor));
    out.rest_upper[l] = static_cast<std::uint16_t>(static_cast<std::int32_t>(rest_floor) + (rest_floor != rest_units ? 1 : 0));
    out.sign[l] = static_cast<std::int8_t>((rest > 0 ? 1 : 0) - (rest < 0 ? 1 : 0));
  }
  std::memcpy(out.low, sums, length * sizeof(double));
  if (large) std::memcpy(out.high, highs, length * sizeof(double));
  for (std::size_t l = 0; l < length; ++l) {
    const std::uint64_t high = large ? (out.high[l] - integers_bits) << 32 : 0;
    out.low[l] += low_carries + high;
  }
}

/// The digit of every element from byte `byte` of W, counted from its end.
[[gnu::always_inline]] inline void take_digits(const Block& placed, std::size_t length, int byte, std::int8_t* digits) {
  const std::uint64_t* const words = byte < 8 ? placed.low : placed.high;
  const int shift = 8 * (byte & 7);
  for (std::size_t l = 0; l < length; ++l) digits[l] = static_cast<std::int8_t>((words[l] >> shift & 0xff) - 128);
}

// Computes the rests after slice p: |rest| in units of w_p 2^-16, rounded up. A part below one such unit counts only by its
// sign: added to a magnitude it makes the magnitude one larger, subtracted from one it is rounded away.

/// For p = s - 1: 2^8 times the last digit, plus the rest.
[[gnu::always_inline]] inline void tails_before_last(std::size_t length, const std::int8_t* last, Block& block) {
  for (std::size_t l = 0; l < length; ++l) {
    const int digit = last[l];
    const int above = (block.rest_upper[l] + 255) >> 8;
    const int below = block.rest_floor[l] >> 8;
    const bool against = (digit < 0 && block.sign[l] > 0) || (digit > 0 && block.sign[l] < 0);
    block.tail[l] = static_cast<std::uint16_t>(256 * (digit < 0 ? -digit : digit) + (against ? -below : above));
  }
}

/// For p < s - 1: 2^8 times the first of the next two digits, plus the second. On entry, `sign` is the sign of the rest after
/// these two digits; on return, of the rest after the first one.
[[gnu::always_inline]] inline void tails_before_two(std::size_t length, const std::int8_t* first, const std::int8_t* second,
                                                    Block& block) {
  for (std::size_t l = 0; l < length; ++l) {
    const std::int16_t leading = first[l], following = second[l], sign = block.sign[l];
    const auto value = static_cast<std::uint16_t>(leading * 256 + following);  // modulo 2^16: the least value is -32896
    const std::int16_t side = leading != 0 ? leading : following;
    const auto magnitude = static_cast<std::uint16_t>(side < 0 ? -value : value);
    const bool adds = (sign > 0 && side >= 0) || (sign < 0 && side <= 0);
    block.tail[l] = static_cast<std::uint16_t>(magnitude + (adds ? 1 : 0));
    block.sign[l] = second[l] != 0 ? second[l] : block.sign[l];
  }
}

template <class T>
[[gnu::always_inline]] inline void add_norms(const T* x, std::size_t length, IntegerNorms& norms) {
  std::uint32_t sum = 0, max = 0;  // at most 512 times 2^16
  std::uint64_t squares = 0;
  for (std::size_t l = 0; l < length; ++l) {
    sum += x[l];
    squares += std::uint64_t{x[l]} * x[l];
    max = max < x[l] ? x[l] : max;
  }
  norms.add({sum, squares, max});
}

/// The same for 16-bit numbers. Their squares are added in two halves, so that all lanes have the same width.
[[gnu::always_inline]] inline void add_norms(const std::uint16_t* x, std::size_t length, IntegerNorms& norms) {
  std::uint32_t sum = 0, max = 0, low = 0, high = 0;
  for (std::size_t l = 0; l < length; ++l) {
    const std::uint32_t value = x[l], square = value * value;
    sum += value;
    low += square & 0xffff;
    high += square >> 16;
    max = max < value ? value : max;
  }
  norms.add({sum, (std::uint64_t{high} << 16) + low, max});
}

[[gnu::always_inline]] inline void add_digits(const std::int8_t* x, std::size_t length, IntegerNorms& norms) {
  std::int32_t sum = 0, squares = 0, max = 0;
  for (std::size_t l = 0; l < length; ++l) {
    const std::int16_t digit = x[l];
    const auto magnitude = static_cast<std::int16_t>(digit < 0 ? -digit : digit);
    sum += magnitude;
    squares += digit * digit;
    max = max < magnitude ? magnitude : max;
  }
  norms.add({static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(squares), static_cast<std::uint64_t>(max)});
}

/// `place` is one of the functions above.
template <class Place>
[[gnu::always_inline]] inline void measure(const double* x, std::size_t length, const Place& place, VectorFacts& facts) {
  Block block;
  const auto slices = facts.slices.size();
  place(x, length, facts.scale.exponent, static_cast<int>(slices), block);
  add_norms(block.whole, length, facts.vector);
  for (std::size_t l = 0; l < length; ++l) facts.floor_squares += std::uint64_t{block.floor[l]} * block.floor[l];
  add_norms(block.rest_upper, length, facts.tails[slices - 1]);
  std::int8_t *first = block.digit, *second = block.next;
  for (std::size_t p = slices; p > 0; --p) {
    if (p + 1 == slices) tails_before_last(length, first, block);
    if (p + 1 < slices) tails_before_two(length, first, second, block);
    if (p < slices) add_norms(block.tail, length, facts.tails[p - 1]);
    std::swap(first, second);
    take_digits(block, length, static_cast<int>(slices - p), first);
    add_digits(first, length, facts.slices[p - 1]);
  }
}

OZB_MULTIVERSION void measure_word(const double* x, std::size_t length, VectorFacts& facts) {
  measure(x, length, place_elements<false>, facts);
}
OZB_MULTIVERSION void measure_two_words(const double* x, std::size_t length, VectorFacts& facts) {
  measure(x, length, place_elements<true>, facts);
}
OZB_MULTIVERSION void measure_exactly(const double* x, std::size_t length, VectorFacts& facts) {
  measure(x, length, place_exactly<false>, facts);
}
OZB_MULTIVERSION void measure_large_exactly(const double* x, std::size_t length, VectorFacts& facts) {
  measure(x, length, place_exactly<true>, facts);
}

}  // namespace

void measure_balanced(const double* x, Index length, VectorFacts& facts) {
  const auto slices = static_cast<int>(facts.slices.size());
  const bool exact = exact_in_units(facts.scale.exponent, slices);
  const auto measure_some = slices > 8   ? measure_two_words
                            : !exact     ? measure_word
                            : slices > 6 ? measure_large_exactly
                                         : measure_exactly;
  measure_some(x, static_cast<std::size_t>(length), facts);
}

}  // namespace ozbound
