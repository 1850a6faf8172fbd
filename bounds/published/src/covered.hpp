// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include "ozbound/core/plan.hpp"

namespace ozbound {

/// @throws std::invalid_argument unless a bound covers the plan.
inline void require_covered(bool covered, const std::string& bound, const SplitPlan& plan) {
  if (!covered) throw std::invalid_argument(bound + " does not cover " + to_string(plan));
}

}  // namespace ozbound
