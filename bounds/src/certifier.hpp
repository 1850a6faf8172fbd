// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "allowance.hpp"
#include "finer_plan.hpp"
#include "ozbound/bounds/detail/target_share.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {

/// The last plan to which a decision may lead: `cr` and `relative` may go on to finer plans. @pre the decision has a plan.
inline Plan last_plan(const Decision& decision) {
  auto plan = *decision.plan;
  const bool relative = decision.method == Method::one_plan && decision.target.kind == Target::Kind::relative;
  if (decision.method != Method::correctly_rounded && !relative) return plan;
  while (const auto next = finer(plan)) plan = *next;
  return plan;
}

/// Carries out a decision and writes its certificate: the part shared by real and complex products.
class Certifier {
 protected:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// @param with_scalars as in target_tau
  /// @param open_together parts of a complex entry that refine() counts if one of them is open. @pre the decision fits.
  Certifier(const Decision& decision, const Backend& backend, const MultiplyOptions& options, const Format& format,
            bool with_scalars, Index open_together)
      : decision_(decision),
        backend_(backend),
        engine_(backend.engine()),
        matrices_(backend.matrices()),
        examiner_(backend.examiner()),
        options_(options),
        u_(unit_roundoff(format)),
        tau_(target_tau(decision.target, decision.real_k(), format, with_scalars)),
        open_together_(open_together) {
    certificate_.target = decision.target;
    certificate_.method = decision.method;
    certificate_.m = decision.m, certificate_.n = decision.n, certificate_.k = decision.k;
    certificate_.complex = decision.complex;
    certificate_.narrow = format.precision == binary32.precision;
  }

  /// Sizes of C as it is multiplied; for a complex C those of its stacked parts.
  [[nodiscard]] Index rows() const { return decision_.real_m(); }
  [[nodiscard]] Index cols() const { return decision_.n; }

  [[nodiscard]] const Plan& plan() const {
    if (!decision_.plan) throw std::invalid_argument("decision: plan is missing");
    return *decision_.plan;
  }

  [[nodiscard]] bool correctly_rounded() const { return decision_.target.kind == Target::Kind::correctly_rounded; }

  /// True if one plan is refined until every entry meets a relative target.
  [[nodiscard]] bool relative() const {
    return decision_.method == Method::one_plan && decision_.target.kind == Target::Kind::relative;
  }

  /// True if C is the rounded sum of one plan. It may then be infinite although the exact entry is not.
  [[nodiscard]] bool rounds_slices() const { return decision_.method == Method::one_plan && !relative(); }

  void check_slices() const {
    plan().validate();
    if (relative()) check_attainable(decision_.target, tau_, u_);
  }

  void set_worst(const Worst& worst) {
    certificate_.ratio = worst.ratio;
    certificate_.worst_i = decision_.complex ? worst.i / 2 : worst.i;
    certificate_.worst_j = worst.j;
    if (decision_.complex) certificate_.worst_part = both_parts[worst.i % 2];
    certificate_.assumed_in_search = worst.assumes;
  }

  /// Handles a plan without Ziv's test: an entry is correctly rounded if its error bound is zero.
  void judge_zero_error(const PlanBound& bound, const SpecialEntries& specials) {
    const auto inexact = examiner_.last_inexact(bound, specials);
    set_worst(inexact ? Worst{infinity, inexact->i, inexact->j} : Worst{1, 0, 0});
  }

  void judge_slices(const PlanBound& bound, Examination& examination) {
    if (!(tau_ >= u_)) return set_worst({infinity, 0, 0});
    const auto allowance = examination.allowance(decision_.target, share_before_rounding_lower(tau_, u_));
    set_worst(after_rounding(allowance->worst(bound), tau_, u_));
  }

  /// The bound of a single rounding to C's format.
  [[nodiscard]] ErrorBound rounding_bound() const {
    ErrorBound bound;
    bound.source = "correctly rounded: u |C^| or eta/2";
    bound.alpha = factor_;
    bound.result_factor = u_;
    bound.underflow = certificate_.narrow ? 0x1p-150 : 0x1p-1074;
    bound.row_exponents.assign(static_cast<std::size_t>(rows()), 0);
    bound.column_exponents.assign(static_cast<std::size_t>(cols()), 0);
    return bound;
  }

  /// The bound of a product with one rounding.
  [[nodiscard]] ErrorBound rounded(PlanBound of, const char* source) const {
    auto bound = fetched(std::move(of));
    auto result = rounding_bound();
    result.source = source;
    result.product = std::move(bound.product);
    result.row_exponents = std::move(bound.row_exponents), result.column_exponents = std::move(bound.column_exponents);
    return result;
  }

  void certify_rounding() {
    certificate_.bound = rounding_bound();
    certificate_.ratio = correctly_rounded() ? 1 : rounding_ratio_upper(tau_, u_);
  }

  /// Multiplies with more and more slices. `open` returns the entries of a product that its error bound leaves open, `least`
  /// the smallest number of bytes that a plan takes. Stops when finishing exactly is cheaper or the workspace is too small;
  /// returns the entries still open. `cr` has the same bits either way, and the workspace for `relative` has room for every
  /// plan.
  template <class Open, class Least>
  std::vector<Entry> refine(const Open& open, const Least& least) {
    std::optional<Plan> next = plan();
    std::optional<std::vector<Entry>> undecided;
    while (next && (!undecided || (least(*next) <= options_.workspace && worth_multiplying(*next, certificate_.exact)))) {
      certificate_.plans.push_back(*next);
      auto left = open(*next);
      undecided = undecided ? intersection(*undecided, left) : std::move(left);
      certificate_.exact = open_together_ * static_cast<Index>(undecided->size());
      if (certificate_.plans.size() == 1) certificate_.undecided = certificate_.exact;
      next = finer(*next);
    }
    return std::move(*undecided);
  }

  Certificate finish(const Examiner::ResultFacts& of_c) {
    certificate_.holds = certificate_.ratio <= 1;
    certificate_.fingerprints.c = of_c.fingerprint;
    certificate_.largest_bound = of_c.largest_bound;
    return std::move(certificate_);
  }

  const Decision& decision_;
  const Backend& backend_;
  const Engine& engine_;
  const Matrices& matrices_;
  const Examiner& examiner_;
  const MultiplyOptions& options_;
  double u_;
  double tau_;
  double factor_ = 1;  ///< factor of E, if alpha is not included in it
  Certificate certificate_;

 private:
  static std::vector<Entry> intersection(const std::vector<Entry>& x, const std::vector<Entry>& y) {
    std::vector<Entry> both;
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
    return both;
  }

  [[nodiscard]] bool worth_multiplying(const Plan& next, Index undecided) const {
    const Index m = rows(), n = cols(), k = decision_.real_k();
    const double share = static_cast<double>(undecided) / (static_cast<double>(m) * static_cast<double>(n));
    return share * engine_.costs().exact(m, n, k) > engine_.costs().planned(next, m, n, k);
  }

  Index open_together_;
};

}  // namespace ozbound
