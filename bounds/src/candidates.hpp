// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
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

/// Smallest share of entries that Ziv's test is expected to leave open after products of slices.
inline constexpr double least_open_share = 0x1p-7;

/// The product and the target for which ways are proposed.
struct DecisionProblem {
  const RealProduct& product;  ///< without unread operands
  const Product& stated;       ///< as in decide_with_findings
  const Target& target;
  Index k;  ///< inner dimension of the original product, even if its operands are not read
  double u, tau;
  const CostModel& costs;
  int most_started = 0;  ///< moduli of a product that may start before it is decided; 0: none may

  [[nodiscard]] Index m() const { return product.m(); }
  [[nodiscard]] Index n() const { return product.n(); }
  [[nodiscard]] double exact_cost() const { return costs.exact(m(), n(), k); }

  /// The ratio of a correctly rounded C.
  [[nodiscard]] double rounded_ratio() const {
    return target.kind == Target::Kind::correctly_rounded ? 1 : rounding_ratio_upper(tau, u);
  }
};

/// Makes the target's Allowance on first use, since some targets read all entries; and the probes of refined products.
class TargetAllowance {
 public:
  TargetAllowance(const DecisionProblem& problem, Examination& examination) : problem_(problem), examination_(examination) {}

  const Allowance& get() {
    if (!made_) made_ = examination_.allowance(problem_.target, share_before_rounding_lower(problem_.tau, problem_.u));
    return *made_;
  }

  /// Sample entries of a product that this method refines entry by entry. The allowance of each is the share of M that an error
  /// may reach without leaving the entry open, as far as can be expected.
  const std::vector<Probe>& refined_probes(Method method) {
    if (!refined_ || refined_->method != method) {
      const double share = method == Method::one_plan ? 0x1p-2 * problem_.tau : 0x1p-8 * problem_.u;
      auto probing = examination_.allowance(Target::componentwise(1), share);
      auto probes = probing->probes(8);
      refined_.emplace(method, std::move(probing), std::move(probes));
    }
    return refined_->probes;
  }
  /// The allowance of these samples. @pre refined_probes was called.
  [[nodiscard]] const Allowance& of_refined_probes() const { return *refined_->allowance; }

 private:
  struct Refined {
    Refined(Method of, std::unique_ptr<Allowance> by, std::vector<Probe> found)
        : method(of), allowance(std::move(by)), probes(std::move(found)) {}

    Method method;
    std::unique_ptr<Allowance> allowance;
    std::vector<Probe> probes;
  };

  const DecisionProblem& problem_;
  Examination& examination_;
  std::unique_ptr<Allowance> made_;
  std::optional<Refined> refined_;
};

/// The proposal of one way.
struct Proposal {
  std::vector<Candidate> looked_at;                   ///< for the record, cheapest first
  std::optional<Candidate> best;                      ///< the cheapest that certifies the target
  std::string reason;                                 ///< the reason to choose `best`
  std::optional<Evidence> evidence;                   ///< for the bound of `best`, if it certifies every entry
  std::unique_ptr<StartedProduct> started = nullptr;  ///< under the plan of `best`
};

/// Proposes native GEMM by its guarantee.
Proposal propose_native(const DecisionProblem& problem, const NativeGuarantee& guarantee);

/// Proposes plans of slices of one encoding that cost no more than `limit`: the cheapest whose bound certifies every entry, or
/// otherwise the one whose refinement entry by entry has the least expected cost.
/// @param residues the proposal of residues. If one of its plans certifies every entry, refinement is not needed for such
/// targets, and plans are first tried on one entry.
Proposal propose_slices(const DecisionProblem& problem, const Encoding& encoding, Examination& examination,
                        TargetAllowance& allowance, double limit, const Proposal& residues);

/// The most that a proposal may cost.
struct CostLimit {
  double least;                   ///< the limit is at least this
  std::function<double()> known;  ///< finds the limit, which may take long
};

/// Proposes the plan by residues whose bound certifies every entry with the fewest moduli, if it costs no more than `limit`.
/// For targets refined entry by entry, proposes the plan with the least expected cost.
Proposal propose_residues(const DecisionProblem& problem, Examination& examination, TargetAllowance& allowance,
                          const CostLimit& limit);

/// Proposes the exact superaccumulator, which certifies every attainable target.
Proposal propose_exact(const DecisionProblem& problem);

}  // namespace ozbound
