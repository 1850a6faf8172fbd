// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

// Every bound relies on single operations rounded to nearest, in the written order, with infinities and subnormals. Compilers
// define these macros for options that break this; only GCC defines one for -funsafe-math-optimizations.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || defined(__ASSOCIATIVE_MATH__) || \
    defined(__RECIPROCAL_MATH__)
#error "ozbound/core/detail/outward.hpp bounds errors, which -ffast-math and its parts make impossible: compile without them"
#endif

namespace ozbound {

// Outward rounding by inflation: an operation rounded to nearest is off by at most half a unit, so the neighbour of the result
// is a bound. Operands and results are >= 0 (or +Inf). @pre the FP environment rounds to nearest and keeps subnormals
// (FloatEnvironment); the rounding mode itself is never changed.
//
// Do not take next_up of a sum of ten terms: one step covers one rounding. Make each addition an add_upper.
// Do not use divide_upper(x_upper, y_upper), which bounds nothing, but divide_upper(x_upper, y_lower). Take a divisor, and also
// a subtrahend, from the other side: subtract_lower(x_lower, y_upper).
// Do not use multiply_upper(-2, x): the step away from 0 would be a step down. Keep signs outside.

/// The next double above x >= 0; +Inf stays.
OZB_HD constexpr double next_up(double x) { return x < double_from_bits(binary64.inf) ? double_from_bits(bits_of(x) + 1) : x; }

/// The next double below x >= 0. 0 stays 0. +Inf, which stands for an overflow, becomes the largest finite number.
OZB_HD constexpr double next_down(double x) { return x > 0 ? double_from_bits(bits_of(x) - 1) : x; }

/// Sums and products with a zero are exact and are not inflated: a zero bound means that there is no error.
OZB_HD constexpr double add_upper(double x, double y) { return x == 0 ? y : y == 0 ? x : next_up(x + y); }
OZB_HD constexpr double add_lower(double x, double y) { return x == 0 ? y : y == 0 ? x : next_down(x + y); }
OZB_HD constexpr double multiply_upper(double x, double y) { return x == 0 || y == 0 ? 0 : next_up(x * y); }
OZB_HD constexpr double multiply_lower(double x, double y) { return x == 0 || y == 0 ? 0 : next_down(x * y); }
/// @pre y > 0.
OZB_HD constexpr double divide_upper(double x, double y) { return x == 0 ? 0 : next_up(x / y); }
OZB_HD constexpr double divide_lower(double x, double y) { return x == 0 ? 0 : next_down(x / y); }
/// A lower bound of x - y; 0 if the difference would be negative.
OZB_HD constexpr double subtract_lower(double x, double y) { return x <= y ? 0 : y == 0 ? x : next_down(x - y); }

/// Bounds of an integer as a double, from above and from below.
OZB_HD constexpr double to_double_upper(std::uint64_t x) {
  const auto rounded = static_cast<double>(x);
  return x < (std::uint64_t{1} << 53) ? rounded : next_up(rounded);
}
OZB_HD constexpr double to_double_lower(std::uint64_t x) {
  const auto rounded = static_cast<double>(x);
  return x < (std::uint64_t{1} << 53) ? rounded : next_down(rounded);
}

}  // namespace ozbound
