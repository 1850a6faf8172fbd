#include "ozbound/bounds/certified_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "certifier.hpp"
#include "evidence.hpp"
#include "native_bound.hpp"
#include "ozbound/core/call_checks.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {
namespace {

class CertifiedGemm : private Certifier {
 public:
  /// @param evidence, record what was found of these very operands when the decision was made; null: it is found here.
  CertifiedGemm(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options,
                const Evidence* evidence = nullptr, const OperandRecord* record = nullptr)
      : Certifier(decision, engine, options, call.c.format(), 1),
        call_(call.without_unread()),
        evidence_(evidence),
        record_(record),
        prepared_a_(call_.k() > 0 ? options.prepared_a : nullptr),
        prepared_b_(call_.k() > 0 ? options.prepared_b : nullptr) {
    certificate_.alpha = call.alpha, certificate_.beta = call.beta;
    factor_ = call_.alpha;
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
    if (call_.all_special()) return finish_rounded();
    switch (decision_.method) {
      case Method::slices: return relative() ? run_relative() : run_slices();
      case Method::correctly_rounded: return run_ziv();
      case Method::native: return run_native();
      case Method::exact: break;
    }
    access_->multiply_exactly(call_, specials_);
    certificate_.exact = certificate_.m * certificate_.n - special_count_;
    return finish_rounded();
  }

