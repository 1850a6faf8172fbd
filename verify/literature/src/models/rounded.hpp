// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/literature/models/word_format.hpp"
#include "uint128.hpp"

namespace ozbound::models {

/// Wide enough for any sum of products of binary32 numbers. Their bits all lie between 2^-298 and 2^300.
using Wide =
    boost::multiprecision::number<boost::multiprecision::cpp_int_backend<768, 768, boost::multiprecision::unsigned_magnitude,
                                                                         boost::multiprecision::unchecked, void>>;

/// An integer of any length. (With expression templates, GCC warns wrongly of uninitialised variables.)
using Whole = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

inline int bits_of_integer(VerifyUint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 64 + bit_length(high) : bit_length(static_cast<std::uint64_t>(x));
}
template <class Integer>
int bits_of_integer(const Integer& x) {
  return x == 0 ? 0 : static_cast<int>(msb(x)) + 1;
}

/// True if x >= 0 is not a multiple of 2^shift.
template <class Integer>
bool loses(const Integer& x, int shift) {
  if (shift <= 0) return false;
  return shift >= bits_of_integer(x) ? x != 0 : Integer((x >> shift) << shift) != x;
}

/// x 2^-shift as an integer, x >= 0. @pre if shift is negative, x 2^-shift fits.
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

/// The weight of the last bit of x 2^exponent, x > 0, in a format.
template <class Integer>
int last_exponent(const Integer& x, int exponent, const WordFormat& format) {
  return std::max(exponent + bits_of_integer(x) - format.precision, format.least_exponent);
}

/// (negative ? -1 : 1) x 2^exponent in a format, as round_to; x >= 0.
template <class Integer>
double rounded(const Integer& x, int exponent, bool negative, const WordFormat& format, Rounding rounding) {
  const int unit = last_exponent(x, exponent, format);
  const auto significand = static_cast<double>(static_cast<std::uint64_t>(shifted(x, unit - exponent, rounding)));
  const double largest = std::ldexp(2 - std::ldexp(1.0, 1 - format.precision), format.largest_exponent);
  double value = significand == 0 ? 0 : std::ldexp(significand, unit);
  if (value > largest) value = rounding == Rounding::nearest_even ? std::numeric_limits<double>::infinity() : largest;
  return negative && value != 0 ? -value : value;
}

/// Sums terms exactly, each first rounded to a multiple of 2^grid.
template <class Integer>
class AlignedSum {
 public:
  AlignedSum(int grid, Rounding rounding) : grid_(grid), rounding_(rounding) {}

  void add(bool negative, const Integer& magnitude, int exponent) {
    (negative ? negative_ : positive_) += shifted<Integer>(magnitude, grid_ - exponent, rounding_);
    loses_ = loses_ || loses<Integer>(magnitude, grid_ - exponent);
  }

  [[nodiscard]] bool negative() const { return positive_ < negative_; }
  [[nodiscard]] Integer magnitude() const {
    return negative() ? Integer(negative_ - positive_) : Integer(positive_ - negative_);
  }
  [[nodiscard]] int grid() const { return grid_; }

  /// True if some term was not a multiple of 2^grid.
  [[nodiscard]] bool has_lost() const { return loses_; }

 private:
  int grid_;
  Rounding rounding_;
  Integer positive_ = 0, negative_ = 0;
  bool loses_ = false;
};

}  // namespace ozbound::models
