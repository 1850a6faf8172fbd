// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "certifier.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

/// The product and the target that ways are proposed for.
struct DecisionProblem {
  const RealProduct& product;  ///< what is read of it
  const Product& stated;       ///< as decide_with_findings has it
  const Target& target;
  Index k;  ///< of the product that is decided for, of which nothing may be read
  double u, tau;
  const CostModel& costs;

  [[nodiscard]] Index m() const { return product.m(); }
  [[nodiscard]] Index n() const { return product.n(); }
  [[nodiscard]] double exact_cost() const { return costs.exact(m(), n(), k); }

  /// The ratio of a correctly rounded C.
  [[nodiscard]] double rounded_ratio() const {
    return target.kind == Target::Kind::correctly_rounded ? 1 : rounding_ratio_upper(tau, u);
  }
};

/// What one way has to offer.
struct Proposal {
  std::vector<Candidate> looked_at;  ///< for the record, cheapest first
  std::optional<Candidate> best;     ///< the cheapest that certifies the target
  std::string reason;                ///< for it
  std::optional<Evidence> evidence;  ///< of its bound, where that certifies every entry
};

/// Native GEMM by its guarantee.
Proposal propose_native(const DecisionProblem& problem, const NativeGuarantee& guarantee);

/// Plans of slices of one encoding that cost no more than `limit`: the cheapest whose bound certifies every entry, else the one
/// that is refined entry by entry at the least expected cost.
Proposal propose_slices(const DecisionProblem& problem, const Encoding& encoding, Examination& examination, double limit);

/// The exact superaccumulator, which certifies every target that can be met.
Proposal propose_exact(const DecisionProblem& problem);

}  // namespace ozbound
