// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "ozbound/bounds/examination.hpp"
#include "ozbound/core/matrices.hpp"
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

/// Widens a range to contain that of a vector's exponents, unless the vector is zero or special.
inline void widen(ExponentRange& range, const VectorScale& scale, bool zero, std::int32_t last_bit) {
  if (zero || scale.special) return;
  range.least = std::min(range.least, last_bit);  // the smallest element's first bit is not below the last bit of all
  range.top = std::max(range.top, scale.exponent - 1);
}

}  // namespace ozbound
