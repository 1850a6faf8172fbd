// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "ozbound/bounds/examination.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "ozbound/core/vector_norms.hpp"

namespace ozbound {

/// residue_error_upper with the exponents of the scales to which it is relative.
/// @param rows norms of A's m rows @param columns norms of B's n columns @param k the inner dimension
PlanBound residue_plan_bound(std::span<const VectorNorms> rows, std::span<const VectorNorms> columns, const ResiduePlan& plan,
                             Index k);

/// The facts that choose a plan by residues, from the norms of A's rows and B's columns. @pre a FloatEnvironment.
ResidueFacts residue_facts(std::span<const VectorNorms> rows, std::span<const VectorNorms> columns,
                           std::uint64_t largest_units);

}  // namespace ozbound
