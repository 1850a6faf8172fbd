// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/multiply.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "candidates.hpp"
#include "certifier.hpp"
#include "native_bound.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

/// A real product under a decision, and its certificate.
class RealMultiplication : private Certifier {
 public:
  /// @param found missing findings are computed here.
  RealMultiplication(const RealProduct& product, const Product& stated, const Decision& decision, const Backend& backend,
                     const MultiplyOptions& options, Findings found = {})
      : Certifier(decision, backend, options, product.c.format(), has_scalars(product.alpha, product.beta), 1),
        product_(product.without_unread()),
        stated_(stated),
        found_(std::move(found)),
        prepared_a_(product_.k() > 0 ? options.prepared_a : nullptr),
        prepared_b_(product_.k() > 0 ? options.prepared_b : nullptr) {
    certificate_.alpha = product.alpha, certificate_.beta = product.beta;
    factor_ = product_.alpha;
  }

  /// Refuses a decision that cannot be carried out, before anything is written.
  void check() {
    if (prepared_a_ != nullptr) prepared_a_->check(product_.a, Side::rows_of_a, decision_, engine_, "prepared_a");
    if (prepared_b_ != nullptr) prepared_b_->check(product_.b, Side::columns_of_b, decision_, engine_, "prepared_b");
    if (decision_.method == Method::one_plan || decision_.method == Method::correctly_rounded) check_plan();
    if (decision_.method == Method::native) check_native();
  }

  /// The certificate under evidence, without multiplying.
  Certificate certify(const Examiner::ResultFacts& of_c) {
    take_fingerprints();
    certificate_.plans = {plan()};
    certificate_.bound = error_bound(plan(), found_.evidence->bound);
    set_worst(found_.evidence->worst());
    return Certifier::finish(of_c);
  }

  /// The certificate of a product that native DGEMM computed, with its special entries.
  Certificate certify_native() {
    take_fingerprints();
    find_specials();
    special_count_ = matrices_.count(specials_);
    return product_.all_special() ? finish_rounded() : finish_native();
  }

  Certificate run() {
    keep_c0();
    take_record();
    take_fingerprints();
    find_specials();
    special_count_ = matrices_.count(specials_);
    const bool needed =
        decision_.method == Method::correctly_rounded || (decision_.method == Method::one_plan && !found_.evidence);
    if (!needed) found_.examination.reset();  // frees memory that the product may need
    return writing_c([this] { return write(); });
  }

 private:
  Certificate write() {
    if (special_count_ > 0) matrices_.apply_specials(product_, specials_);
    if (product_.all_special()) return finish_rounded();
    switch (decision_.method) {
      case Method::one_plan: return relative() ? run_relative() : run_slices();
      case Method::correctly_rounded: return run_ziv();
      case Method::native: return run_native();
      case Method::exact: break;
    }
    matrices_.multiply_exactly(product_, specials_);
    certificate_.exact = rows() * cols() - special_count_;
    return finish_rounded();
  }

  void check_plan() {
    check_slices();
    check_residues_held();
    const auto held = kept(plan());
    const double first =
        full_workspace(engine_, plan(), held.a != nullptr ? rows() : 1, held.b != nullptr ? cols() : 1, product_.k());
    const double least = std::max(first, relative() ? least_workspace(engine_, last_plan(decision_), product_.k()) : 0);
    if (least > options_.workspace) throw workspace_below(least, decision_.k);
  }

  /// Refuses residues that may not hold the product. A decision for these operands, of which there then are findings, takes
  /// only plans that hold it.
  void check_residues_held() {
    const auto known_to_hold = [this](const ResiduePlan& residues) {
      if (product_.all_special() || product_.k() > longest_residue_inner) return false;
      auto examined = examination_if_room();
      if (examined == nullptr || !examined->holds(residues)) return false;
      if (is_zero(product_.beta)) found_.examination = std::move(examined);  // else C0 may be C, which changes
      return true;
    };
    const bool held = found_.record || plan().visit([](const SplitPlan&) { return true; }, known_to_hold);
    if (!held) check_held(product_, plan(), engine_, decision_.complex ? 2 : 1);
  }

