// SPDX-License-Identifier: BSD-3-Clause
#include "candidates.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

Proposal propose_exact(const DecisionProblem& problem) {
  const Candidate exact{Method::exact, {}, problem.exact_cost(), problem.rounded_ratio(), true};
  return {{exact}, exact, "the exact superaccumulator is cheaper than any plan that certifies the target", {}};
}

}  // namespace ozbound
