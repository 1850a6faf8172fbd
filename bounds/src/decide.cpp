// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/decide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "allowance.hpp"
#include "certifier.hpp"
#include "native_bound.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"
#include "plans_by_cost.hpp"

namespace ozbound {
namespace {

class Chooser {
 public:
  /// @param given the product that is decided for, some of which may not be read
  /// @param stated as decide_with_findings has it
  Chooser(const RealProduct& product, const RealProduct& given, const Product& stated, const Target& target,
          const Backend& backend, const Choices& choices)
      : product_(product),
        stated_(stated),
        backend_(backend),
        choices_(choices),
        u_(unit_roundoff(product.c.format())),
        tau_(target_tau(target, given.k(), product.c.format(), is_scaled(given.alpha, given.beta))),
        decision_{target, Method::slices, {}, product.m(), product.n(), given.k(), 0, 0, {}, {}, {}},
        examination_(backend.examiner().examine(product, choices.encoding)) {}

  Decided choose(Purpose purpose) {
    if (!choices_.encoding.common_ratio())
      throw std::invalid_argument("encoding must have a common ratio, as exact accumulation takes: " +
                                  to_string(choices_.encoding));
    const auto kind = decision_.target.kind;
    if (kind != Target::Kind::correctly_rounded) check_attainable(decision_.target, tau_, u_);
    std::optional<NativeGuarantee> guarantee;
    if (native_open() || !choices_.slices) guarantee = guarantee_of_native();
    if (native_open()) consider_native(*guarantee);
    if (choices_.slices) consider_slices(kind);
    finish(guarantee);
    std::optional<OperandRecord> record;
    if (purpose == Purpose::product) record = examination_->record();
    return {std::move(decision_), {std::move(examination_), std::move(record), std::move(guarantee), std::move(evidence_)}};
  }

 private:
  [[nodiscard]] Index m() const { return decision_.m; }
  [[nodiscard]] Index n() const { return decision_.n; }
  [[nodiscard]] const CostModel& costs() const { return choices_.costs == nullptr ? backend_.costs() : *choices_.costs; }
  [[nodiscard]] bool native_open() const { return choices_.native && backend_.native() != nullptr; }

  /// The ratio of a correctly rounded C.
  [[nodiscard]] double rounded_ratio() const {
    return decision_.target.kind == Target::Kind::correctly_rounded ? 1 : rounding_ratio_upper(tau_, u_);
  }

  [[nodiscard]] NativeGuarantee guarantee_of_native() const {
    if (!native_open()) return native_guarantee(product_, backend_.matrices());
    auto guarantee = native_guarantee(*backend_.native(), product_, backend_.matrices());
    if (auto lack = native_lack(*backend_.native(), stated_, product_); !lack.empty()) guarantee.obstacle = std::move(lack);
    return guarantee;
  }

  void consider_native(const NativeGuarantee& guarantee) {
    const bool certifies = native_certifies(guarantee, decision_.target, decision_.k, product_);
    const double share = guarantee.obstacle.empty() && tau_ > 0 ? divide_upper(guarantee.factor, tau_) : infinity;
    const bool exceeds = native_exceeds(guarantee, decision_.target, tau_);
    const double beyond = exceeds ? share : infinity;  // underflow, or a target that it never certifies
    const Candidate native{
        Method::native, {}, costs().native(m(), n(), decision_.k), certifies ? std::min(share, 1.0) : beyond, certifies};
    native_ = native;
  }

  /// What any other way may cost at most: a native DGEMM that certifies.
  [[nodiscard]] double native_limit() const { return native_ && native_->certifies ? native_->cost : infinity; }

  void consider_slices(Target::Kind kind) {
    const PlansByCost plans(choices_.encoding, costs(), m(), n(), decision_.k);
    if (native_limit() < plans.cheapest().cost) return;
    if (kind == Target::Kind::correctly_rounded) return choose_refined(plans, 0x1p-8 * u_, Method::correctly_rounded);
    if (kind == Target::Kind::relative) return choose_refined(plans, 0x1p-2 * tau_, Method::slices);
    const auto allowance = examination_->allowance(decision_.target, share_before_rounding_lower(tau_, u_));
    if (!choose_certified(plans, *allowance)) choose_refined(plans, 0x1p-8 * u_, Method::correctly_rounded);
  }

