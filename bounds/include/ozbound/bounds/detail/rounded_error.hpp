// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/bounds/detail/wide_range_double.hpp"
#include "ozbound/bounds/rounding_error.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"

namespace ozbound {

/// The bound of an entry with computed value c_hat, rounded up, if its error before the rounding is at most product_upper
/// 2^scale; +Inf if the bound exceeds a double.
/// @pre the FP environment rounds to nearest and keeps subnormals (FloatEnvironment).
[[nodiscard]] OZB_HD inline double rounded_error_upper(const RoundingError& rounding, double product_upper, std::int64_t scale,
                                                       double c_hat) {
  if (!is_finite(bits_of(product_upper), binary64)) return product_upper;
  const double error =
      WideRangeDouble::product_upper(WideRangeDouble::magnitude(rounding.alpha), WideRangeDouble::magnitude(product_upper))
          .times_power_of_two(scale)
          .upper();
  // An overflow is not a rounding: the verdict measures it from the overflow threshold; docs/derivations/general_bound.md (G6).
  const double magnitude = double_from_bits(bits_of(c_hat) & ~binary64.sign);
  const double relative = is_finite(bits_of(c_hat), binary64) ? multiply_upper(rounding.result_factor, magnitude) : 0;
  if (rounding.rounded_once) return add_upper(error, relative > rounding.underflow ? relative : rounding.underflow);
  return add_upper(error, add_upper(relative, rounding.underflow));
}

}  // namespace ozbound
