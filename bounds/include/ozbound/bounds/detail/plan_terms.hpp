// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "ozbound/bounds/detail/part_norms.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound {

// The terms h(x, y) of a plan's error, in order: visit(name, part of a row, part of a column).

/// Visits the terms of the truncation error. Slices of A that meet all slices of B share one tail of B. Slices of A that meet
/// no slice of B count as part of A's residual.
template <class Visit>
void for_each_truncation_term(const SplitPlan& plan, const Visit& visit) {
  using Kind = VectorPart::Kind;
  const int meet_all = std::clamp(plan.cut - plan.b.slices, 0, plan.a.slices);
  const int meet_some = std::min(plan.cut - 1, plan.a.slices);
  if (meet_all > 0) visit("A leading x B residual", VectorPart{Kind::leading, meet_all}, VectorPart{Kind::tail, plan.b.slices});
  for (int p = meet_all + 1; p <= meet_some; ++p)
    visit("A slice x B tail", VectorPart{Kind::slice, p}, VectorPart{Kind::tail, plan.last_b(p)});
  visit("A residual x B", VectorPart{Kind::tail, meet_some}, VectorPart{Kind::tail, 0});
}

/// Visits the terms of the accumulation error; exact accumulation has no terms.
template <class Visit>
void for_each_accumulation_term(const SplitPlan& plan, Index k, const Visit& visit) {
  using Kind = VectorPart::Kind;
  if (plan.accumulation == Accumulation::exact) return;
  const auto terms = static_cast<double>(plan.groups(k).size());
  visit("accumulation", VectorPart{Kind::all_slices, 0, (terms - 1) * 0x1p-53}, VectorPart{Kind::all_slices, 0, 1});
  if (!plan.common_ratio())
    visit("underflow", VectorPart{Kind::unless_zero, 0, terms * 0x1p-1074}, VectorPart{Kind::unless_zero, 0, 1});
}

}  // namespace ozbound
