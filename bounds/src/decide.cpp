// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/decide.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "allowance.hpp"
#include "candidates.hpp"
#include "native_bound.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/detail/residue_choice.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

/// Compares the proposals of all allowed ways.
class Chooser {
 public:
  /// @param given the original product; some of its operands may not be read
  Chooser(const RealProduct& product, const RealProduct& given, const Product& stated, const Target& target,
          const Backend& backend, const Choices& choices, const Encoding& encoding, double workspace)
      : backend_(backend),
        choices_(choices),
        encoding_(encoding),
        problem_{product,
                 stated,
                 target,
                 given.k(),
                 unit_roundoff(product.c.format()),
                 target_tau(target, given.k(), product.c.format(), has_scalars(given.alpha, given.beta)),
                 choices.costs == nullptr ? backend.costs() : *choices.costs,
                 most_started_within(workspace, product)},
        examination_(backend.examiner().examine(product)) {}

  Decided choose(Purpose purpose) {
    if (!encoding_.common_ratio())
      throw std::invalid_argument("encoding must have a common ratio, as exact accumulation takes: " + to_string(encoding_));
    const auto& target = problem_.target;
    if (target.kind != Target::Kind::correctly_rounded) check_attainable(target, problem_.tau, problem_.u);
    std::optional<NativeGuarantee> guarantee;
    Proposal native, residues, slices, exact;
    // The guarantee comes after the facts for residues, if these are looked for. A device finds both at once.
    const auto consider_native = [&] {
      const bool needed = native_allowed() || !choices_.slices;  // for the message, if it is the only way
      if (needed && !guarantee) guarantee = guarantee_of_native();
      if (native_allowed() && !native.best) native = propose_native(problem_, *guarantee);
      return cost_of(native);
    };
    TargetAllowance allowance(problem_, *examination_);
    if (choices_.slices) {
      const double least_limit = native_may_certify() ? problem_.costs.native(problem_.m(), problem_.n(), problem_.k)
                                                      : std::numeric_limits<double>::infinity();
      if (choices_.residues) residues = propose_residues(problem_, *examination_, allowance, {least_limit, consider_native});
      const double limit = std::min(consider_native(), cost_of(residues));
      // A device searches while the host looks at slices, which seldom are cheaper.
      if (auto& evidence = residues.evidence; evidence && !evidence->worst && purpose == Purpose::product)
        evidence->worst = search_worst(allowance.get(), evidence->bound);
      with_memory_of(residues,
                     [&] { slices = propose_slices(problem_, encoding_, *examination_, allowance, limit, residues); });
      exact = propose_exact(problem_);
    } else {
      consider_native();
    }
    const auto all = {&slices, &residues, &native, &exact};
    auto& chosen =
        **std::ranges::min_element(all, {}, [](const Proposal* one) { return cost_of(*one); });  // the first of equal costs
    if (!chosen.best)
      throw CannotCertify("native " + gemm_name(problem_.product.c.format(), problem_.stated.is_complex()) +
                          " does not certify " + to_string(target) + ": " +
                          native_refusal(*guarantee, target, problem_.k, problem_.product));
    if (&chosen != &residues) residues.started.reset();
    auto decision = decision_for(*chosen.best, chosen.reason);
    for (auto* const proposal : all)
      decision.candidates.insert(decision.candidates.end(), proposal->looked_at.begin(), proposal->looked_at.end());
    std::optional<OperandRecord> record;
    if (purpose == Purpose::product) {
      record = examination_->record();
      if (auto& evidence = chosen.evidence; evidence && !evidence->worst)
        with_memory_of(chosen,
                       [&] { evidence->worst = [found = rounded(allowance.get().worst(evidence->bound))] { return found; }; });
    }
    return {std::move(decision),
            {std::move(examination_), std::move(record), std::move(guarantee), std::move(chosen.evidence),
             std::move(chosen.started)}};
  }

 private:
  /// Does this work. If memory is short, drops the proposal's started product and does the work again.
  template <class Work>
  static void with_memory_of(Proposal& proposal, const Work& work) {
    try {
      work();
    } catch (const OutOfMemory&) {
      if (proposal.started == nullptr) throw;
      proposal.started.reset();
      work();
    }
  }

  static double cost_of(const Proposal& proposal) {
    return proposal.best ? proposal.best->cost : std::numeric_limits<double>::infinity();
  }

