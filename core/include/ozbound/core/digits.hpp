// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// Bits [low, low + width) of |x|, with the sign of x: one truncated digit.
///
/// Adjacent digits down to `low` leave |x - sum d_t 2^low_t| < 2^low. Exact; docs/derivations/slicing.md (S1).
/// @pre 1 <= width <= 7, so that the digit is an INT8 operand.
OZB_HD constexpr std::int8_t truncated_digit(Dyadic x, int low, int width) {
  const int shift = low - x.exponent;
  if (shift >= 53 || shift <= -width) return 0;
  const auto aligned = shift >= 0 ? x.magnitude >> shift : x.magnitude << -shift;
  const auto digit = static_cast<int>(aligned & ((1u << width) - 1));
  return static_cast<std::int8_t>(x.negative ? -digit : digit);
}

/// magnitude / 2^shift rounded to nearest, ties to even; magnitude < 2^54, shift > 0.
OZB_HD constexpr std::uint64_t shift_right_to_nearest(std::uint64_t magnitude, int shift) {
  if (shift > 54) return 0;
  const auto floor = magnitude >> shift;
  const auto rest = magnitude & ((std::uint64_t{1} << shift) - 1);
  const auto half = std::uint64_t{1} << (shift - 1);
  return floor + ((rest > half || (rest == half && (floor & 1) != 0)) ? 1 : 0);
}

/// The remainder of a number after its leading digits: rest * 2^exponent.
struct Remainder {
  std::int64_t rest;      ///< |rest| < 2^54
  std::int32_t exponent;  ///< of the number that the digits are taken from

  OZB_HD constexpr explicit Remainder(Dyadic x)
      : rest(x.negative ? -static_cast<std::int64_t>(x.magnitude) : static_cast<std::int64_t>(x.magnitude)),
        exponent(x.exponent) {}

  /// Subtracts digit * 2^low. Exact: a digit of x is a multiple of x's last bit, and never far above the rest (S4).
  OZB_HD constexpr void take(int digit, int low) {
    if (digit == 0) return;
    const int shift = low - exponent;
    rest -= shift >= 0 ? static_cast<std::int64_t>(digit) * (std::int64_t{1} << shift) : digit >> -shift;
  }

  /// ceil(log2 |rest * 2^exponent|). @pre rest is not 0.
  [[nodiscard]] OZB_HD constexpr int ceil_log2() const {
    const auto magnitude = static_cast<std::uint64_t>(rest < 0 ? -rest : rest);
    return exponent + bit_length(magnitude) - ((magnitude & (magnitude - 1)) == 0 ? 1 : 0);
  }

  /// |rest * 2^exponent| in units of 2^unit, rounded up. @pre the result is less than 2^62 units.
  [[nodiscard]] OZB_HD constexpr std::uint64_t magnitude_upper(int unit) const {
    const auto magnitude = static_cast<std::uint64_t>(rest < 0 ? -rest : rest);
    const int shift = exponent - unit;
    if (shift >= 0 || magnitude == 0) return magnitude == 0 ? 0 : magnitude << shift;
    if (shift <= -63) return 1;
    return (magnitude + ((std::uint64_t{1} << -shift) - 1)) >> -shift;
  }
};

