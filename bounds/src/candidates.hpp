// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <memory>
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

/// Share of entries that Ziv's test is expected to leave open at least, after products of slices.
inline constexpr double least_open_share = 0x1p-7;

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

  /// Some entries of a product that is refined entry by entry by this method. Each allows the share of M that an error may be
  /// without leaving the entry open, by expectation.
  [[nodiscard]] std::vector<Probe> refined_probes(Method method, Examination& examination) const {
    const double share = method == Method::one_plan ? 0x1p-2 * tau : 0x1p-8 * u;
    return examination.allowance(Target::componentwise(1), share)->probes(8);
  }
};

/// This makes the target's Allowance when first asked for it, since for some targets all entries are read.
class TargetAllowance {
 public:
  TargetAllowance(const DecisionProblem& problem, Examination& examination) : problem_(problem), examination_(examination) {}

  const Allowance& get() {
    if (!made_) made_ = examination_.allowance(problem_.target, share_before_rounding_lower(problem_.tau, problem_.u));
    return *made_;
  }

 private:
  const DecisionProblem& problem_;
  Examination& examination_;
  std::unique_ptr<Allowance> made_;
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
/// @param last_resort false: one plan by residues certifies every entry, so that no such target is met by refinement
Proposal propose_slices(const DecisionProblem& problem, const Encoding& encoding, Examination& examination,
                        TargetAllowance& allowance, double limit, bool last_resort);

/// The plan by residues whose bound certifies every entry with the fewest moduli, if it costs no more than `limit`; for targets
/// that are refined entry by entry, the one that does so at the least expected cost.
Proposal propose_residues(const DecisionProblem& problem, Examination& examination, TargetAllowance& allowance, double limit);

/// The exact superaccumulator, which certifies every target that can be met.
Proposal propose_exact(const DecisionProblem& problem);

}  // namespace ozbound
