#include "ozbound/bounds/certified_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "allowance.hpp"
#include "evidence.hpp"
#include "finer_plan.hpp"
#include "native_bound.hpp"
#include "ozbound/bounds/operand_access.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The last of the finer plans.
SplitPlan finest(SplitPlan plan) {
  while (const auto next = finer(plan)) plan = *next;
  return plan;
}

bool refines(const Decision& decision) {
  return decision.method == Method::correctly_rounded ||
         (decision.method == Method::slices && decision.target.kind == Target::Kind::relative);
}

std::vector<Entry> intersection(const std::vector<Entry>& x, const std::vector<Entry>& y) {
  std::vector<Entry> both;
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
  return both;
}

class CertifiedGemm {
 public:
  /// @param evidence, reading what was found of these very operands when the decision was made; null: it is found here.
  CertifiedGemm(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options,
                const Evidence* evidence = nullptr, const Reading* reading = nullptr)
      : call_(call.without_unread()),
        k_(call.k()),
        decision_(decision),
        engine_(engine),
        access_(engine),
        options_(options),
        evidence_(evidence),
        reading_(reading),
        prepared_a_(call_.k() > 0 ? options.prepared_a : nullptr),
        prepared_b_(call_.k() > 0 ? options.prepared_b : nullptr),
        u_(unit_roundoff(call.c.format())),
        tau_(target_tau(decision.target, call.k(), call.c.format())) {
    certificate_.target = decision.target;
    certificate_.method = decision.method;
    certificate_.m = call.m(), certificate_.n = call.n(), certificate_.k = call.k();
    certificate_.alpha = call.alpha, certificate_.beta = call.beta, certificate_.narrow = !call.c.is_double();
  }

  /// Refuses a decision that cannot be carried out, before anything is written.
  void check() const {
    if (prepared_a_ != nullptr) prepared_a_->check(call_.a, Side::rows_of_a, decision_, engine_, "prepared_a");
    if (prepared_b_ != nullptr) prepared_b_->check(call_.b, Side::columns_of_b, decision_, engine_, "prepared_b");
    if (decision_.method == Method::slices || decision_.method == Method::correctly_rounded) check_plan();
    if (decision_.method == Method::native) check_native();
  }

  Certificate run() {
    keep_c0();
    take_fingerprints();
    find_specials();
    special_count_ = access_->count(specials_);
    if (special_count_ > 0) access_->apply_specials(call_, specials_);
    if (call_.all_special()) return finish_exact_bound();
    switch (decision_.method) {
      case Method::slices: return decision_.target.kind == Target::Kind::relative ? run_relative() : run_slices();
      case Method::correctly_rounded: return run_ziv();
      case Method::native: return run_native();
      case Method::exact: break;
    }
    access_->multiply_exactly(call_, specials_);
    certificate_.exact = certificate_.m * certificate_.n - special_count_;
    return finish_exact_bound();
  }

 private:
  void check_plan() const {
    plan().validate();
    const bool relative = decision_.method == Method::slices && refines(decision_);
    if (relative && !(tau_ >= u_)) throw std::invalid_argument("decision: relative target is below u");
    const double first = full_workspace(engine_, plan(), prepared_a_ != nullptr ? certificate_.m : 1,
                                        prepared_b_ != nullptr ? certificate_.n : 1, call_.k());
    const double least = std::max(first, relative ? least_workspace(engine_, finest(plan()), call_.k()) : 0);
    if (least > options_.workspace)
      throw std::invalid_argument("workspace must be at least " + std::to_string(static_cast<Index>(std::ceil(least))) +
                                  " bytes for k = " + std::to_string(call_.k()));
  }

  void check_native() const {
    if (options_.native == nullptr) throw std::invalid_argument("decision: needs a native DGEMM, and none is given");
    if (!call_.a.is_double() || !call_.b.is_double() || !call_.c.is_double())
      throw std::invalid_argument("decision: native DGEMM takes binary64 operands");
  }

  /// C0 may be C itself, but it is read again after C is written: by further rounds, and by the comparison with M.
  void keep_c0() {
    if (call_.beta == 0) return;
    c0_copy_ = access_->copy(call_.c0);
    call_.c0 = c0_copy_->view().as_input();
  }

