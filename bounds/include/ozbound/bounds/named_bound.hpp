#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound {

/// A bound of the truncation error |AB - S| under a name, S the exact sum of a plan's slice products. Rigorous for the plans
/// that it covers: what is registered here is judged by the property `bounds-hold`.
struct NamedBound {
  std::string name;    ///< kebab-case
  std::string source;  ///< paper and equation, or a derivation of docs/

  /// The conditions that its proof needs.
  bool (*covers)(const SplitPlan& plan);

  /// Relative to rho_i sigma_j, rounded up. @pre rows and columns are facts under plan.a and plan.b.
  /// @throws std::invalid_argument for a plan that it does not cover.
  EntryBound (*upper)(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan, Index k);
};

/// All of them, ours first.
std::span<const NamedBound> truncation_bounds();

/// @throws std::invalid_argument listing the names.
const NamedBound& find_truncation_bound(std::string_view name);

}  // namespace ozbound