  /// The cheapest plan whose bound certifies the target for every entry, if it costs no more than a native DGEMM that does, or
  /// than the superaccumulator. Plans are tried on a few entries first; an entry that refuses a plan joins them.
  bool choose_certified(PlansByCost plans, const Allowance& allowance) {
    auto probes = allowance.probes(4);
    while (!plans.empty()) {
      poll_cancelled();
      const auto [plan, cost, slices, number] = plans.take();
      if (cost > costs().exact(m(), n(), decision_.k) || cost > native_limit()) return false;
      const double probed = probe(plan, probes, allowance);
      note({Method::slices, plan, cost, ratio_upper_after_rounding(probed, tau_, u_), false});
      if (probed > 1) continue;
      auto found = check_all(plan, allowance);
      const auto worst = found.worst;
      note({Method::slices, plan, cost, worst.ratio, worst.ratio <= 1});
      if (worst.ratio <= 1) {
        evidence_ = std::move(found);
        take({Method::slices, plan, cost, worst.ratio, true}, "cheapest plan whose bound certifies the target");
        return true;
      }
      probes.push_back(allowance.probe(worst.i, worst.j));
    }
    return false;
  }

  /// For results that are refined entry by entry afterwards: the plan with the least cost of its products and of finishing,
  /// exactly, the share of entries that it is expected to leave open: those whose error bound is above `share` of M.
  void choose_refined(PlansByCost plans, double share, Method method) {
    const auto probes = examination_->allowance(Target::componentwise(1), share)->probes(8);
    const double exact = costs().exact(m(), n(), decision_.k);
    // More than a triangular plan is expected to cost the cheapest does not: most others are refused by few probes.
    double limit = std::min({exact, native_limit(), cheapest_triangular(probes, exact)});
    std::optional<Candidate> best;
    while (!plans.empty()) {
      poll_cancelled();
      const auto [plan, cost, slices, number] = plans.take();
      if (cost + least_open_share * exact > limit) break;
      const double expected = expected_cost(plan, cost, exact, limit, probes);
      if (expected > limit || (best && expected == limit)) continue;
      limit = expected, best = Candidate{method, plan, expected, method == Method::slices ? 1 : rounded_ratio(), true};
    }
    if (!best || !(limit < std::min(exact, native_limit()))) return;
    note(*best);
    take(*best, method == Method::correctly_rounded ? "slices, Ziv's test, exact finish: no plan alone certifies every entry"
                                                    : "slices, then more of them where an entry is not certified");
  }

  double probe(const Plan& plan, const std::vector<Probe>& probes, const Allowance& allowance) {
    double worst = 0;
    double total = 0;
    const double uniform = truncation_a_priori_upper(plan, product_.k());
    for (const auto& probe : probes) {
      const double error = examination_->error_at(plan, uniform, probe.i, probe.j);
      worst = std::max(worst, allowance.normwise() ? 0 : ratio_upper(error, probe.allowed));
      if (worst > 1) return worst;
      if (allowance.normwise()) total = std::max(total, allowance.normwise_share(probe.i, probe.j, error));
    }
    return std::max(worst, total);
  }

  /// The least cost of products with s slices each and cut s + 1.
  double cheapest_triangular(const std::vector<Probe>& probes, double exact) {
    double least = infinity;
    for (int s = 1; s <= max_slices; ++s) {
      poll_cancelled();
      const SplitPlan plan{{choices_.encoding, s}, {choices_.encoding, s}, s + 1, Accumulation::exact};
      const double cost = costs().planned(plan, m(), n(), decision_.k);
      if (cost + least_open_share * exact > least) break;
      least = std::min(least, expected_cost(plan, cost, exact, least, probes));
    }
    return least;
  }

  /// The cost of a plan and of finishing exactly the share of probes whose error bound is beyond their allowance, or anything
  /// above `limit`.
  double expected_cost(const Plan& plan, double cost, double exact, double limit, const std::vector<Probe>& probes) {
    const double uniform = truncation_a_priori_upper(plan, product_.k());
    double open = 0, expected = cost + least_open_share * exact;
    for (const auto& probe : probes) {
      if (expected > limit) break;
      if (ratio_upper(examination_->error_at(plan, uniform, probe.i, probe.j), probe.allowed) > 1) ++open;
      expected = cost + std::max(open / static_cast<double>(probes.size()), least_open_share) * exact;
    }
    return expected;
  }

