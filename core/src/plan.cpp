// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/plan.hpp"

#include <stdexcept>

#include "residue_plan_spelling.hpp"
#include "split_plan_spelling.hpp"

namespace ozbound {

const SplitPlan& Plan::split() const {
  return visit([](const SplitPlan& plan) -> const SplitPlan& { return plan; },
               [](const ResiduePlan& plan) -> const SplitPlan& {
                 throw std::invalid_argument("plan must be by slices, not " + spelling_of(plan));
               });
}

OperandForm Plan::form(Side side) const {
  const bool rows = side == Side::rows_of_a;
  return visit([rows](const SplitPlan& plan) -> OperandForm { return rows ? plan.a : plan.b; },
               [rows](const ResiduePlan& plan) -> OperandForm { return rows ? plan.a() : plan.b(); });
}

double Plan::operand_bytes(Index m, Index n, Index k) const {
  const auto bytes = [&](int of_a, int of_b) {
    return static_cast<double>(k) * (of_a * static_cast<double>(m) + of_b * static_cast<double>(n));
  };
  return visit([&](const SplitPlan& plan) { return bytes(plan.a.slices, plan.b.slices); },
               [&](const ResiduePlan& plan) { return bytes(plan.moduli, plan.moduli); });
}

int Plan::products() const {
  return visit([](const SplitPlan& plan) { return plan.products(); }, [](const ResiduePlan& plan) { return plan.products(); });
}

void Plan::validate() const {
  visit([](const SplitPlan& plan) { plan.validate(); }, [](const ResiduePlan& plan) { plan.validate(); });
}

std::string to_string(const Plan& plan) {
  return plan.visit([](const SplitPlan& split) { return spelling_of(split); },
                    [](const ResiduePlan& residues) { return spelling_of(residues); });
}

Plan parse_plan(std::string_view text) {
  if (spells_residues(text)) return spelled_residue_plan(text);
  return spelled_split_plan(text);
}

}  // namespace ozbound
