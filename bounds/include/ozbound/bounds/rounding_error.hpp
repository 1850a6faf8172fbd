#pragma once

#include <cstdint>

#include "ozbound/bounds/scaled.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {

/// What an ErrorBound adds to the error before the rounding, which is relative to a power of two and to |alpha|.
struct RoundingError {
  double alpha = 1;
  double result_factor = 0x1p-53;  ///< u of C's format where C^ is rounded once
  double underflow = 0x1p-1074;    ///< eta/2 of C's format, rounded up to a double
  bool rounded_once = true;

  /// The bound of an entry of computed value c_hat whose error before the rounding is at most product_upper 2^scale, rounded
  /// up; +Inf where it is beyond a double.
  /// @pre the FP environment rounds to nearest and keeps subnormals (FloatEnvironment).
  [[nodiscard]] OZB_HD double at(double product_upper, std::int64_t scale, double c_hat) const {
    if (!is_finite(bits_of(product_upper), binary64)) return product_upper;
    const double error =
        Scaled::product_upper(Scaled::magnitude(alpha), Scaled::magnitude(product_upper)).times_power_of_two(scale).upper();
    // An overflow is not a rounding: the verdict measures it from the overflow threshold (general_bound.md, G6).
    const double magnitude = double_from_bits(bits_of(c_hat) & ~binary64.sign);
    const double rounding = is_finite(bits_of(c_hat), binary64) ? multiply_upper(result_factor, magnitude) : 0;
    if (rounded_once) return add_upper(error, rounding > underflow ? rounding : underflow);
    return add_upper(error, add_upper(rounding, underflow));
  }
};

}  // namespace ozbound