  void check_native() const {
    if (backend_.native() == nullptr) throw std::invalid_argument("decision: needs a native DGEMM, and none is given");
    if (const auto lack = native_lack(*backend_.native(), stated_, product_); !lack.empty())
      throw std::invalid_argument("decision: " + lack);
  }

  /// Copies C0, which may be C itself and is read again after C is written: by further rounds, and by the comparison with M.
  void keep_c0() {
    if (product_.beta == 0) return;
    c0_copy_ = matrices_.copy(product_.c0);
    product_.c0 = c0_copy_->view().as_input();
  }

  /// Null if there is not enough memory for it. What it tells is then found in other ways.
  [[nodiscard]] std::unique_ptr<Examination> examination_if_room() const {
    try {
      return examiner_.examine(product_, {prepared_a_, prepared_b_});
    } catch (const OutOfMemory&) {
      return nullptr;
    }
  }

  /// Takes what an examination tells of the operands on the way: a device finds it in one pass, with the ranges that native
  /// DGEMM's guarantee asks for.
  void take_record() {
    if (found_.record || prepared_a_ != nullptr || prepared_b_ != nullptr || product_.all_special() || product_.k() == 0)
      return;
    const bool native = decision_.method == Method::native;
    if (native && !found_.examination) found_.examination = examination_if_room();
    if (!found_.examination) return;
    found_.record = found_.examination->record();
    if (native && !found_.guarantee)
      found_.guarantee = native_guarantee(*backend_.native(), product_, matrices_, found_.examination->outer_ranges());
  }

  /// Takes the fingerprints of the operands that are read.
  void take_fingerprints() {
    auto& prints = certificate_.fingerprints;
    const bool reads = !is_zero(certificate_.alpha) && rows() > 0 && cols() > 0;
    const auto of = [this](const PreparedOperand* prepared, const InputView& operand, std::uint64_t OperandRecord::* read) {
      if (prepared != nullptr) return prepared->fingerprint();
      return found_.record ? (*found_.record).*read : matrices_.fingerprint(operand);
    };
    if (reads)
      prints.a = of(prepared_a_, product_.a, &OperandRecord::a), prints.b = of(prepared_b_, product_.b, &OperandRecord::b);
    if (!is_zero(product_.beta)) prints.c0 = matrices_.fingerprint(product_.c0);
  }

  void find_specials() {
    if (!found_.record)
      specials_ = matrices_.special_entries(product_);
    else
      specials_ = {found_.record->rows, found_.record->columns, product_.all_special(),
                   is_zero(product_.beta) ? InputView() : product_.c0};
  }

  /// Kept operands for the decision's plan only: under finer plans whole operands might not fit the workspace.
  [[nodiscard]] KeptOperands kept(const Plan& plan) const {
    if (plan != this->plan()) return {};
    return {prepared_a_ == nullptr ? nullptr : prepared_a_->integers(plan.form(Side::rows_of_a)),
            prepared_b_ == nullptr ? nullptr : prepared_b_->integers(plan.form(Side::columns_of_b))};
  }

  [[nodiscard]] PlanBound plan_bound(const Plan& plan) {
    return found_.evidence && plan == this->plan() ? found_.evidence->bound : examination().bound(plan);
  }

  /// The error bound of a product under a plan, from the bound before its rounding.
  [[nodiscard]] ErrorBound error_bound(const Plan& plan, PlanBound bound) const {
    const char* const source = plan.visit(
        [](const SplitPlan&) {
          return "general bound: sum_p h(A_p, T^B_c(p)) + h(T^A_sA, B), or k rho sigma (sum_p a_p t_c(p) + t_sA); one rounding";
        },
        [](const ResiduePlan&) {
          return "residues: 1/2 (2^-p_A ||b_j||_1 + 2^-p_B ||a~_i||_1), 0 for what is exact; one rounding";
        });
    return rounded(std::move(bound), source);
  }

