// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/bounds/jeannerod_rump_bound.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {

/// gamma_n = n u / (1 - n u), u = 2^-53, rounded up; +Inf where n u >= 1. @pre as outward.hpp's.
inline double gamma_upper(Index n) {
  const double roundings = jeannerod_rump_upper(n);
  return divide_upper(roundings, subtract_lower(1, roundings));
}

}  // namespace ozbound
