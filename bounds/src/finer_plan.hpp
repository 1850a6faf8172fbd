// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>

#include "ozbound/core/plan.hpp"

namespace ozbound {

/// The plan with half as many slices again; nothing if the number cannot grow.
inline std::optional<SplitPlan> finer_slices(const SplitPlan& plan) {
  const auto more = [](int slices) { return std::min(max_slices, slices + std::max(2, slices / 2)); };
  SplitPlan next = plan;
  next.a.slices = more(plan.a.slices);
  next.b.slices = more(plan.b.slices);
  next.cut = std::min(next.a.slices + next.b.slices, std::max(next.a.slices, next.b.slices) + 1);
  next.accumulation = Accumulation::exact;  // requires a common ratio
  for (auto* const encoding : {&next.a.encoding, &next.b.encoding})
    if (!encoding->common_ratio()) *encoding = Encoding::nearest(encoding->beta);
  if (next == plan) return std::nullopt;
  return next;
}

/// The plan with half as many moduli again, and as many more bits as its guard allows. It holds all products that this plan
/// holds (docs/derivations/residues.md, R13).
inline std::optional<ResiduePlan> finer_residues(const ResiduePlan& plan) {
  ResiduePlan next = plan;
  next.moduli = std::min(max_moduli, plan.moduli + std::max(2, plan.moduli / 2));
  if (next == plan) return std::nullopt;
  const auto limit = guard_limit(plan);
  for (;;) {
    auto more = next;
    (more.bits_a <= more.bits_b ? more.bits_a : more.bits_b) += 1;
    if (std::max(more.bits_a, more.bits_b) > most_residue_bits || guard_limit(more) < limit) return next;
    next = more;
  }
}

/// The plan for the next multiplication of entries that are still open.
inline std::optional<Plan> finer(const Plan& plan) {
  return plan.visit([](const SplitPlan& slices) -> std::optional<Plan> { return finer_slices(slices); },
                    [](const ResiduePlan& residues) -> std::optional<Plan> { return finer_residues(residues); });
}

}  // namespace ozbound
