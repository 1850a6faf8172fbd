// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// A non-negative number, possibly far outside the range of a double: significand * 2^exponent, with a finite significand. The
/// functions that round are defined in detail/wide_range_double.hpp, for this project's own sources.
struct WideRangeDouble {
  double significand = 0;
  std::int64_t exponent = 0;

  /// |x|, exactly. @pre x is finite.
  OZB_HD static WideRangeDouble magnitude(double x);

  /// |x| * |y|, rounded up or down.
  OZB_HD static WideRangeDouble product_upper(WideRangeDouble x, WideRangeDouble y);
  OZB_HD static WideRangeDouble product_lower(WideRangeDouble x, WideRangeDouble y);

  [[nodiscard]] OZB_HD WideRangeDouble times_power_of_two(std::int64_t shift) const { return {significand, exponent + shift}; }

  /// The number as a double, rounded up: +Inf if it is too large, at least 2^-1074 if it is not zero.
  [[nodiscard]] OZB_HD double upper() const;

  /// The number as a double, rounded down: the largest finite number if it is too large, 0 if it is too small.
  [[nodiscard]] OZB_HD double lower() const;
};

}  // namespace ozbound