  /// The most moduli of a product that may start before its plan is known, 0 if none may: a few more than targets of binary64
  /// mostly ask for, since memory is taken for all of them.
  [[nodiscard]] int most_started_within(double workspace, const RealProduct& product) const {
    constexpr int most = 15;
    if (workspace == 0 || product.m() == 0 || product.n() == 0 || product.k() == 0) return 0;
    const ResiduePlan plan{most, ResidueNeeds::most_spent_bits, ResidueNeeds::most_spent_bits};
    return backend_.engine().workspace(plan, product.m(), product.n(), product.k()) <= workspace ? most : 0;
  }

  [[nodiscard]] Worst rounded(const Worst& before) const { return after_rounding(before, problem_.tau, problem_.u); }

  /// Null if the search cannot run while the host does other work.
  [[nodiscard]] std::function<Worst()> search_worst(const Allowance& allowance, const PlanBound& bound) const {
    auto before = allowance.search_worst(bound);
    if (!before) return nullptr;
    return [before = std::move(before), tau = problem_.tau, u = problem_.u] { return after_rounding(before(), tau, u); };
  }

  [[nodiscard]] bool native_allowed() const { return choices_.native && backend_.native() != nullptr; }

  /// False if native DGEMM does not certify the target whatever the elements are.
  [[nodiscard]] bool native_may_certify() const {
    const auto& product = problem_.product;
    const ExponentRange no_elements;  // of which nothing overflows or underflows
    return native_allowed() && backend_.native()->is_conventional() &&
           native_lack(*backend_.native(), problem_.stated, product).empty() &&
           native_certifies(native_guarantee(product, no_elements, no_elements, no_elements), problem_.target, problem_.k,
                            product);
  }

  [[nodiscard]] NativeGuarantee guarantee_of_native() const {
    const auto& product = problem_.product;
    std::optional<OuterRanges> outer;
    if (choices_.slices && choices_.residues) outer = examination_->outer_ranges();
    if (!native_allowed()) return native_guarantee(product, backend_.matrices(), outer);
    auto guarantee = native_guarantee(*backend_.native(), product, backend_.matrices(), outer);
    if (auto lack = native_lack(*backend_.native(), problem_.stated, product); !lack.empty())
      guarantee.obstacle = std::move(lack);
    return guarantee;
  }

  [[nodiscard]] Decision decision_for(const Candidate& chosen, const std::string& reason) const {
    const auto& [product, stated, target, k, u, tau, costs, most_started] = problem_;
    return {target,      chosen.method, chosen.plan, product.m(), product.n(),   k,
            chosen.cost, chosen.ratio,  reason,      {},          costs.origin()};
  }

  const Backend& backend_;
  const Choices& choices_;
  const Encoding& encoding_;
  DecisionProblem problem_;
  std::unique_ptr<Examination> examination_;
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
                             const Choices& choices, Purpose purpose, const Encoding& encoding, double workspace) {
  if (product.n() > 0 && product.m() > std::numeric_limits<Index>::max() / 8 / product.n())
    throw std::length_error("a product of " + shape_text(stated.m(), stated.n()) + " is too large");
  if (std::isnan(target.tau)) throw std::invalid_argument("target: tau must not be NaN");
  auto read = product.without_unread();
  // A scalar that is not finite makes every entry special, so that no entry needs a bound.
  if (!is_finite(bits_of(read.alpha), binary64)) read.alpha = 1;
  if (!is_finite(bits_of(read.beta), binary64)) read.beta = 0;
  auto decided = Chooser(read, product, stated, target, backend, choices, encoding, workspace).choose(purpose);
  auto& decision = decided.decision;
  if (stated.is_complex()) decision.complex = true, decision.m /= 2, decision.k /= 2;
  return decided;
}

namespace {

Decision decide_by_slices_of(const Encoding& encoding, const Product& product, const Target& target, const Backend& backend,
                             const Choices& choices) {
  const FloatEnvironment environment;
  product.check_shapes();
  check_reached(product, backend);
  if (has_complex_scalars(product)) return decide_with_complex_scalars(product.complex(), target, backend, choices);
  const auto stated = without_c(product);
  const NearProduct near(stated, backend);
  return decide_with_findings(near.product(), stated, target, backend, choices, Purpose::decision, encoding).decision;
}

}  // namespace

Decision decide(const Product& product, const Target& target, const Backend& backend, const Choices& choices) {
  return decide_by_slices_of(Encoding::balanced(), product, target, backend, choices);
}

Decision decide_by(const Encoding& encoding, const Product& product, const Target& target, const Backend& backend,
                   Choices choices) {
  choices.residues = false;
  return decide_by_slices_of(encoding, product, target, backend, choices);
}

}  // namespace ozbound
