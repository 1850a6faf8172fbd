// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "allowance.hpp"
#include "certifier.hpp"
#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/real_representation.hpp"

namespace ozbound {
namespace {

/// The bounds of the rows of A B's stacked parts, from those of rows 2i (x) and 2i + 1 (y): |alpha_r| x + |alpha_i| y and
/// |alpha_r| y + |alpha_i| x.
std::vector<double> mixed(const Norms& rows, double alpha_r, double alpha_i) {
  std::vector<double> result;
  for (std::size_t i = 0; i < rows.size(); ++i)
    result.push_back(add_upper(multiply_upper(alpha_r, rows[i]), multiply_upper(alpha_i, rows[i ^ 1])));
  return result;
}

/// The bound of alpha A B's stacked parts from that of A B's. The sum of two minima is at most the minimum of the sums. The
/// power of two near alpha goes to the exponents.
PlanBound times(PlanBound bound, std::complex<double> alpha) {
  const double largest = std::max(std::fabs(alpha.real()), std::fabs(alpha.imag()));
  const int exponent = largest == 0 ? 0 : std::ilogb(largest);
  const double alpha_r =
      std::fabs(std::ldexp(alpha.real(), -exponent));  // < 2; inexact if far smaller than alpha_i, which `up` covers
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
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (j % 1024 == 0) poll_cancelled();
      copy(i, j) = {double_from_bits(matrix.bits(i, j, Part::real)), double_from_bits(matrix.bits(i, j, Part::imaginary))};
    }
  return copy;
}

bool all_finite(const ComplexInputView& matrix) {
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (j % 1024 == 0) poll_cancelled();
      for (const auto of : both_parts)
        if (!is_finite(matrix.bits(i, j, of), binary64)) return false;
    }
  return true;
}

/// True if the target is a norm and C0 makes some parts of A B special, which the norm then leaves out. The parts of A B do not
/// show if such a target is met.
bool norm_without_some(const ComplexProduct& product, const Target& target) {
  return target.kind == Target::Kind::normwise && product.reads_c0() && !all_finite(product.c0);
}

/// The parts of A B only, to be rounded to C's format.
RealProduct parts_of_product(const ComplexProduct& product, const RealFactors& factors) {
  return {factors.a.view(), factors.b.view(), unwritten(2 * product.m(), product.n(), product.c.format())};
}

/// A complex product with an imaginary part in alpha or beta, and its certificate.
class ComplexScalarMultiplication : private Certifier {
 public:
  ComplexScalarMultiplication(const ComplexProduct& product, const Decision& decision, const Backend& backend,
                              const MultiplyOptions& options)
      : Certifier(decision, backend, options, product.c.format(), false, 2),  // with tau of A B
        product_(product),
        factors_(real_factors(product, engine_.threads())) {
    certificate_.alpha = product.alpha.real(), certificate_.beta = product.beta.real();
    certificate_.imaginary = ImaginaryParts{product.alpha.imag(), product.beta.imag()};
  }

  void check() {
    if (decision_.method == Method::native) throw std::invalid_argument("decision: native DGEMM has no complex alpha or beta");
    if (options_.prepared_a != nullptr || options_.prepared_b != nullptr)
      throw std::invalid_argument("prepared operands are for real products");
    if (decision_.method == Method::exact) return;
    check_slices();
    check_residues_held();
    if (const double least = least_bytes(plan()); least > options_.workspace) throw workspace_below(least, product_.k());
  }

  Certificate run() {
    if (product_.reads_c0()) c0_copy_ = copy_of(product_.c0), product_.c0 = c0_copy_;
    take_fingerprints();
    return writing_c([this] { return write(); });
  }

 private:
  /// Refuses residues that may not hold the parts of A B.
  void check_residues_held() {
    if (!product_.has_product() || product_.all_special()) return;
    const bool known = plan().visit([](const SplitPlan&) { return true; },
                                    [this](const ResiduePlan& residues) {
                                      return engine_.has_residues() && 2 * product_.k() <= longest_residue_inner &&
                                             examination().holds(residues);
                                    });
    if (!known) check_held(parts_of_product(product_, factors_), plan(), engine_, 2);
  }

