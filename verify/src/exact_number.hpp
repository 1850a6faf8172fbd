// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "ozbound/verify/oracle.hpp"

namespace ozbound {

using boost::multiprecision::cpp_int;

/// number * 2^exponent, exactly.
struct ExactNumber {
  cpp_int number = 0;
  std::int64_t exponent = 0;
};

/// @pre x is finite.
inline ExactNumber exact(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto field = static_cast<std::int64_t>((bits >> 52) & 0x7ff);
  const auto fraction = static_cast<std::int64_t>(bits & 0xfffffffffffffU);
  const auto magnitude = field == 0 ? fraction : fraction | (std::int64_t{1} << 52);
  return {std::signbit(x) ? -magnitude : magnitude, std::max<std::int64_t>(field, 1) - 1075};
}

/// A number of 64-bit limbs, least significant first.
inline cpp_int from_limbs(const std::vector<std::uint64_t>& limbs) {
  cpp_int number;
  import_bits(number, limbs.begin(), limbs.end(), 64, false);
  return number;
}

inline ExactNumber operator*(const ExactNumber& x, const ExactNumber& y) {
  return {x.number * y.number, x.exponent + y.exponent};
}

inline ExactNumber operator-(ExactNumber x) {
  x.number = -x.number;
  return x;
}

inline ExactNumber operator+(const ExactNumber& x, const ExactNumber& y) {
  if (x.number == 0) return y;
  if (y.number == 0) return x;
  if (x.exponent < y.exponent) return y + x;
  return {(x.number << static_cast<unsigned>(x.exponent - y.exponent)) + y.number, y.exponent};
}

inline ExactNumber absolute(const ExactNumber& x) { return {abs(x.number), x.exponent}; }

inline ExactNumber power_of_two(std::int64_t exponent) { return {1, exponent}; }

/// floor(log2 |x|). @pre x != 0.
inline std::int64_t leading_exponent(const ExactNumber& x) {
  return x.exponent + static_cast<std::int64_t>(msb(abs(x.number)));
}

/// floor(|x| / 2^quantum).
inline cpp_int whole_multiple(const ExactNumber& x, std::int64_t quantum) {
  const cpp_int number = abs(x.number);
  if (quantum <= x.exponent) return number << static_cast<unsigned>(x.exponent - quantum);
  return number >> static_cast<unsigned>(quantum - x.exponent);
}

/// round(|x| / 2^quantum), ties to even. @pre x != 0.
inline cpp_int nearest_multiple(const ExactNumber& x, std::int64_t quantum) {
  cpp_int quotient = whole_multiple(x, quantum);
  if (quantum <= x.exponent) return quotient;
  const cpp_int number = abs(x.number);
  const auto shift = static_cast<unsigned>(quantum - x.exponent);
  const bool half = bit_test(number, shift - 1);
  const bool above_half = half && lsb(number) < shift - 1;
  if (above_half || (half && bit_test(quotient, 0))) ++quotient;
  return quotient;
}

/// x rounded once to a format, to nearest, ties to even: subnormal, -0 and infinite results included; an exact zero is +0.
inline double rounded_to(const ExactNumber& x, ResultFormat format) {
  if (x.number == 0) return 0;
  const int precision = format == ResultFormat::of_double ? 53 : 24;
  const auto leading = leading_exponent(x);
  const double sign = x.number < 0 ? -1.0 : 1.0;
  if (leading > largest_exponent(format)) return sign * std::numeric_limits<double>::infinity();
  const auto quantum = std::max<std::int64_t>(leading - precision + 1, smallest_exponent(format));
  const double nearest = std::ldexp(static_cast<double>(nearest_multiple(x, quantum)), static_cast<int>(quantum));
  const bool overflows = nearest > std::ldexp(2.0 - 2 * unit_roundoff(format), largest_exponent(format));
  return sign * (overflows ? std::numeric_limits<double>::infinity() : nearest);
}

}  // namespace ozbound