  Certificate run_slices() {
    auto bound = plan_bound(plan());
    std::function<Examiner::ResultFacts()> started;
    if (found_.started != nullptr)
      started = found_.started->finish(product_, rounding_bound(), bound.remote.get());
    else
      start_finite(product_, plan(), engine_, kept(plan()), options_.workspace);
    certificate_.plans = {plan()};
    if (correctly_rounded())
      judge_zero_error(bound, specials_);
    else if (!found_.evidence)
      judge_slices(bound, examination());
    remote_bound_ = bound.remote;
    if (!started && remote_bound_ != nullptr)  // the host then copies the bound while the device compares it with C
      started = examiner_.start_result_facts(rounding_bound(), remote_bound_.get(), product_.c.as_input(), specials_);
    certificate_.bound = error_bound(plan(), std::move(bound));
    auto facts = started ? started() : facts_of_c();
    if (facts.infinite) facts = finish_infinite();
    if (!correctly_rounded() && found_.evidence) set_worst(found_.evidence->worst());
    return Certifier::finish(facts);
  }

  /// The examination of the operands, made on first use.
  Examination& examination() {
    if (!found_.examination) found_.examination = examiner_.examine(product_, {prepared_a_, prepared_b_});
    return *found_.examination;
  }

  /// Calls Certifier::refine and finishes the open entries exactly.
  template <class Open>
  void refine_all(const Open& open) {
    matrices_.finish_exactly(product_,
                             refine(open, [this](const Plan& plan) { return least_workspace(engine_, plan, product_.k()); }));
  }

  Certificate run_ziv() {
    refine_all([this](const Plan& plan) {
      const auto bound = plan_bound(plan);
      if (const auto started = std::move(found_.started))  // under the first plan
        if (auto open = started->finish_decided(product_, ziv_bound(bound))) return *std::move(open);
      return multiply_finite(product_, plan, engine_, kept(plan), ziv_bound(bound), options_.workspace);
    });
    return finish_rounded();
  }

  Certificate run_relative() {
    // E + u |C^| <= tau (|C^| (1 - u) - E): E <= |C^| (tau (1 - u) - u) / (1 + tau); docs/derivations/targets.md.
    const double factor = divide_lower(subtract_lower(multiply_lower(tau_, 1 - u_), u_), add_upper(1, tau_));
    double worst = 0;
    refine_all([&](const Plan& plan) {
      const auto bound = plan_bound(plan);
      const auto wide = matrices_.matrix(rows(), cols(), product_.c.is_double());
      auto wide_product = product_;
      wide_product.c = wide->view();
      multiply_finite(wide_product, plan, engine_, kept(plan), nullptr, options_.workspace);
      auto accepted = examiner_.accept_relative(wide_product.c.as_input(), bound, factor_, factor, specials_, product_.c);
      worst = std::max(worst, std::min(1.0, accepted.worst));  // an equal error is accepted, but its quotient rounds up
      return std::move(accepted.open);
    });
    certificate_.bound = rounding_bound();
    certificate_.bound.source = "relative: every entry within tau |C|";
    certificate_.bound.result_factor = divide_upper(tau_, subtract_lower(1, tau_));
    certificate_.ratio = ratio_upper_after_rounding(worst, tau_, u_);
    return finish();
  }

  Certificate run_native() {
    if (!found_.guarantee) found_.guarantee = native_guarantee(*backend_.native(), product_, matrices_);
    multiply_native(*backend_.native(), stated_, product_, special_count_ > 0, engine_.threads());
    if (special_count_ > 0) matrices_.apply_specials(product_, specials_);
    return finish_native();
  }

  /// @pre the guarantee is known.
  Certificate finish_native() {
    const auto& guarantee = *found_.guarantee;
    certificate_.bound = native_error_bound(product_, decision_.complex, guarantee, engine_);
    certificate_.native = backend_.native()->name();
    if (native_certifies(guarantee, decision_.target, decision_.real_k(), product_))
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

  [[nodiscard]] Examiner::ResultFacts facts_of_c() const {
    return examiner_.result_facts(certificate_.bound, remote_bound_.get(), product_.c.as_input(), specials_);
  }

  Certificate finish() { return Certifier::finish(facts_of_c()); }

  /// Sums exactly the entries that are infinite only because slices or residues round to infinity
  /// (docs/derivations/general_bound.md, G6). Returns the facts of C after that.
  Examiner::ResultFacts finish_infinite() {
    const auto entries = matrices_.infinite_entries(product_.c.as_input(), specials_);
    matrices_.finish_exactly(product_, entries);
    certificate_.exact += static_cast<Index>(entries.size());
    return facts_of_c();
  }

  RealProduct product_;
  const Product& stated_;
  Findings found_;
  const PreparedOperand* prepared_a_;  ///< null if A is not read
  const PreparedOperand* prepared_b_;
  std::unique_ptr<OwnedMatrix> c0_copy_;
  SpecialEntries specials_;
  Index special_count_ = 0;
  std::shared_ptr<const RemotePlanBound> remote_bound_;  ///< of the certificate's bound
};

}  // namespace

