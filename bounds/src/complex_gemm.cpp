#include "ozbound/bounds/complex_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "allowance.hpp"
#include "evidence.hpp"
#include "finer_plan.hpp"
#include "ozbound/bounds/operand_access.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"
#include "ozbound/core/real_representation.hpp"

namespace ozbound {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
std::size_t at(Index i) { return static_cast<std::size_t>(i); }
bool finite(std::complex<double> x) { return is_finite(bits_of(x.real()), binary64) && is_finite(bits_of(x.imag()), binary64); }

/// The bounds of the rows of A B's stacked parts, from those of rows 2i (x) and 2i + 1 (y): |alpha_r| x + |alpha_i| y and
/// |alpha_r| y + |alpha_i| x.
std::vector<double> mixed(const std::vector<double>& rows, double alpha_r, double alpha_i) {
  std::vector<double> result;
  for (std::size_t i = 0; i < rows.size(); ++i)
    result.push_back(add_upper(multiply_upper(alpha_r, rows[i]), multiply_upper(alpha_i, rows[i ^ 1])));
  return result;
}

/// The bound of alpha A B's stacked parts from that of A B's: the sum of two minima is at most the minimum of the sums. The
/// power of two that alpha is near goes to the exponents.
PlanBound times(PlanBound bound, std::complex<double> alpha) {
  const double largest = std::max(std::fabs(alpha.real()), std::fabs(alpha.imag()));
  const int exponent = largest == 0 ? 0 : std::ilogb(largest);
  const double alpha_r = std::fabs(std::ldexp(alpha.real(), -exponent));  // < 2; rounded up where it was far smaller
  const double alpha_i = std::fabs(std::ldexp(alpha.imag(), -exponent));
  const auto up = [](double scaled, double original) { return original == 0 ? 0.0 : next_up(scaled); };
  const double r = up(alpha_r, alpha.real()), i = up(alpha_i, alpha.imag());
  for (auto& term : bound.product.terms)
    for (auto& outer : term.alternatives) outer.rows = mixed(outer.rows, r, i);
  bound.product.uniform = multiply_upper(add_upper(r, i), bound.product.uniform);
  for (auto& row : bound.row_exponents) row += exponent;
  return bound;
}

/// A copy in binary64.
Matrix<std::complex<double>> copy_of(const ComplexInputView& matrix) {
  Matrix<std::complex<double>> copy(matrix.rows(), matrix.cols());
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      copy(i, j) = {double_from_bits(matrix.bits(i, j, Part::real)), double_from_bits(matrix.bits(i, j, Part::imaginary))};
  return copy;
}

bool all_finite(const ComplexInputView& matrix) {
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      for (const auto of : both_parts)
        if (!is_finite(matrix.bits(i, j, of), binary64)) return false;
  return true;
}

/// Whether a target is about a norm in which not all parts of A B count, those that C0 makes special being left out: then the
/// parts of A B do not tell whether it is met.
bool norm_without_some(const ComplexGemmCall& call, const Target& target) {
  return target.kind == Target::Kind::normwise && call.reads_c0() && !all_finite(call.c0);
}

/// A complex product where alpha or beta has an imaginary part, and its certificate.
class ScaledCertifiedGemm {
 public:
  ScaledCertifiedGemm(const ComplexGemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options)
      : call_(call),
        decision_(decision),
        engine_(engine),
        access_(engine),
        options_(options),
        reads_(call.reads_operands() && call.k() > 0),
        a_(reads_ ? left_factor(call.a, engine.threads()) : RealMatrix(unread(2 * call.m(), 0))),
        b_(reads_ ? stacked_parts(call.b, engine.threads()) : RealMatrix(unread(0, call.n()))),
        u_(unit_roundoff(call.c.format())),
        tau_(target_tau(decision.target, 2 * call.k(), call.c.format())) {
    certificate_.target = decision.target;
    certificate_.method = decision.method;
    certificate_.m = 2 * call.m(), certificate_.n = call.n(), certificate_.k = 2 * call.k();
    certificate_.alpha = call.alpha.real(), certificate_.beta = call.beta.real();
    certificate_.imaginary = ImaginaryParts{call.alpha.imag(), call.beta.imag()};
    certificate_.narrow = !call.c.is_double();
  }

