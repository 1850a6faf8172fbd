// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>

#include "ozbound/core/plan.hpp"

namespace ozbound {

/// The plan with half as many slices again; none where there are no more.
inline std::optional<SplitPlan> finer_slices(const SplitPlan& plan) {
  const auto more = [](int slices) { return std::min(max_slices, slices + std::max(2, slices / 2)); };
  SplitPlan next = plan;
  next.a.slices = more(plan.a.slices);
  next.b.slices = more(plan.b.slices);
  next.cut = std::min(next.a.slices + next.b.slices, std::max(next.a.slices, next.b.slices) + 1);
  next.accumulation = Accumulation::exact;  // which takes a common ratio
  for (auto* const encoding : {&next.a.encoding, &next.b.encoding})
    if (!encoding->common_ratio()) *encoding = Encoding::nearest(encoding->beta);
  if (next == plan) return std::nullopt;
  return next;
}

/// What entries that are still open are multiplied with next.
inline std::optional<Plan> finer(const Plan& plan) {
  return plan.visit([](const SplitPlan& slices) -> std::optional<Plan> { return finer_slices(slices); });
}

}  // namespace ozbound