  /// Of what is read.
  void take_fingerprints() {
    auto& prints = certificate_.fingerprints;
    const bool reads = !is_zero(certificate_.alpha) && certificate_.m > 0 && certificate_.n > 0;
    const auto of = [this](const PreparedOperand* prepared, const InputView& operand, std::uint64_t Reading::*read) {
      if (prepared != nullptr) return prepared->fingerprint();
      return reading_ != nullptr ? reading_->*read : access_->fingerprint(operand);
    };
    if (reads) prints.a = of(prepared_a_, call_.a, &Reading::a), prints.b = of(prepared_b_, call_.b, &Reading::b);
    if (!is_zero(call_.beta)) prints.c0 = access_->fingerprint(call_.c0);
  }

  void find_specials() {
    if (reading_ == nullptr)
      specials_ = access_->special_entries(call_);
    else
      specials_ = {reading_->rows, reading_->columns, call_.all_special(), is_zero(call_.beta) ? InputView() : call_.c0};
  }

  [[nodiscard]] DecideOptions scalars() const {
    DecideOptions options;
    options.alpha = call_.alpha, options.beta = call_.beta, options.c0 = call_.c0, options.format = call_.c.format();
    return options;
  }

  /// For the decision's plan alone: the workspace need not hold whole operands under the next ones.
  [[nodiscard]] KeptSlices kept(const SplitPlan& plan) const {
    if (plan != this->plan()) return {};
    return {prepared_a_ == nullptr ? nullptr : prepared_a_->slices(plan.a),
            prepared_b_ == nullptr ? nullptr : prepared_b_->slices(plan.b)};
  }

  [[nodiscard]] PlanBound plan_bound(const SplitPlan& plan) {
    return evidence_ != nullptr && plan == this->plan() ? evidence_->bound : examination().bound(plan);
  }

  /// With one rounding.
  [[nodiscard]] ErrorBound error_bound(PlanBound of) const {
    auto bound = fetched(std::move(of));
    auto result = rounding_bound();
    result.source =
        "general bound: sum_p h(A_p, T^B_c(p)) + h(T^A_sA, B), or k rho sigma (sum_p a_p t_c(p) + t_sA); one rounding";
    result.product = std::move(bound.product);
    result.row_exponents = std::move(bound.row_exponents), result.column_exponents = std::move(bound.column_exponents);
    return result;
  }

  /// One rounding to C's format and nothing else.
  [[nodiscard]] ErrorBound rounding_bound() const {
    ErrorBound bound;
    bound.source = "correctly rounded: u |C^| or eta/2";
    bound.alpha = call_.alpha;
    bound.result_factor = u_;
    bound.underflow = call_.c.is_double() ? 0x1p-1074 : 0x1p-150;
    bound.row_exponents.assign(static_cast<std::size_t>(certificate_.m), 0);
    bound.column_exponents.assign(static_cast<std::size_t>(certificate_.n), 0);
    return bound;
  }

  [[nodiscard]] const SplitPlan& plan() const {
    if (!decision_.plan) throw std::invalid_argument("decision: plan is missing");
    return *decision_.plan;
  }

  Certificate run_slices() {
    auto bound = plan_bound(plan());
    access_->multiply_finite(call_, plan(), kept(plan()), options_.workspace);
    certificate_.plans = {plan()};
    if (decision_.target.kind == Target::Kind::correctly_rounded)
      judge_zero_error(fetched(bound).product);
    else
      judge_slices(bound);
    bound_there_ = bound.there;
    certificate_.bound = error_bound(std::move(bound));
    return finish();
  }

  /// A plan without Ziv's test is correctly rounded where its error bound is zero.
  void judge_zero_error(const EntryBound& bound) {
    if (const auto inexact = access_->last_inexact(bound, specials_)) set_worst({infinity, inexact->i, inexact->j});
    if (certificate_.ratio == 0) certificate_.ratio = 1;
  }