  void check() const {
    if (decision_.method == Method::native) throw std::invalid_argument("decision: native DGEMM has no complex alpha or beta");
    if (options_.prepared_a != nullptr || options_.prepared_b != nullptr)
      throw std::invalid_argument("prepared operands are for real products");
    if (decision_.method != Method::exact && !decision_.plan) throw std::invalid_argument("decision: plan is missing");
    if (decision_.plan) decision_.plan->validate();
    if (decision_.method == Method::exact) return;
    if (decision_.method == Method::slices && relative() && !(tau_ >= u_))
      throw std::invalid_argument("decision: relative target is below u");
    if (!has_room(*decision_.plan))
      throw std::invalid_argument(
          "workspace must be at least " +
          std::to_string(static_cast<Index>(std::ceil(least_scaled_workspace(engine_, *decision_.plan, call_.k())))) +
          " bytes for k = " + std::to_string(call_.k()));
  }

  Certificate run() {
    if (call_.reads_c0()) c0_copy_ = copy_of(call_.c0), call_.c0 = c0_copy_;
    take_fingerprints();
    if (decision_.method == Method::exact || everywhere())
      run_exactly();
    else if (decision_.method == Method::slices && !relative())
      run_slices();
    else
      run_refined();
    return finish();
  }

 private:
  [[nodiscard]] bool relative() const { return decision_.target.kind == Target::Kind::relative; }
  [[nodiscard]] bool everywhere() const { return (reads_ && !finite(call_.alpha)) || !finite(call_.beta); }

  void take_fingerprints() {
    auto& prints = certificate_.fingerprints;
    const auto of = [this](const ComplexInputView& x) {
      return access_->fingerprint(stacked_parts(x, engine_.threads()).view());
    };
    if (call_.reads_operands())
      prints.a = access_->fingerprint(reads_ ? a_.view() : unread(2 * call_.m(), 0)), prints.b = of(call_.b);
    if (call_.reads_c0()) prints.c0 = of(call_.c0);
  }

  Examination& examination() {
    if (!examination_) examination_ = access_->examine({a_.view(), b_.view()}, scalars_);
    return *examination_;
  }

  void run_exactly() {
    multiply_exactly(call_, engine_.threads());
    if (!everywhere()) certificate_.exact = certificate_.m * certificate_.n - special_count();
    bound_rounding();
  }

  void run_slices() {
    const auto& plan = *decision_.plan;
    auto bound = examination().bound(plan);
    multiply_scaled(call_, plan, engine_, nullptr, options_.workspace);
    certificate_.plans = {plan};
    const bool rounded = decision_.target.kind == Target::Kind::correctly_rounded;
    if (!rounded) set_worst(worst(bound));
    take_bound(times(fetched(std::move(bound)), reads_ ? call_.alpha : 0));
    if (rounded) set_worst(zero_error());
  }

  /// A plan without Ziv's test is correctly rounded where its error bound is zero.
  [[nodiscard]] Worst zero_error() {
    const auto inexact = access_->last_inexact(certificate_.bound.product, specials());
    return inexact ? Worst{infinity, inexact->i, inexact->j} : Worst{1, 0, 0};
  }

  [[nodiscard]] Worst worst(const PlanBound& bound) {
    if (!(tau_ >= u_)) return {infinity, 0, 0};
    if (norm_without_some(call_, decision_.target)) return {infinity, 0, 0};
    const double factor = divide_lower(subtract_lower(tau_, u_), add_upper(1, 2 * u_));
    return examination().allowance(decision_.target, factor)->worst(bound);
  }

  /// Ziv's test, more slices, and the superaccumulator for entries that stay open: as for real products.
  void run_refined() {
    std::optional<SplitPlan> next = decision_.plan;
    std::vector<Entry> open;
    for (bool first = true; next && (first || worth_multiplying(*next, open)); next = finer(*next), first = false) {
      const auto bound = fetched(examination().bound(*next));
      certificate_.plans.push_back(*next);
      open = multiply_scaled(call_, *next, engine_, &bound.product, options_.workspace);
      if (first) certificate_.undecided = 2 * static_cast<Index>(open.size());
    }
    finish_exactly(call_, open, engine_.threads());
    certificate_.exact = 2 * static_cast<Index>(open.size());
    bound_rounding();
  }

