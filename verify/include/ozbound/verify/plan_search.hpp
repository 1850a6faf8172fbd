// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound {

/// The plan of the fewest slice products, balanced digits, up to 20 x 20 and every cut, whose product meets a target by the
/// exact oracle: what a selector could have found at best, whatever its bounds say. Nothing if there is none.
///
/// Products of some rows and columns are tried first; an entry of the whole product that fails adds its row and column to them.
/// @pre `target` is met entry by entry: it is not normwise.
std::optional<Plan> search_plan(const Problem& problem, const Target& target, const Engine& engine);

/// The same for residues: the plan of the fewest moduli, of all ways to share the most bits that they hold by first digits
/// (docs/derivations/residues.md, R9) between A and B.
std::optional<Plan> search_residue_plan(const Problem& problem, const Target& target, const Engine& engine);

}  // namespace ozbound
