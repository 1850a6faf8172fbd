// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "candidates.hpp"
#include "native_bound.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {

Proposal propose_native(const DecisionProblem& problem, const NativeGuarantee& guarantee) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool certifies = native_certifies(guarantee, problem.target, problem.k, problem.product);
  const double share = guarantee.obstacle.empty() && problem.tau > 0 ? divide_upper(guarantee.factor, problem.tau) : infinity;
  const bool exceeds = native_exceeds(guarantee, problem.target, problem.tau);
  const double beyond = exceeds ? share : infinity;  // infinite: underflow, or a target that it never certifies
  const Candidate native{Method::native,
                         {},
                         problem.costs.native(problem.m(), problem.n(), problem.k),
                         certifies ? std::min(share, 1.0) : beyond,
                         certifies};
  Proposal proposal{{native}, {}, "native DGEMM certifies the target and is cheaper than any plan that does", {}};
  if (certifies) proposal.best = native;
  return proposal;
}

}  // namespace ozbound