  Certificate write() {
    if (decision_.method == Method::exact || product_.all_special())
      run_exactly();
    else if (decision_.method == Method::one_plan && !relative())
      run_slices();
    else
      run_refined();
    return finish();
  }

  void take_fingerprints() {
    auto& prints = certificate_.fingerprints;
    if (product_.reads_operands())
      prints.a = matrices_.fingerprint(factors_.a.view()), prints.b = matrices_.fingerprint(factors_.b.view());
    if (product_.reads_c0()) prints.c0 = matrices_.fingerprint(stacked_parts(product_.c0, engine_.threads()).view());
  }

  Examination& examination() {
    if (!examination_) examination_ = examiner_.examine(parts_of_product(product_, factors_));
    return *examination_;
  }

  void run_exactly() {
    multiply_exactly(product_, engine_.threads());
    if (!product_.all_special()) certificate_.exact = rows() * cols() - matrices_.count(specials());
    certify_rounding();
  }

  void run_slices() {
    auto bound = examination().bound(plan());
    multiply_with_complex_scalars(product_, plan(), engine_, nullptr, options_.workspace);
    certificate_.plans = {plan()};
    if (norm_without_some(product_, decision_.target))
      set_worst({infinity, 0, 0});
    else if (!correctly_rounded())
      judge_slices(bound, examination());
    const char* const source = plan().visit(
        [](const SplitPlan&) { return "general bound of the parts of A B, times |alpha_r| and |alpha_i|; one rounding"; },
        [](const ResiduePlan&) { return "residues of the parts of A B, times |alpha_r| and |alpha_i|; one rounding"; });
    auto product_bound = times(fetched(std::move(bound)), product_.has_product() ? product_.alpha : 0);
    if (correctly_rounded()) judge_zero_error(product_bound, specials());
    certificate_.bound = rounded(std::move(product_bound), source);
  }

  /// Runs Ziv's test, then more slices, and the superaccumulator for entries that stay open.
  void run_refined() {
    const auto multiply = [this](const Plan& plan) {
      const auto bound = fetched(examination().bound(plan));
      return multiply_with_complex_scalars(product_, plan, engine_, &bound.product, options_.workspace);
    };
    finish_exactly(product_, refine(multiply, [this](const Plan& plan) { return least_bytes(plan); }), engine_.threads());
    certify_rounding();
  }

  [[nodiscard]] double least_bytes(const Plan& plan) const {
    return product_.has_product() ? least_complex_scalar_workspace(engine_, plan, product_.k()) : 0;
  }

  /// The special entries of C's stacked parts. `c0_marks_` has a NaN if C0 makes a component special.
  [[nodiscard]] SpecialEntries specials() {
    const RealProduct parts{factors_.a.view(), factors_.b.view(), marked_c0()};
    auto entries = matrices_.special_entries(parts);
    entries.everywhere = product_.all_special();
    if (product_.reads_c0()) entries.c0 = c0_marks_;
    return entries;
  }

  OutputView marked_c0() {
    c0_marks_ = Matrix<double>(rows(), cols());
    for (Index i = 0; i < rows() && product_.reads_c0(); ++i)
      for (Index j = 0; j < cols(); ++j) {
        if (j % 1024 == 0) poll_cancelled();
        const auto own = both_parts[i % 2], other = both_parts[1 - i % 2];
        const auto marks = [&](double beta, Part part) {
          return !is_zero(beta) && !is_finite(product_.c0.bits(i / 2, j, part), binary64);
        };
        if (marks(product_.beta.real(), own) || marks(product_.beta.imag(), other))
          c0_marks_(i, j) = std::numeric_limits<double>::quiet_NaN();
      }
    return c0_marks_;
  }

