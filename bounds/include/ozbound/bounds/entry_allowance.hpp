#pragma once

#include <cstdint>

#include "ozbound/bounds/scaled.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {

// What Allowance says of one entry, from numbers relative to the product's scales. @pre of all: a FloatEnvironment.

/// x relative to the product's scales, when it was relative to those of a slicing, which are at least as large.
OZB_HD inline double rescaled_upper(double x, std::int64_t shift) { return x == 0 ? 0 : Scaled{x, shift}.upper(); }

/// |beta c0| / |alpha| relative to 2^scale, from below. @pre alpha, beta and c0 are finite, alpha is not 0.
OZB_HD inline double c0_share_lower(double alpha, double beta, double c0, std::int64_t scale) {
  const auto product = Scaled::product_lower(Scaled::magnitude(beta), Scaled::magnitude(c0));
  const auto divisor = Scaled::magnitude(alpha);
  return Scaled{divide_lower(product.significand, divisor.significand), product.exponent - divisor.exponent - scale}.lower();
}

/// error / allowed, rounded up; `allowed` may be +Inf.
OZB_HD inline double ratio_upper(double error, double allowed) {
  if (error == 0 || allowed == double_from_bits(binary64.inf)) return 0;
  return allowed == 0 ? double_from_bits(binary64.inf) : divide_upper(error, allowed);
}

}  // namespace ozbound
