// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/bounds/detail/wide_range_double.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {

// The arithmetic of Allowance for one entry, with numbers relative to the product's scales. @pre of all functions: a
// FloatEnvironment.

/// x relative to the product's scales, from x relative to a slicing's scales, which are at least as large.
OZB_HD inline double rescaled_upper(double x, std::int64_t shift) { return x == 0 ? 0 : WideRangeDouble{x, shift}.upper(); }

/// |beta c0| / |alpha| relative to 2^scale, rounded down. @pre alpha, beta and c0 are finite, alpha is not 0.
OZB_HD inline double c0_share_lower(double alpha, double beta, double c0, std::int64_t scale) {
  const auto product = WideRangeDouble::product_lower(WideRangeDouble::magnitude(beta), WideRangeDouble::magnitude(c0));
  const auto divisor = WideRangeDouble::magnitude(alpha);
  return WideRangeDouble{divide_lower(product.significand, divisor.significand), product.exponent - divisor.exponent - scale}
      .lower();
}

/// ||x||_2 rounded down, relative to its scale, from VectorFacts::floor_squares.
OZB_HD inline double euclidean_lower(std::uint64_t floor_squares) {
  return next_down(std::sqrt(to_double_lower(floor_squares))) * 0x1p-16;
}

/// error / allowed, rounded up; `allowed` may be +Inf.
OZB_HD inline double ratio_upper(double error, double allowed) {
  if (error == 0 || allowed == double_from_bits(binary64.inf)) return 0;
  return allowed == 0 ? double_from_bits(binary64.inf) : divide_upper(error, allowed);
}

// Norms add entries of different scales. The entries are therefore taken relative to the largest scale; `shift` leads from an
// entry's scale to the largest one. An entry far below the largest scale counts as 0 in a lower bound, and is rounded up in an
// upper bound.

/// M of an entry as a term of a norm, rounded down.
OZB_HD inline double norm_term_lower(double x, std::int64_t shift) {
  const double value = WideRangeDouble{x, shift}.lower();
  return value < 0x1p-500 ? 0 : value < 0x1p400 ? value : 0x1p400;
}

/// error^2 over norm^2, for an entry that counts, rounded up.
OZB_HD inline double norm_share_upper(double error, std::int64_t shift, double norm) {
  if (error == 0) return 0;
  const double scaled = WideRangeDouble{error, shift}.upper();
  const double value = scaled > 0x1p-500 ? scaled : 0x1p-500;
  const double share = norm == 0 ? double_from_bits(binary64.inf) : divide_upper(value, norm);
  return multiply_upper(share, share);
}

/// The verdict of a relative target on an entry.
struct RelativeVerdict {
  bool accepted = false;
  double share = 0;  ///< |alpha| E / (factor |x|), rounded up; 0 if there is no error
};

/// Accepts a computed x if |alpha| E <= factor |x|. x is given by its bits as a binary64 number; E is `error` 2^scale. An x
/// below least_normal or not finite is accepted only if there is no error.
OZB_HD inline RelativeVerdict judge_relative(std::uint64_t x, double error, std::int64_t scale, double alpha, double factor,
                                             double least_normal) {
  if (error == 0) return {true, 0};
  const double magnitude = double_from_bits(x & ~binary64.sign);
  const double absolute =
      WideRangeDouble::product_upper(WideRangeDouble::magnitude(alpha), WideRangeDouble{error, scale}).upper();
  const double most = multiply_lower(factor, magnitude);
  if (!(magnitude >= least_normal && is_finite(x, binary64) && absolute <= most)) return {};
  return {true, divide_upper(absolute, most)};
}

}  // namespace ozbound
