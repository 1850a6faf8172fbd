// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/plan.hpp"

#include "split_plan_spelling.hpp"

namespace ozbound {

const SplitPlan& Plan::split() const {
  return visit([](const SplitPlan& plan) -> const SplitPlan& { return plan; });
}

int Plan::products() const {
  return visit([](const SplitPlan& plan) { return plan.products(); });
}

void Plan::validate() const {
  visit([](const SplitPlan& plan) { plan.validate(); });
}

std::string to_string(const Plan& plan) {
  return plan.visit([](const SplitPlan& split) { return spelling_of(split); });
}

Plan parse_plan(std::string_view text) { return spelled_split_plan(text); }

}  // namespace ozbound