Workspace workspace_of(const Decision& decision, const Engine& engine) {
  const FloatEnvironment environment;
  if (!decision.plan) return {};
  const auto& plan = *decision.plan;
  const auto last = last_plan(decision);
  const bool stops_early = decision.method == Method::correctly_rounded;
  const auto full = [&](const Plan& p) { return full_workspace(engine, p, decision.real_m(), decision.n, decision.real_k()); };
  return {least_workspace(engine, stops_early ? plan : last, decision.real_k()), std::max(full(plan), full(last))};
}

void check_real(const RealProduct& product, const Product& stated, const Decision& decision, const Backend& backend,
                const MultiplyOptions& options) {
  RealMultiplication(product, stated, decision, backend, options).check();
}

Certificate multiply_real(const RealProduct& product, const Product& stated, const Decision& decision, const Backend& backend,
                          const MultiplyOptions& options, Findings found) {
  RealMultiplication multiplication(product, stated, decision, backend, options, std::move(found));
  multiplication.check();
  return multiplication.run();
}

namespace {

/// @pre native DGEMM certifies the target for these ranges.
Decision native_decision(const RealProduct& product, const Product& stated, const Target& target, const Backend& backend,
                         const NativeGuarantee& guarantee) {
  const Index m = product.m(), n = product.n(), k = product.k();
  const auto& format = product.c.format();
  const auto& costs = backend.costs();
  const DecisionProblem problem{product, stated, target, k, unit_roundoff(format), target_tau(target, k, format, false), costs};
  const auto native = propose_native(problem, guarantee).looked_at.at(0);
  return {target,
          Method::native,
          {},
          m,
          n,
          k,
          native.cost,
          native.ratio,
          "chosen on the device: no plan by residues is cheaper than native DGEMM",
          {native},
          costs.origin()};
}

}  // namespace

std::optional<Multiplied> multiplied_in_stream(const RealProduct& product, const Target& target, const Backend& backend,
                                               StreamRecord record) {
  const FloatEnvironment environment;
  const Product stated = product;
  const MultiplyOptions options;
  Findings found;
  if (record.native) {
    const auto& matrices = backend.matrices();
    if (matrices.fingerprint(product.a) != record.operands.a || matrices.fingerprint(product.b) != record.operands.b)
      return std::nullopt;
    found.record = std::move(record.operands);
    found.guarantee = native_guarantee(*backend.native(), product, matrices, record.ranges);
    auto decision = native_decision(product, stated, target, backend, *found.guarantee);
    auto certificate = RealMultiplication(product, stated, decision, backend, options, std::move(found)).certify_native();
    if (certificate.fingerprints.c != record.of_c.fingerprint) return std::nullopt;
    return Multiplied{std::move(decision), std::move(certificate)};
  }
  const auto& format = product.c.format();
  const auto worst = after_rounding(record.worst, target_tau(target, product.k(), format, false), unit_roundoff(format));
  if (record.of_c.infinite || !(worst.ratio <= 1)) return std::nullopt;
  const Index m = product.m(), n = product.n(), k = product.k();
  const double cost = backend.costs().planned(record.plan, m, n, k);
  const Candidate chosen{Method::one_plan, record.plan, cost, worst.ratio, true};
  Decision decision{
      target,   Method::one_plan,        record.plan, m, n, k, cost, worst.ratio, "chosen on the device, by residues alone",
      {chosen}, backend.costs().origin()};
  found.record = std::move(record.operands);
  found.evidence = Evidence{std::move(record.bound), [entry = worst] { return entry; }};
  auto certificate = RealMultiplication(product, stated, decision, backend, options, std::move(found)).certify(record.of_c);
  return Multiplied{std::move(decision), std::move(certificate)};
}

