// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// gamma_n = n u / (1 - n u), rounded up; +Inf if n u >= 1. @param u a power of two. @pre as in outward.hpp.
inline double gamma_upper(Index n, double u = 0x1p-53) {
  const double roundings = to_double_upper(static_cast<std::uint64_t>(n)) * u;
  return divide_upper(roundings, subtract_lower(1, roundings));
}

}  // namespace ozbound
