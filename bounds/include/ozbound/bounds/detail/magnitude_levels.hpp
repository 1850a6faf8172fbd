// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/bounds/detail/wide_range_double.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// An enclosure of an entry of |A||B|, relative to 2^(e_i + e_j), 2^e_i = 2 ufp(max |a_i|). It implements the three levels of
/// enclose_product from integers and sums computed by the caller. @pre a FloatEnvironment.
struct MagnitudeBounds {
  double lower = 0;
  double upper = 0;
  int levels = 1;
};

/// Level 1, from the sum of products of first digits, and the sums of first digits of the row and of the column. The latter two
/// are 0 only for zero vectors or special ones.
OZB_HD inline MagnitudeBounds level_one(std::uint64_t sum, std::uint64_t row_sum, std::uint64_t column_sum, Index k) {
  const auto rest = row_sum == 0 || column_sum == 0 ? 0 : row_sum + column_sum + static_cast<std::uint64_t>(k);
  return {to_double_lower(sum) * 0x1p-14, to_double_upper(sum + rest) * 0x1p-14, 1};
}

/// x 2^-scale rounded towards zero to binary32, the operand of level 2; 0 below 2^-126. @pre |x| < 2^scale.
OZB_HD inline float to_float_lower(Dyadic x, int scale) {
  if (x.magnitude == 0) return 0;
  const int length = bit_length(x.magnitude);
  const int top = x.top_exponent() - scale;
  if (top < -126) return 0;
  const auto significand = length > 24 ? x.magnitude >> (length - 24) : x.magnitude << (24 - length);
  return float_from_bits((static_cast<std::uint64_t>(top + 126) << 23) + significand);
}

// The FP32 dot product of level 2 has a fixed order. Element l of a block is added to sum l mod dot_lanes; elements of an
// incomplete last group are added to the first sum. A block's sums are added in order, and blocks in FP64.
inline constexpr Index dot_block = 1024;
inline constexpr int dot_lanes = 16;

// Each term of the FP32 dot product undergoes at most 1024 roundings of 2^-24 and k / 1024 + 1 of 2^-53, together below 1 +
// 2^-13 for k < 2^40; its product underflows by at most 2^-149. (docs/derivations/enclosure.md)
inline constexpr double level_two_error = 0x1p-13;

OZB_HD inline double level_two_lower(double dot, Index k) {
  const double sum = subtract_lower(dot, multiply_upper(static_cast<double>(k), 0x1p-149));
  return divide_lower(sum, 1 + level_two_error);
}

/// Operands rounded towards zero lose a factor 1 + 2^-23 each, and up to 2^-126 if they became 0.
OZB_HD inline double level_two_upper(double dot, Index k) {
  const double sum = add_upper(dot, multiply_upper(static_cast<double>(k), 0x1p-149));
  return add_upper(multiply_upper(sum, 1 + 2 * level_two_error), multiply_upper(static_cast<double>(k), 0x1p-124));
}

OZB_HD inline MagnitudeBounds level_two(MagnitudeBounds bounds, double dot, Index k) {
  const double lower = level_two_lower(dot, k), upper = level_two_upper(dot, k);
  return {lower > bounds.lower ? lower : bounds.lower, upper < bounds.upper ? upper : bounds.upper, 2};
}

/// Level 3, from the largest floor(log2 |a_il|) + floor(log2 |b_lj|), minus e_i + e_j.
OZB_HD inline MagnitudeBounds level_three(MagnitudeBounds bounds, std::int64_t largest, Index k) {
  const double all = WideRangeDouble{to_double_upper(static_cast<std::uint64_t>(k)), largest + 2}.upper();
  return {WideRangeDouble{1, largest}.lower(), all < bounds.upper ? all : bounds.upper, 3};
}

/// floor(log2 |x|) of a zero: far below the sum of any two exponents of non-zero numbers.
inline constexpr std::int32_t no_top = -100000;

OZB_HD inline std::int32_t top_of(Dyadic x) { return x.magnitude == 0 ? no_top : x.top_exponent(); }

/// Level 3 from the largest top_of(a_il) + top_of(b_lj), for an entry that needs it. The entry is either exactly zero, or as
/// large as the leading bits of its largest product.
OZB_HD inline MagnitudeBounds settled(MagnitudeBounds bounds, std::int32_t largest, std::int64_t exponents, Index k) {
  if (largest < no_top / 2) return {bounds.lower, 0, 3};
  return level_three(bounds, largest - exponents, k);
}

/// True if an entry needs level 3.
OZB_HD inline bool unsettled(const MagnitudeBounds& bounds) { return bounds.lower == 0 && bounds.upper > 0; }

}  // namespace ozbound