NearProduct::NearProduct(const Product& product, const Backend& backend, bool bring)
    : as_given_(product.is_complex() ? RealProduct{{}, {}, unwritten(0, 0, product.format())} : product.real()) {
  if (product.is_complex()) real_ = backend.matrices().represent(product.complex());
  if (!bring) return;
  try {
    brought_ = backend.matrices().bring(this->product());
  } catch (const OutOfMemory&) {  // the product then runs in blocks, on the original matrices
  }
}

const RealProduct& NearProduct::product() const {
  if (brought_) return brought_->product();
  return real_ ? real_->product() : as_given_;
}

void NearProduct::write_back() const {
  if (brought_) brought_->write_back();
  if (real_) real_->write_back();
}

namespace {

bool has_prepared(const MultiplyOptions& options) { return options.prepared_a != nullptr || options.prepared_b != nullptr; }

/// Checks that a decision is for a product of this kind and these sizes.
void check_sizes(const Product& product, const Decision& decision) {
  const bool same_kind = decision.complex == product.is_complex();
  if (same_kind && decision.m == product.m() && decision.n == product.n() && decision.k == product.k()) return;
  const auto text = [&](bool complex, Index m, Index n, Index k) {
    const std::string kind = complex ? "a complex " : same_kind ? "" : "a real ";
    return kind + std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
  };
  throw std::invalid_argument("decision: is for " + text(decision.complex, decision.m, decision.n, decision.k) + ", not for " +
                              text(product.is_complex(), product.m(), product.n(), product.k()));
}

}  // namespace

bool has_complex_scalars(const Product& product) { return product.is_complex() && !product.complex().real_scalars(); }

void check_multiply(const Product& product, const Decision& decision, const Backend& backend, const MultiplyOptions& options) {
  const FloatEnvironment environment;
  product.check();
  check_reached(product, backend);
  check_sizes(product, decision);
  if (has_complex_scalars(product)) return check_with_complex_scalars(product.complex(), decision, backend, options);
  check_real(NearProduct(product, backend, false).product(), product, decision, backend, options);
}

Certificate multiply(const Product& product, const Decision& decision, const Backend& backend, const MultiplyOptions& options) {
  const FloatEnvironment environment;
  product.check();
  check_reached(product, backend);
  check_sizes(product, decision);
  if (has_complex_scalars(product)) return multiply_with_complex_scalars(product.complex(), decision, backend, options);
  const NearProduct near(product, backend, !has_prepared(options));
  auto certificate = multiply_real(near.product(), product, decision, backend, options);
  near.write_back();
  return certificate;
}

Multiplied multiply(const Product& product, const Target& target, const Backend& backend, const Choices& choices,
                    const MultiplyOptions& options) {
  const FloatEnvironment environment;
  product.check();
  check_reached(product, backend);
  if (has_complex_scalars(product)) {
    auto decision = decide_with_complex_scalars(product.complex(), target, backend, choices);
    if (options.decided) options.decided(decision);
    auto certificate = multiply_with_complex_scalars(product.complex(), decision, backend, options);
    return {std::move(decision), std::move(certificate)};
  }
  const bool prepared = has_prepared(options);
  const NearProduct near(product, backend, !prepared);
  auto [decision, found] = decide_with_findings(near.product(), product, target, backend, choices, Purpose::product,
                                                Encoding::balanced(), prepared ? 0 : options.workspace);
  if (options.decided) options.decided(decision);
  auto certificate = multiply_real(near.product(), product, decision, backend, options, std::move(found));
  near.write_back();
  return {std::move(decision), std::move(certificate)};
}

CertifiedProduct multiply(InputView a, InputView b, const Decision& decision, const Backend& backend,
                          const MultiplyOptions& options) {
  CertifiedProduct product{Matrix<double>(a.rows(), b.cols()), {}};
  product.certificate = multiply({a, b, product.c}, decision, backend, options);
  return product;
}

}  // namespace ozbound
