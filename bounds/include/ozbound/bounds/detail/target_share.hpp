// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"

// The share of a target that the error before the last rounding may take, and ratios to it. @pre of all functions: a
// FloatEnvironment.

namespace ozbound {

/// u of a format, exactly.
double unit_roundoff(const Format& format);

/// @throws CannotCertify if tau is below u.
void check_attainable(const Target& target, double tau, double u);

/// (tau - u) / (1 + u), rounded down: the share of M that an error may reach before rounding (docs/derivations/targets.md, T1).
/// A larger divisor is as good, so 1 + 2u stands for 1 + u: it is a double for binary64, too, where 1 + u is none.
inline double share_before_rounding_lower(double tau, double u) {
  return divide_lower(subtract_lower(tau, u), add_upper(1, 2 * u));
}

/// The error bound of a correctly rounded C over the error that a target allows, rounded up: u / tau. @pre the target is not
/// `cr`.
inline double rounding_ratio_upper(double tau, double u) {
  return tau >= u ? std::min(1.0, divide_upper(u, tau)) : std::numeric_limits<double>::infinity();
}

/// The ratio after the last rounding, from the ratio `before` it: the error over the share of M that it may take (targets.md,
/// T8), or, for `relative`, over the error that (T4) allows. At most 1 exactly if `before` is. @pre tau >= u.
inline double ratio_upper_after_rounding(double before, double tau, double u) {
  const double rest = next_up(1 - divide_lower(u, tau));
  const double ratio = add_upper(divide_upper(u, tau), multiply_upper(before, rest));
  return before <= 1 ? std::min(1.0, ratio) : ratio;
}

inline Worst after_rounding(Worst before, double tau, double u) {
  before.ratio = ratio_upper_after_rounding(before.ratio, tau, u);
  return before;
}

}  // namespace ozbound
