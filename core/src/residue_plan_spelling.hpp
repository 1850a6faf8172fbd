// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "ozbound/core/residue_plan.hpp"

namespace ozbound {

std::string spelling_of(const ResiduePlan& plan);
bool spells_residues(std::string_view text);
ResiduePlan spelled_residue_plan(std::string_view text);

}  // namespace ozbound