  Certificate finish() {
    const auto special = specials();
    auto c = stacked_parts(product_.c.as_input(), engine_.threads());
    const auto facts = examiner_.result_facts(certificate_.bound, nullptr, c.view(), special);
    if (!facts.infinite || !rounds_slices()) return Certifier::finish(facts);
    finish_infinite(matrices_.infinite_entries(c.view(), special));
    c = stacked_parts(product_.c.as_input(), engine_.threads());
    return Certifier::finish(examiner_.result_facts(certificate_.bound, nullptr, c.view(), special));
  }

  /// Finishes both components of an entry if slices round one of them to infinity.
  void finish_infinite(std::vector<Entry> components) {
    for (auto& entry : components) entry.i /= 2;
    std::sort(components.begin(), components.end());
    components.erase(std::unique(components.begin(), components.end()), components.end());
    finish_exactly(product_, components, engine_.threads());
    certificate_.exact += 2 * static_cast<Index>(components.size());
  }

  ComplexProduct product_;
  RealFactors factors_;
  Matrix<std::complex<double>> c0_copy_;
  Matrix<double> c0_marks_;
  std::unique_ptr<Examination> examination_;
};

}  // namespace

namespace {

/// @throws std::invalid_argument for device matrices: products with complex scalars are combined on the host.
void check_in_host(const ComplexProduct& product) {
  if (!product.c.place().is_host())
    throw std::invalid_argument("a, b and c must lie in the host's memory where alpha or beta has an imaginary part");
}

}  // namespace

Decision decide_with_complex_scalars(const ComplexProduct& product, const Target& target, const Backend& backend,
                                     const Choices& wanted) {
  check_in_host(product);
  if (!wanted.slices)
    throw CannotCertify("native DGEMM does not certify " + to_string(target) + ": it has no complex alpha or beta");
  auto choices = wanted;
  choices.native = false;
  const auto factors = real_factors(product, backend.engine().threads());
  const double u = unit_roundoff(product.c.format());
  const bool round = norm_without_some(product, target) && target.tau >= u;
  auto decision = decide_with_findings(parts_of_product(product, factors), product,
                                       round ? Target::correctly_rounded() : target, backend, choices, Purpose::decision)
                      .decision;
  decision.k = product.k(), decision.target = target;
  if (!round) return decision;
  decision.ratio = rounding_ratio_upper(target.tau, u);
  for (auto& candidate : decision.candidates) candidate.ratio = decision.ratio;
  return decision;
}

void check_with_complex_scalars(const ComplexProduct& product, const Decision& decision, const Backend& backend,
                                const MultiplyOptions& options) {
  check_in_host(product);
  ComplexScalarMultiplication(product, decision, backend, options).check();
}

Certificate multiply_with_complex_scalars(const ComplexProduct& product, const Decision& decision, const Backend& backend,
                                          const MultiplyOptions& options) {
  check_in_host(product);
  ComplexScalarMultiplication multiplication(product, decision, backend, options);
  multiplication.check();
  return multiplication.run();
}

Workspace workspace_of(const Decision& decision, std::complex<double> alpha, std::complex<double> beta, const Engine& engine) {
  const FloatEnvironment environment;
  if (!decision.complex) throw std::invalid_argument("decision: is for a real product, not for a complex one");
  if (is_zero(alpha.imag()) && is_zero(beta.imag())) return workspace_of(decision, engine);
  const Index m = decision.m, n = decision.n, k = decision.k;
  const bool reads = !is_zero(alpha) && m > 0 && n > 0 && k > 0;
  if (!decision.plan || decision.method == Method::exact || !reads) return {};
  const auto& plan = *decision.plan;
  const auto full = [&](const Plan& p) { return full_complex_scalar_workspace(engine, p, m, n, k); };
  return {least_complex_scalar_workspace(engine, plan, k), std::max(full(plan), full(last_plan(decision)))};
}

}  // namespace ozbound
