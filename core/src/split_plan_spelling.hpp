// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "ozbound/core/split_plan.hpp"

// The parts of to_string and parse_plan of plan.hpp for plans by slices.

namespace ozbound {

std::string spelling_of(const SplitPlan& plan);

/// @throws std::invalid_argument naming the part that is wrong, in the spelling or in the plan.
SplitPlan spelled_split_plan(std::string_view text);

}  // namespace ozbound
