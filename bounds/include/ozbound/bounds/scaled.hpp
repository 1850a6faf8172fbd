// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// A non-negative number far outside the range of a double, if need be: significand * 2^exponent, significand finite. What is
/// declared here and rounds is defined in detail/scaled.hpp, for this project's own sources.
struct Scaled {
  double significand = 0;
  std::int64_t exponent = 0;

  /// |x|, exactly. @pre x is finite.
  OZB_HD static Scaled magnitude(double x);

  /// |x| * |y|, rounded up or down.
  OZB_HD static Scaled product_upper(Scaled x, Scaled y);
  OZB_HD static Scaled product_lower(Scaled x, Scaled y);

  [[nodiscard]] OZB_HD Scaled times_power_of_two(std::int64_t shift) const { return {significand, exponent + shift}; }

  /// The number as a double, rounded up: +Inf where it is too large, at least 2^-1074 where it is not zero.
  [[nodiscard]] OZB_HD double upper() const;

  /// The number as a double, rounded down: the largest finite number where it is too large, 0 where it is too small.
  [[nodiscard]] OZB_HD double lower() const;
};

}  // namespace ozbound