  void judge_slices(const PlanBound& bound) {
    if (evidence_ != nullptr) return set_worst(evidence_->worst);
    if (!(tau_ >= u_)) return set_worst({infinity, 0, 0});
    const double factor = divide_lower(subtract_lower(tau_, u_), add_upper(1, 2 * u_));
    set_worst(examination().allowance(decision_.target, factor)->worst(bound));
  }

  /// Of the operands, made when first needed.
  Examination& examination() {
    if (!examination_) {
      scalars_ = scalars();
      examination_ = access_->examine({call_.a, call_.b, prepared_a_, prepared_b_}, scalars_);
    }
    return *examination_;
  }

  /// Multiplies with ever more slices; `open` gives the entries of a product that its error bound leaves open. What finishing
  /// exactly costs no more than the next product is finished exactly, and what the workspace has no room for: cr has the same
  /// bits either way, and `relative` was given room for every plan.
  template <class Open>
  void refine(const Open& open) {
    std::optional<SplitPlan> next = plan();
    std::optional<std::vector<Entry>> undecided;
    while (next && (!undecided || worth_multiplying(*next, *undecided))) {
      certificate_.plans.push_back(*next);
      auto left = open(*next);
      undecided = undecided ? intersection(*undecided, left) : std::move(left);
      if (certificate_.plans.size() == 1) certificate_.undecided = static_cast<Index>(undecided->size());
      next = finer(*next);
    }
    certificate_.exact = static_cast<Index>(undecided->size());
    access_->finish_exactly(call_, *undecided);
  }

  [[nodiscard]] bool worth_multiplying(const SplitPlan& next, const std::vector<Entry>& undecided) const {
    if (least_workspace(engine_, next, call_.k()) > options_.workspace) return false;
    const double entries = static_cast<double>(certificate_.m) * static_cast<double>(certificate_.n);
    const double share = static_cast<double>(undecided.size()) / entries;
    return share * engine_.costs().exact(certificate_.m, certificate_.n, k_) >
           engine_.costs().slices(next, certificate_.m, certificate_.n, k_);
  }

  Certificate run_ziv() {
    refine([this](const SplitPlan& plan) {
      const auto bound = fetched(plan_bound(plan));
      return multiply_finite(call_, plan, engine_, kept(plan), &bound.product, options_.workspace);
    });
    return finish_exact_bound();
  }

  Certificate run_relative() {
    // E + u |C^| <= tau (|C^| (1 - u) - E): E <= |C^| (tau (1 - u) - u) / (1 + tau); docs/derivations/targets.md.
    const double factor = divide_lower(subtract_lower(multiply_lower(tau_, 1 - u_), u_), add_upper(1, tau_));
    double worst = std::min(1.0, divide_upper(u_, tau_));
    refine([&](const SplitPlan& plan) {
      const auto bound = error_bound(plan_bound(plan));
      const auto wide = access_->matrix(certificate_.m, certificate_.n, call_.c.is_double());
      auto product = call_;
      product.c = wide->view();
      multiply_finite(product, plan, engine_, kept(plan), nullptr, options_.workspace);
      auto accepted = access_->accept_relative(product.c.as_input(), bound, factor, specials_, call_.c);
      worst = std::max(worst, accepted.worst);
      return std::move(accepted.open);
    });
    certificate_.bound = rounding_bound();
    certificate_.bound.source = "relative: every entry within tau |C|";
    certificate_.bound.result_factor = divide_upper(tau_, subtract_lower(1, tau_));
    certificate_.ratio = std::min(worst, 1.0);
    return finish();
  }

  Certificate run_native() {
    const auto guarantee = native_guarantee(call_.a, call_.b, scalars(), *access_);
    certificate_.bound = native_error_bound(call_.a, call_.b, guarantee, scalars(), engine_);
    options_.native->dgemm(call_);
    if (special_count_ > 0) access_->apply_specials(call_, specials_);
    certificate_.native = options_.native->name();
    if (native_certifies(guarantee, decision_.target, k_, scalars()))
      set_worst({std::min(1.0, divide_upper(guarantee.factor, tau_)), 0, 0});
    else
      set_worst({infinity, 0, 0});
    if (!guarantee.obstacle.empty()) certificate_.bound.assumptions.push_back("no guarantee: " + guarantee.obstacle);
    return finish();
  }