  [[nodiscard]] bool worth_multiplying(const SplitPlan& next, const std::vector<Entry>& open) const {
    if (!has_room(next)) return false;
    const double share = 2 * static_cast<double>(open.size()) / static_cast<double>(certificate_.m * certificate_.n);
    const auto& costs = engine_.costs();
    return share * costs.exact(certificate_.m, certificate_.n, certificate_.k) >
           costs.slices(next, certificate_.m, certificate_.n, certificate_.k);
  }

  [[nodiscard]] bool has_room(const SplitPlan& plan) const {
    return !reads_ || least_scaled_workspace(engine_, plan, call_.k()) <= options_.workspace;
  }

  void take_bound(PlanBound of) {
    set_rounding("general bound of the parts of A B, times |alpha_r| and |alpha_i|; one rounding");
    certificate_.bound.product = std::move(of.product);
    certificate_.bound.row_exponents = std::move(of.row_exponents);
    certificate_.bound.column_exponents = std::move(of.column_exponents);
  }

  void bound_rounding() {
    set_rounding("correctly rounded: u |C^| or eta/2");
    const bool rounding_only = decision_.target.kind == Target::Kind::correctly_rounded;
    certificate_.ratio = rounding_only ? 1 : (tau_ >= u_ ? std::min(1.0, divide_upper(u_, tau_)) : infinity);
  }

  void set_rounding(const char* source) {
    auto& bound = certificate_.bound;
    bound.source = source;
    bound.result_factor = u_;
    bound.underflow = call_.c.is_double() ? 0x1p-1074 : 0x1p-150;
    bound.row_exponents.assign(at(certificate_.m), 0), bound.column_exponents.assign(at(certificate_.n), 0);
  }

  void set_worst(const Worst& worst) {
    certificate_.ratio = worst.ratio, certificate_.worst_i = worst.i, certificate_.worst_j = worst.j;
  }

  /// Of the stacked parts of C. Where C0 makes a component special there is a NaN in `c0_marks`.
  [[nodiscard]] SpecialEntries specials() {
    const GemmCall product{a_.view(), b_.view(), marked_c0()};
    auto entries = access_->special_entries(product);
    entries.everywhere = everywhere();
    if (call_.reads_c0()) entries.c0 = c0_marks_;
    return entries;
  }

  OutputView marked_c0() {
    c0_marks_ = Matrix<double>(certificate_.m, certificate_.n);
    for (Index i = 0; i < certificate_.m && call_.reads_c0(); ++i)
      for (Index j = 0; j < certificate_.n; ++j) {
        const auto own = both_parts[i % 2], other = both_parts[1 - i % 2];
        const auto marks = [&](double beta, Part part) {
          return !is_zero(beta) && !is_finite(call_.c0.bits(i / 2, j, part), binary64);
        };
        if (marks(call_.beta.real(), own) || marks(call_.beta.imag(), other))
          c0_marks_(i, j) = std::numeric_limits<double>::quiet_NaN();
      }
    return c0_marks_;
  }

  Index special_count() { return access_->count(specials()); }

  Certificate finish() {
    certificate_.holds = certificate_.ratio <= 1;
    const auto c = stacked_parts(call_.c.as_input(), engine_.threads());
    const auto of_c = access_->result_facts(certificate_.bound, nullptr, c.view(), specials());
    certificate_.fingerprints.c = of_c.fingerprint;
    certificate_.largest_bound = of_c.largest_bound;
    return std::move(certificate_);
  }