  Evidence check_all(const Plan& plan, const Allowance& allowance) {
    Evidence found{examination_->bound(plan), {}};
    found.worst = after_rounding(allowance.worst(found.bound), tau_, u_);
    return found;
  }

  /// Keeps the best candidate of each number of products, and the one that certifies. Plans come cheapest first.
  void note(const Candidate& candidate) {
    auto& all = decision_.candidates;
    const auto like = std::ranges::find_if(all, [&](const Candidate& other) {
      return other.method == candidate.method && other.plan->products() == candidate.plan->products();
    });
    if (like != all.end()) {
      if (!candidate.certifies && candidate.plan != like->plan && candidate.ratio >= like->ratio) return;
      all.erase(like);
    }
    all.push_back(candidate);
  }

  void take(const Candidate& candidate, std::string reason) {
    chosen_ = candidate;
    decision_.reason = std::move(reason);
  }

  void finish(const std::optional<NativeGuarantee>& guarantee) {
    const Candidate exact{Method::exact, {}, costs().exact(m(), n(), decision_.k), rounded_ratio(), choices_.slices};
    if (native_) decision_.candidates.push_back(*native_);
    if (choices_.slices) decision_.candidates.push_back(exact);
    const double other = chosen_ ? chosen_->cost : exact.cost;
    if (native_ && native_->certifies && (!choices_.slices || native_->cost < other))
      take(*native_, "native DGEMM certifies the target and is cheaper than any plan that does");
    else if (!chosen_ && choices_.slices)
      take(exact, "the exact superaccumulator is cheaper than any plan up to " + std::to_string(max_slices) +
                      " slices that certifies the target");
    if (!chosen_)
      throw CannotCertify("native " + gemm_name(product_.c.format(), stated_.is_complex()) + " does not certify " +
                          to_string(decision_.target) + ": " +
                          native_refusal(*guarantee, decision_.target, decision_.k, product_));
    decision_.method = chosen_->method;
    decision_.plan = chosen_->plan;
    decision_.cost = chosen_->cost;
    decision_.ratio = chosen_->ratio;
    decision_.costs = costs().origin();
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();

  RealProduct product_;
  const Product& stated_;
  const Backend& backend_;
  const Choices& choices_;
  double u_;
  double tau_;
  Decision decision_;
  std::unique_ptr<Examination> examination_;
  std::optional<Candidate> native_;
  std::optional<Candidate> chosen_;
  std::optional<Evidence> evidence_;  ///< of the plan that certifies
};

/// The product with a C that takes no memory.
Product without_c(const Product& product) {
  if (!product.is_complex()) {
    auto p = product.real();
    p.c = unwritten(p.m(), p.n(), p.c.format(), p.c.place());
    return p;
  }
  auto p = product.complex();
  p.c = unwritten_complex(p.m(), p.n(), p.c.format(), p.c.place());
  return p;
}

}  // namespace

Decided decide_with_findings(const RealProduct& product, const Product& stated, const Target& target, const Backend& backend,
                             const Choices& choices, Purpose purpose) {
  if (product.n() > 0 && product.m() > std::numeric_limits<Index>::max() / 8 / product.n())
    throw std::length_error("a product of " + shape_text(stated.m(), stated.n()) + " is too large");
  if (std::isnan(target.tau)) throw std::invalid_argument("target: tau must not be NaN");
  auto read = product.without_unread();
  // A scalar that is not finite makes every entry special: there is nothing to bound.
  if (!is_finite(bits_of(read.alpha), binary64)) read.alpha = 1;
  if (!is_finite(bits_of(read.beta), binary64)) read.beta = 0;
  auto decided = Chooser(read, product, stated, target, backend, choices).choose(purpose);
  auto& decision = decided.decision;
  if (stated.is_complex()) decision.complex = true, decision.m /= 2, decision.k /= 2;
  return decided;
}

Decision decide(const Product& product, const Target& target, const Backend& backend, const Choices& choices) {
  const FloatEnvironment environment;
  product.check_shapes();
  check_reached(product, backend);
  if (has_complex_scalars(product)) return decide_scaled(product.complex(), target, backend, choices);
  const auto stated = without_c(product);
  const NearProduct near(stated, backend);
  return decide_with_findings(near.product(), stated, target, backend, choices, Purpose::decision).decision;
}

}  // namespace ozbound