namespace detail {

/// Digits 1 … s of nearest and nearest_adaptive: each is the remainder rounded to a multiple of the digit's weight 2^low(p).
/// Returns the remainder after the last digit.
template <class Low>
OZB_HD constexpr Remainder nearest_digits(Dyadic x, int slices, const Low& low_of, std::int8_t* digits) {
  Remainder remainder(x);
  for (int p = 1; p <= slices; ++p) {
    const int low = low_of(p);
    const int shift = low - x.exponent;
    const auto magnitude = static_cast<std::uint64_t>(remainder.rest < 0 ? -remainder.rest : remainder.rest);
    const auto rounded = shift > 0 ? shift_right_to_nearest(magnitude, shift) : (magnitude == 0 ? 0 : magnitude << -shift);
    const auto digit = remainder.rest < 0 ? -static_cast<int>(rounded) : static_cast<int>(rounded);
    digits[p - 1] = static_cast<std::int8_t>(digit);
    remainder.take(digit, low);
  }
  return remainder;
}

/// Byte `index` of magnitude * 2^shift. @pre shift >= 0.
OZB_HD constexpr int byte_of(std::uint64_t magnitude, int shift, int index) {
  const int low = 8 * index - shift;
  if (low >= 64 || low <= -8) return 0;
  return static_cast<int>((low >= 0 ? magnitude >> low : magnitude << -low) & 0xff);
}

/// Digits 1 … s of the balanced encoding. N = RN(x / weight of the last digit). Each digit, from the last one up, is the byte
/// of N in two's complement plus a carry, read as int8. The scale leaves room in the first digit for the last carry (S3).
OZB_HD constexpr void balanced_digits(Dyadic x, int slices, int scale, std::int8_t* digits) {
  const int shift = x.exponent - (scale + Encoding::balanced().weight_exponent(slices));
  const auto magnitude = shift >= 0 ? x.magnitude : shift_right_to_nearest(x.magnitude, -shift);
  const int up = shift >= 0 ? shift : 0;
  int negation = x.negative ? 1 : 0;  // the carry of ~N + 1
  int carry = 0;
  for (int p = slices; p >= 1; --p) {
    int byte = byte_of(magnitude, up, slices - p);
    if (x.negative) {
      byte = (byte ^ 0xff) + negation;
      negation = byte >> 8;
      byte &= 0xff;
    }
    byte += carry;
    carry = byte >= 128 ? 1 : 0;
    digits[p - 1] = static_cast<std::int8_t>(byte - 256 * carry);
  }
}

/// Digits 1 … s of unsigned8: the bytes of floor(x / weight of the last digit) in two's complement. If bits are cut off, -(M +
/// rest) rounded down is -M - 1 = ~M; without a rest it is ~M + 1.
OZB_HD constexpr void unsigned_digits(Dyadic x, int slices, int scale, std::int8_t* digits) {
  const int shift = x.exponent - (scale + Encoding::unsigned8().weight_exponent(slices));
  const int down = shift >= 0 ? 0 : (shift <= -63 ? 63 : -shift);
  const auto magnitude = x.magnitude >> down;
  int negation = magnitude << down == x.magnitude ? 1 : 0;
  for (int p = slices; p >= 1; --p) {
    int byte = byte_of(magnitude, shift >= 0 ? shift : 0, slices - p);
    if (x.negative) {
      byte = (byte ^ 0xff) + negation;
      negation = byte >> 8;
    }
    digits[p - 1] = static_cast<std::int8_t>(byte & 0xff);
  }
}

}  // namespace detail

/// Digits 1 … s of a finite number whose row has the scale 2^scale: x = sum_p digits[p-1] 2^(scale + weight_p) + residual.
/// Digits are stored as bytes; Encoding::digit gives their values.
///
/// The weights are the encoding's. The other split() is for nearest_adaptive, whose weights depend on the vector. `scale` is
/// the encoding's scale_exponent of a magnitude >= |x|. Exact, with bits and integers only; the residual is < 2^weight_s for
/// truncated, ozimmu and unsigned8, <= 2^(weight_s - 1) for nearest and balanced. docs/derivations/slicing.md.
OZB_HD constexpr void split(Dyadic x, Slicing slicing, int scale, std::int8_t* digits) {
  switch (slicing.encoding.kind) {
    case Encoding::Kind::truncated:
    case Encoding::Kind::ozimmu:
      for (int p = 1; p <= slicing.slices; ++p)
        digits[p - 1] = truncated_digit(x, scale + slicing.encoding.weight_exponent(p), slicing.encoding.beta);
      return;
    case Encoding::Kind::nearest:
    case Encoding::Kind::nearest_adaptive:
      detail::nearest_digits(x, slicing.slices, [&](int p) { return scale + slicing.encoding.weight_exponent(p); }, digits);
      return;
    case Encoding::Kind::balanced: detail::balanced_digits(x, slicing.slices, scale, digits); return;
    case Encoding::Kind::unsigned8: detail::unsigned_digits(x, slicing.slices, scale, digits); return;
  }
}

/// Digits of nearest_adaptive: digit p has the weight 2^(scale + weights[p-1]) of its vector. Returns the remainder.
OZB_HD constexpr Remainder split(Dyadic x, int slices, int scale, const std::int16_t* weights, std::int8_t* digits) {
  return detail::nearest_digits(x, slices, [&](int p) { return scale + weights[p - 1]; }, digits);
}

/// The remainder of x after digits rounded down to 2^low: x modulo 2^low, in [0, 2^low), in units of 2^(low - fraction_bits),
/// rounded up.
///
/// For a tiny negative x it is just below 2^low, which no Remainder in units of x's last bit holds (S4). @pre 0 <=
/// fraction_bits <= 62.
OZB_HD constexpr std::uint64_t floor_tail_upper(Dyadic x, int low, int fraction_bits) {
  const int shift = low - x.exponent;
  if (shift <= 0) return 0;
  const auto below = shift >= 64 ? x.magnitude : x.magnitude & ((std::uint64_t{1} << shift) - 1);
  if (below == 0) return 0;
  const int up = fraction_bits - shift;
  const auto floor = up >= 0 ? below << up : (up <= -64 ? 0 : below >> -up);
  if (x.negative) return (std::uint64_t{1} << fraction_bits) - floor;
  const bool rest = up < 0 && (up <= -64 || floor << -up != below);
  return floor + (rest ? 1 : 0);
}

static_assert(truncated_digit(to_dyadic(-0x1.8p0), -6, 7) == -96);

}  // namespace ozbound