  ComplexGemmCall call_;
  const Decision& decision_;
  const Engine& engine_;
  AccessOf access_;
  const GemmOptions& options_;
  bool reads_;  ///< there is an A B
  RealMatrix a_, b_;
  Matrix<std::complex<double>> c0_copy_;
  Matrix<double> c0_marks_;
  double u_, tau_;
  DecideOptions scalars_;  ///< of A B alone
  std::unique_ptr<Examination> examination_;
  Certificate certificate_;
};

void check_sizes(const ComplexGemmCall& call, const Decision& decision) {
  if (decision.m != 2 * call.m() || decision.n != call.n() || decision.k != 2 * call.k())
    throw std::invalid_argument("decision: is for " + std::to_string(decision.m) + " x " + std::to_string(decision.n) + " x " +
                                std::to_string(decision.k) + ", not for the " + std::to_string(2 * call.m()) + " x " +
                                std::to_string(call.n()) + " x " + std::to_string(2 * call.k()) +
                                " that stand for this complex product");
}

/// Of A B alone, for scalars that are not real.
Decision decide_parts(const ComplexGemmCall& call, const Target& target, const Engine& engine, DecideOptions options) {
  if (!options.slices)
    throw CannotCertify("native DGEMM does not certify " + to_string(target) + ": it has no complex alpha or beta");
  options.alpha = 1, options.beta = 0, options.c0 = {}, options.format = call.c.format(), options.native = nullptr;
  const bool reads = call.reads_operands() && call.k() > 0;
  const int threads = engine.threads();
  const bool round = norm_without_some(call, target) && target.tau >= unit_roundoff(call.c.format());
  const auto decided = round ? Target::correctly_rounded() : target;
  auto decision = decide(reads ? left_factor(call.a, threads).view() : unread(2 * call.m(), 0),
                         reads ? stacked_parts(call.b, threads).view() : unread(0, call.n()), decided, engine, options);
  decision.k = 2 * call.k(), decision.target = target;
  return decision;
}

DecideOptions with_scalars(DecideOptions options, const GemmCall& call) {
  options.alpha = call.alpha, options.beta = call.beta, options.c0 = call.c0, options.format = call.c.format();
  return options;
}

}  // namespace

Decision decide(const ComplexGemmCall& call, const Target& target, const Engine& engine, DecideOptions options) {
  call.check_shapes();
  if (!call.real_scalars()) return decide_parts(call, target, engine, std::move(options));
  auto without_c = call;
  without_c.c = unwritten(call.m(), call.n(), call.c.format());
  const auto real = engine.represent(without_c);
  return decide(real->call().a, real->call().b, target, engine, with_scalars(std::move(options), real->call()));
}

Certificate gemm(const ComplexGemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options) {
  const FloatEnvironment environment;
  call.check();
  check_sizes(call, decision);
  if (!call.real_scalars()) {
    ScaledCertifiedGemm product(call, decision, engine, options);
    product.check();
    return product.run();
  }
  const auto real = engine.represent(call);
  auto certificate = gemm(real->call(), decision, engine, options);
  real->write_back();
  return certificate;
}

DecidedProduct gemm(const ComplexGemmCall& call, const Target& target, const Engine& engine, DecideOptions choices,
                    const GemmOptions& options) {
  const FloatEnvironment environment;
  call.check();
  if (!call.real_scalars()) {
    auto decision = decide_parts(call, target, engine, std::move(choices));
    auto certificate = gemm(call, decision, engine, options);
    return {std::move(decision), std::move(certificate)};
  }
  const auto real = engine.represent(call);
  auto product = gemm(real->call(), target, engine, std::move(choices), options);
  real->write_back();
  return product;
}

Workspace workspace_of(const Decision& decision, std::complex<double> alpha, std::complex<double> beta, const Engine& engine) {
  if (decision.m % 2 != 0 || decision.k % 2 != 0)
    throw std::invalid_argument("decision: is for m = " + std::to_string(decision.m) +
                                " and k = " + std::to_string(decision.k) + ", which of a complex product are even");
  if (is_zero(alpha.imag()) && is_zero(beta.imag())) return workspace_of(decision, engine);
  const Index m = decision.m / 2, n = decision.n, k = decision.k / 2;
  const bool reads = !(is_zero(alpha.real()) && is_zero(alpha.imag())) && m > 0 && n > 0 && k > 0;
  if (!decision.plan || decision.method == Method::exact || !reads) return {};
  Workspace workspace{least_scaled_workspace(engine, *decision.plan, k), 0};
  for (std::optional<SplitPlan> plan = decision.plan; plan; plan = finer(*plan)) {
    workspace.full = std::max(workspace.full, full_scaled_workspace(engine, *plan, m, n, k));
    if (decision.method == Method::slices && decision.target.kind != Target::Kind::relative) break;
  }
  return workspace;
}

}  // namespace ozbound
