#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/models/word_format.hpp"
#include "uint128.hpp"

namespace ozbound::models {

/// Wide enough for any sum of products of binary32 numbers, all of whose bits lie between 2^-298 and 2^300.
using Wide =
    boost::multiprecision::number<boost::multiprecision::cpp_int_backend<768, 768, boost::multiprecision::unsigned_magnitude,
                                                                         boost::multiprecision::unchecked, void>>;

inline int bits_of_integer(VerifyUint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 64 + bit_length(high) : bit_length(static_cast<std::uint64_t>(x));
}
inline int bits_of_integer(const Wide& x) { return x == 0 ? 0 : static_cast<int>(msb(x)) + 1; }

/// x 2^-shift as an integer. @pre x 2^-shift fits where shift is negative.
template <class Integer>
Integer shifted(const Integer& x, int shift, Rounding rounding) {
  if (shift <= 0) return x << -shift;
  const int bits = bits_of_integer(x);
  if (shift > bits) return 0;  // less than a half
  const Integer kept = shift == bits ? Integer(0) : Integer(x >> shift);
  if (rounding == Rounding::toward_zero) return kept;
  const Integer rest = x - (shift == bits ? Integer(0) : Integer(kept << shift)), half = Integer(1) << (shift - 1);
  const bool odd = (kept & 1) != 0;
  return rest > half || (rest == half && odd) ? Integer(kept + 1) : kept;
}

/// (negative ? -1 : 1) x 2^exponent in a format, as round_to.
template <class Integer>
float rounded(const Integer& x, int exponent, bool negative, const WordFormat& format, Rounding rounding) {
  const int unit = std::max(exponent + bits_of_integer(x) - format.precision, format.least_exponent);
  const auto significand = static_cast<double>(static_cast<std::uint64_t>(shifted(x, unit - exponent, rounding)));
  const double limit = std::ldexp(1.0, format.largest_exponent + 1);
  double value = significand == 0 ? 0 : std::ldexp(significand, unit);
  if (value >= limit)
    value = rounding == Rounding::nearest_even ? std::numeric_limits<double>::infinity()
                                               : limit - std::ldexp(1.0, format.largest_exponent + 1 - format.precision);
  return static_cast<float>(negative && value != 0 ? -value : value);
}

}  // namespace ozbound::models