 private:
  void check_plan() const {
    check_slices();
    const double first = full_workspace(engine_, plan(), prepared_a_ != nullptr ? certificate_.m : 1,
                                        prepared_b_ != nullptr ? certificate_.n : 1, call_.k());
    const double least = std::max(first, relative() ? least_workspace(engine_, last_plan(decision_), call_.k()) : 0);
    if (least > options_.workspace) throw workspace_below(least, call_.k());
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

  /// Those of the operands that are read.
  void take_fingerprints() {
    auto& prints = certificate_.fingerprints;
    const bool reads = !is_zero(certificate_.alpha) && certificate_.m > 0 && certificate_.n > 0;
    const auto of = [this](const PreparedOperand* prepared, const InputView& operand, std::uint64_t OperandRecord::*read) {
      if (prepared != nullptr) return prepared->fingerprint();
      return record_ != nullptr ? record_->*read : access_->fingerprint(operand);
    };
    if (reads) prints.a = of(prepared_a_, call_.a, &OperandRecord::a), prints.b = of(prepared_b_, call_.b, &OperandRecord::b);
    if (!is_zero(call_.beta)) prints.c0 = access_->fingerprint(call_.c0);
  }

  void find_specials() {
    if (record_ == nullptr)
      specials_ = access_->special_entries(call_);
    else
      specials_ = {record_->rows, record_->columns, call_.all_special(), is_zero(call_.beta) ? InputView() : call_.c0};
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

  [[nodiscard]] ErrorBound error_bound(PlanBound bound) const {
    return rounded(
        std::move(bound),
        "general bound: sum_p h(A_p, T^B_c(p)) + h(T^A_sA, B), or k rho sigma (sum_p a_p t_c(p) + t_sA); one rounding");
  }

  Certificate run_slices() {
    auto bound = plan_bound(plan());
    access_->multiply_finite(call_, plan(), kept(plan()), options_.workspace);
    certificate_.plans = {plan()};
    if (correctly_rounded())
      judge_zero_error(fetched(bound).product, specials_);
    else if (evidence_ != nullptr)
      set_worst(evidence_->worst);
    else
      judge_slices(bound, examination());
    remote_bound_ = bound.remote;
    certificate_.bound = error_bound(std::move(bound));
    return finish();
  }

  /// The examination of the operands, made when first needed.
  Examination& examination() {
    if (!examination_) {
      scalars_ = scalars();
      examination_ = access_->examine({call_.a, call_.b, prepared_a_, prepared_b_}, scalars_);
    }
    return *examination_;
  }

  /// As Certifier::refine, and finished exactly.
  template <class Open>
  void refine_all(const Open& open) {
    access_->finish_exactly(call_,
                            refine(open, [this](const SplitPlan& plan) { return least_workspace(engine_, plan, call_.k()); }));
  }

  Certificate run_ziv() {
    refine_all([this](const SplitPlan& plan) {
      const auto bound = fetched(plan_bound(plan));
      return multiply_finite(call_, plan, engine_, kept(plan), &bound.product, options_.workspace);
    });
    return finish_rounded();
  }

  Certificate run_relative() {
    // E + u |C^| <= tau (|C^| (1 - u) - E): E <= |C^| (tau (1 - u) - u) / (1 + tau); docs/derivations/targets.md.
    const double factor = divide_lower(subtract_lower(multiply_lower(tau_, 1 - u_), u_), add_upper(1, tau_));
    double worst = 0;
    refine_all([&](const SplitPlan& plan) {
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
    certificate_.ratio = ratio_upper_after_rounding(worst, tau_, u_);
    return finish();
  }

  Certificate run_native() {
    const auto guarantee = native_guarantee(call_.a, call_.b, scalars(), *access_);
    certificate_.bound = native_error_bound(call_.a, call_.b, guarantee, scalars(), engine_);
    options_.native->dgemm(call_);
    if (special_count_ > 0) access_->apply_specials(call_, specials_);
    certificate_.native = options_.native->name();
    if (native_certifies(guarantee, decision_.target, decision_.k, scalars()))
      set_worst({std::min(1.0, divide_upper(guarantee.factor, tau_)), 0, 0});
    else
      set_worst({infinity, 0, 0});
    if (!guarantee.obstacle.empty()) certificate_.bound.assumptions.push_back("no guarantee: " + guarantee.obstacle);
    return finish();
  }

  Certificate finish_rounded() {
    certify_rounding();
    return finish();
  }

  [[nodiscard]] OperandAccess::ResultFacts facts_of_c() const {
    return access_->result_facts(certificate_.bound, remote_bound_.get(), call_.c.as_input(), specials_);
  }

  Certificate finish() {
    auto facts = facts_of_c();
    if (facts.infinite && rounds_slices()) facts = finish_infinite();
    return Certifier::finish(facts);
  }

  /// Entries that slices round to infinity are summed exactly (docs/derivations/general_bound.md, G6).
  OperandAccess::ResultFacts finish_infinite() {
    const auto entries = access_->infinite_entries(call_.c.as_input(), specials_);
    access_->finish_exactly(call_, entries);
    certificate_.exact += static_cast<Index>(entries.size());
    return facts_of_c();
  }

  GemmCall call_;
  const Evidence* evidence_;
  const OperandRecord* record_;
  const PreparedOperand* prepared_a_;  ///< null where A is not read
  const PreparedOperand* prepared_b_;
  std::unique_ptr<OwnedMatrix> c0_copy_;
  SpecialEntries specials_;
  Index special_count_ = 0;
  DecideOptions scalars_;
  std::unique_ptr<Examination> examination_;
  std::shared_ptr<const RemotePlanBound> remote_bound_;  ///< of the certificate's bound
};

}  // namespace

Workspace workspace_of(const Decision& decision, const Engine& engine) {
  const FloatEnvironment environment;
  if (!decision.plan) return {};
  const auto& plan = *decision.plan;
  const auto last = last_plan(decision);
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
  auto [decision, evidence, record] = decide_with_evidence(call.a, call.b, target, engine, choices, Purpose::product);
  check_gemm(call, decision, engine, options);
  auto certificate = CertifiedGemm(call, decision, engine, options, evidence ? &*evidence : nullptr, &*record).run();
  return {std::move(decision), std::move(certificate)};
}

CertifiedProduct gemm(InputView a, InputView b, const Decision& decision, const Engine& engine, const GemmOptions& options) {
  CertifiedProduct product{Matrix<double>(a.rows(), b.cols()), {}};
  product.certificate = gemm(GemmCall{a, b, product.c}, decision, engine, options);
  return product;
}

}  // namespace ozbound
