// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "ozbound/bounds/wide_range_double.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

OZB_HD inline WideRangeDouble WideRangeDouble::magnitude(double x) {
  const auto value = to_dyadic(x);
  if (value.magnitude == 0) return {};
  return {static_cast<double>(value.magnitude) * 0x1p-52, std::int64_t{value.exponent} + 52};
}

OZB_HD inline WideRangeDouble WideRangeDouble::product_upper(WideRangeDouble x, WideRangeDouble y) {
  return {multiply_upper(x.significand, y.significand), x.exponent + y.exponent};
}
OZB_HD inline WideRangeDouble WideRangeDouble::product_lower(WideRangeDouble x, WideRangeDouble y) {
  return {multiply_lower(x.significand, y.significand), x.exponent + y.exponent};
}

OZB_HD inline double WideRangeDouble::upper() const {
  int shift = 0;
  const double leading = std::frexp(significand, &shift);
  if (leading == 0) return 0;
  if (exponent + shift > 1024) return double_from_bits(binary64.inf);
  if (exponent + shift < -1074) return 0x1p-1074;
  const double value = std::ldexp(leading, static_cast<int>(exponent) + shift);
  return value < 0x1p-1000 ? next_up(value) : value;  // exact above the subnormal range
}

OZB_HD inline double WideRangeDouble::lower() const {
  int shift = 0;
  const double leading = std::frexp(significand, &shift);
  if (leading == 0 || exponent + shift < -1074) return 0;
  if (exponent + shift > 1024) return double_from_bits(binary64.inf - 1);
  const double value = std::ldexp(leading, static_cast<int>(exponent) + shift);
  return value < 0x1p-1000 ? next_down(value) : value;
}

}  // namespace ozbound
