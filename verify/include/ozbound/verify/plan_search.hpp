// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound {

/// Searches the plans with balanced digits, up to 20 x 20 slices and with every cut, for the one with the fewest slice products
/// whose product meets a target by the exact oracle. It is the best that any selector could find, independent of bounds. Empty
/// if no plan meets the target.
///
/// Tries products of some rows and columns first. If an entry of the whole product fails, adds its row and column to them.
/// @pre `target` is met entry by entry, not normwise.
std::optional<Plan> search_plan(const Problem& problem, const Target& target, const Engine& engine);

/// Searches the residue plans for the one with the fewest moduli. For each number of moduli, tries all ways to share the most
/// bits that they hold by first digits (docs/derivations/residues.md, R9) between A and B.
std::optional<Plan> search_residue_plan(const Problem& problem, const Target& target, const Engine& engine);

}  // namespace ozbound