  Certificate finish_exact_bound() {
    certificate_.bound = rounding_bound();
    const bool rounding_only = decision_.target.kind == Target::Kind::correctly_rounded;
    certificate_.ratio = rounding_only ? 1 : (tau_ >= u_ ? std::min(1.0, divide_upper(u_, tau_)) : infinity);
    return finish();
  }

  void set_worst(const Worst& worst) {
    certificate_.ratio = worst.ratio;
    certificate_.worst_i = worst.i;
    certificate_.worst_j = worst.j;
  }

  Certificate finish() {
    certificate_.holds = certificate_.ratio <= 1;
    const auto of_c = access_->result_facts(certificate_.bound, bound_there_.get(), call_.c.as_input(), specials_);
    certificate_.fingerprints.c = of_c.fingerprint;
    certificate_.largest_bound = of_c.largest_bound;
    return std::move(certificate_);
  }

  GemmCall call_;
  Index k_;
  const Decision& decision_;
  const Engine& engine_;
  AccessOf access_;
  const GemmOptions& options_;
  const Evidence* evidence_;
  const Reading* reading_;
  const PreparedOperand* prepared_a_;  ///< null where A is not read
  const PreparedOperand* prepared_b_;
  double u_;
  double tau_;
  std::unique_ptr<OwnedMatrix> c0_copy_;
  SpecialEntries specials_;
  Index special_count_ = 0;
  DecideOptions scalars_;
  std::unique_ptr<Examination> examination_;
  std::shared_ptr<const BoundThere> bound_there_;  ///< of the certificate's bound
  Certificate certificate_;
};

}  // namespace

Workspace workspace_of(const Decision& decision, const Engine& engine) {
  if (!decision.plan) return {};
  const auto& plan = *decision.plan;
  const auto last = refines(decision) ? finest(plan) : plan;
  const bool stops_early = decision.method == Method::correctly_rounded;
  const auto full = [&](const SplitPlan& p) { return full_workspace(engine, p, decision.m, decision.n, decision.k); };
  return {least_workspace(engine, stops_early ? plan : last, decision.k), std::max(full(plan), full(last))};
}

void check_gemm(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options) {
  const FloatEnvironment environment;
  call.check();
  if (decision.m != call.m() || decision.n != call.n() || decision.k != call.k())
    throw std::invalid_argument("decision: is for " + std::to_string(decision.m) + " x " + std::to_string(decision.n) + " x " +
                                std::to_string(decision.k) + ", not for " + std::to_string(call.m()) + " x " +
                                std::to_string(call.n()) + " x " + std::to_string(call.k()));
  CertifiedGemm(call, decision, engine, options).check();
}

Certificate gemm(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options) {
  const FloatEnvironment environment;
  check_gemm(call, decision, engine, options);
  return CertifiedGemm(call, decision, engine, options).run();
}

DecidedProduct gemm(const GemmCall& call, const Target& target, const Engine& engine, DecideOptions choices,
                    const GemmOptions& options) {
  const FloatEnvironment environment;
  call.check();
  choices.alpha = call.alpha, choices.beta = call.beta, choices.c0 = call.c0, choices.format = call.c.format();
  if (choices.native != nullptr && options.native == nullptr) choices.native = nullptr;
  auto [decision, evidence, reading] =
      decide_with_evidence(call.a, call.b, target, engine, choices, Asked::decision_and_reading);
  check_gemm(call, decision, engine, options);
  auto certificate = CertifiedGemm(call, decision, engine, options, evidence ? &*evidence : nullptr, &*reading).run();
  return {std::move(decision), std::move(certificate)};
}

CertifiedProduct gemm(InputView a, InputView b, const Decision& decision, const Engine& engine, const GemmOptions& options) {
  CertifiedProduct product{Matrix<double>(a.rows(), b.cols()), {}};
  product.certificate = gemm(GemmCall{a, b, product.c}, decision, engine, options);
  return product;
}

}  // namespace ozbound
