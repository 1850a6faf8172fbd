#pragma once

#include <cmath>
#include <cstdint>

#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// A non-negative number far outside the range of a double, if need be: significand * 2^exponent, significand finite.
struct Scaled {
  double significand = 0;
  std::int64_t exponent = 0;

  /// |x|, exactly. @pre x is finite.
  OZB_HD static Scaled magnitude(double x) {
    const auto value = to_dyadic(x);
    if (value.magnitude == 0) return {};
    return {static_cast<double>(value.magnitude) * 0x1p-52, std::int64_t{value.exponent} + 52};
  }

  /// |x| * |y|, rounded up or down.
  OZB_HD static Scaled product_upper(Scaled x, Scaled y) {
    return {multiply_upper(x.significand, y.significand), x.exponent + y.exponent};
  }
  OZB_HD static Scaled product_lower(Scaled x, Scaled y) {
    return {multiply_lower(x.significand, y.significand), x.exponent + y.exponent};
  }

  [[nodiscard]] OZB_HD Scaled times_power_of_two(std::int64_t shift) const { return {significand, exponent + shift}; }

  /// The number as a double, rounded up: +Inf where it is too large, at least 2^-1074 where it is not zero.
  [[nodiscard]] OZB_HD double upper() const {
    int shift = 0;
    const double leading = std::frexp(significand, &shift);
    if (leading == 0) return 0;
    if (exponent + shift > 1024) return double_from_bits(binary64.inf);
    if (exponent + shift < -1074) return 0x1p-1074;
    const double value = std::ldexp(leading, static_cast<int>(exponent) + shift);
    return value < 0x1p-1000 ? next_up(value) : value;  // exact until it meets the subnormal range
  }

  /// The number as a double, rounded down: the largest finite number where it is too large, 0 where it is too small.
  [[nodiscard]] OZB_HD double lower() const {
    int shift = 0;
    const double leading = std::frexp(significand, &shift);
    if (leading == 0 || exponent + shift < -1074) return 0;
    if (exponent + shift > 1024) return double_from_bits(binary64.inf - 1);
    const double value = std::ldexp(leading, static_cast<int>(exponent) + shift);
    return value < 0x1p-1000 ? next_down(value) : value;
  }
};

}  // namespace ozbound
