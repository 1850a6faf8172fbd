// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>
#include <utility>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/complex_problem.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "ozbound/verify/verdict.hpp"
#include "properties/case_product.hpp"
#include "properties/properties.hpp"
#include "properties/reference.hpp"
#include "properties/stored_complex.hpp"

// Complex products of a case whose inner dimension is read as pairs. A's columns 2l and 2l + 1 are the real and imaginary parts
// of column l, and B's rows are those of row l. Component by component, a complex product is a real product, so all statements
// about real products apply.

namespace ozbound::properties {
namespace {

using exact_arithmetic::Exact;
using sampling::RandomBits;
using Number = std::complex<double>;

Index index(Part part) { return static_cast<Index>(part); }

/// A complex product in memory. Operands may be stored transposed, conjugated or both; the call then undoes it.
class ComplexCase {
 public:
  ComplexCase(const GemmCase& gemm_case, Number alpha, Number beta)
      : a_(gemm_case.full_a()),
        b_(gemm_case.full_b()),
        c0_(gemm_case.c0.values),
        alpha_(alpha),
        beta_(beta),
        c(m(), n(), gemm_case.c) {
    RandomBits random(gemm_case.seed);
    turned_a_ = random.once_in(2), turned_b_ = random.once_in(2);
    stored_a_ = turned_a_ ? StoredComplex(k(), m(), gemm_case.a.storage) : StoredComplex(m(), k(), gemm_case.a.storage);
    stored_b_ = turned_b_ ? StoredComplex(n(), k(), gemm_case.b.storage) : StoredComplex(k(), n(), gemm_case.b.storage);
    stored_c0_ = StoredComplex(m(), n(), gemm_case.c0.storage);
    fill();
  }

  [[nodiscard]] Index m() const { return a_.rows(); }
  [[nodiscard]] Index n() const { return b_.cols(); }
  [[nodiscard]] Index k() const { return a_.cols() / 2; }
  [[nodiscard]] Number alpha() const { return alpha_; }
  [[nodiscard]] Number beta() const { return beta_; }

  [[nodiscard]] double a(Index i, Index l, Part of) const { return a_(i, 2 * l + index(of)); }
  [[nodiscard]] double b(Index l, Index j, Part of) const { return b_(2 * l + index(of), j); }
  [[nodiscard]] double c0(Index i, Index j, Part of) const { return c0_(i, (j + index(of)) % n()); }

  [[nodiscard]] ComplexProduct product() {
    const auto undone = [](const StoredComplex& matrix, bool turned) {
      return turned ? matrix.input().adjoint() : matrix.input();
    };
    return {undone(stored_a_, turned_a_), undone(stored_b_, turned_b_), c.output(), alpha_, beta_, stored_c0_.input()};
  }

 private:
  static void set(StoredComplex& matrix, bool turned, Index i, Index j, Part of, double x) {
    if (turned)
      matrix.set(j, i, of, of == Part::imaginary ? -x : x);
    else
      matrix.set(i, j, of, x);
  }

  void fill() {
    for (const auto of : both_parts) {
      for (Index l = 0; l < k(); ++l) {
        for (Index i = 0; i < m(); ++i) set(stored_a_, turned_a_, i, l, of, a(i, l, of));
        for (Index j = 0; j < n(); ++j) set(stored_b_, turned_b_, l, j, of, b(l, j, of));
      }
      for (Index i = 0; i < m(); ++i)
        for (Index j = 0; j < n(); ++j) stored_c0_.set(i, j, of, c0(i, j, of));
    }
  }

  Matrix<double> a_, b_, c0_;  ///< parts; C0's imaginary part is its real part, shifted by one column
  Number alpha_, beta_;
  bool turned_a_ = false, turned_b_ = false;
  StoredComplex stored_a_{0, 0}, stored_b_{0, 0}, stored_c0_{0, 0};

 public:
  StoredComplex c;
};

/// A real or imaginary scalar. For a component of C it selects a part of the product, with a sign.
struct OnePart {
  double value;
  Part part;

  [[nodiscard]] Number number() const { return part == Part::real ? Number(value, 0) : Number(0, value); }
  [[nodiscard]] Part met_by(Part of) const { return part == Part::real ? of : other(of); }
  [[nodiscard]] double factor(Part of) const { return part == Part::imaginary && of == Part::real ? -value : value; }
};

/// The real factor that gives a component of C when multiplied by B's stacked parts: rows of the block (a_r, -a_i; a_i, a_r).
Matrix<double> factor_of(const ComplexCase& product, Part of) {
  Matrix<double> rows(product.m(), 2 * product.k());
  for (Index i = 0; i < product.m(); ++i)
    for (Index l = 0; l < product.k(); ++l) {
      const double re = product.a(i, l, Part::real), im = product.a(i, l, Part::imaginary);
      rows(i, 2 * l) = of == Part::real ? re : im;
      rows(i, 2 * l + 1) = of == Part::real ? -im : re;
    }
  return rows;
}

Matrix<double> stacked(const ComplexCase& product) {
  Matrix<double> parts(2 * product.k(), product.n());
  for (Index l = 0; l < product.k(); ++l)
    for (Index j = 0; j < product.n(); ++j)
      for (const auto of : both_parts) parts(2 * l + index(of), j) = product.b(l, j, of);
  return parts;
}

/// A component of C as a real product, under the plan.
StoredMatrix component(const ComplexCase& product, const GemmCase& gemm_case, const OnePart& alpha, const OnePart& beta,
                       Part of, const Engine& engine) {
  Matrix<double> c0(product.m(), product.n());
  for (Index i = 0; i < product.m(); ++i)
    for (Index j = 0; j < product.n(); ++j) c0(i, j) = product.c0(i, j, beta.met_by(of));
  StoredMatrix c(product.m(), product.n(), {.single = gemm_case.c.single});
  multiply_unproven({factor_of(product, alpha.met_by(of)), stacked(product), c.output(), alpha.factor(of), beta.factor(of), c0},
                    gemm_case.plan, engine);
  return c;
}

Finding wrong_component(const ComplexCase& product, Index i, Index j, Part of, std::uint64_t expected, const char* what) {
  return fmt::format("{} C({}, {}) is {:#x}, {} {:#x}; complex alpha ({}, {}), beta ({}, {})", of == Part::real ? "Re" : "Im",
                     i, j, product.c.bits(i, j, of), what, expected, hex_text(product.alpha().real()),
                     hex_text(product.alpha().imag()), hex_text(product.beta().real()), hex_text(product.beta().imag()));
}

Finding judge_products(const GemmCase& gemm_case, const Engine& engine) {
  RandomBits random(gemm_case.seed + 1);
  const OnePart alpha{gemm_case.alpha, random.pick(both_parts)}, beta{gemm_case.beta, random.pick(both_parts)};
  ComplexCase product(gemm_case, alpha.number(), beta.number());
  multiply_unproven(product.product(), gemm_case.plan, engine);
  for (const auto of : both_parts) {
    const auto expected = component(product, gemm_case, alpha, beta, of, engine);
    for (Index i = 0; i < product.m(); ++i)
      for (Index j = 0; j < product.n(); ++j)
        if (product.c.bits(i, j, of) != expected.bits(i, j))
          return wrong_component(product, i, j, of, expected.bits(i, j), "as a real product it is");
  }
  if (!product.c.intact()) return "an element beside C was written";
  return {};
}

/// alpha A B + beta C0 in exact arithmetic, one component.
Exact exact_component(const ComplexCase& product, Index i, Index j, Part of) {
  const bool re = of == Part::real;
  const auto times = [re](Number scalar, const Exact& x_re, const Exact& x_im) {
    const Exact s_re(scalar.real()), s_im(scalar.imag());
    return re ? s_re * x_re - s_im * x_im : s_re * x_im + s_im * x_re;
  };
  Exact p_re, p_im;
  for (Index l = 0; l < product.k(); ++l) {
    const Exact ar(product.a(i, l, Part::real)), ai(product.a(i, l, Part::imaginary));
    const Exact br(product.b(l, j, Part::real)), bi(product.b(l, j, Part::imaginary));
    p_re = p_re + ar * br - ai * bi, p_im = p_im + ar * bi + ai * br;
  }
  return times(product.alpha(), p_re, p_im) +
         times(product.beta(), Exact(product.c0(i, j, Part::real)), Exact(product.c0(i, j, Part::imaginary)));
}

/// A scalar that has an imaginary part most of the time.
Number complex_scalar(double real, RandomBits& random) {
  return {real, random.once_in(4) ? 0 : real * random.between(-3, 3) * 0.375};
}

Finding judge_complex_rounding(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  RandomBits random(gemm_case.seed + 2);
  const auto alpha = complex_scalar(gemm_case.alpha, random), beta = complex_scalar(gemm_case.beta, random);
  if (!std::isfinite(alpha.imag()) || !std::isfinite(beta.imag())) return {};
  ComplexCase product(gemm_case, alpha, beta);
  Decision decision;
  decision.target = Target::correctly_rounded();
  decision.method = Method::correctly_rounded, decision.plan = gemm_case.plan;
  decision.m = product.m(), decision.n = product.n(), decision.k = product.k(), decision.complex = true;
  multiply(product.product(), decision, engine);
  for (Index i = 0; i < product.m(); ++i)
    for (Index j = 0; j < product.n(); ++j)
      for (const auto of : both_parts) {
        const auto expected = exact_arithmetic::rounded_bits(exact_component(product, i, j, of), gemm_case.c.single);
        if (product.c.bits(i, j, of) != expected)
          return wrong_component(product, i, j, of, expected, "rounded correctly it is");
      }
  return {};
}

/// The real product that represents a complex one.
struct ProductOfParts {
  Matrix<double> a, b, c0;

  explicit ProductOfParts(const ComplexCase& product)
      : a(2 * product.m(), 2 * product.k()), b(stacked(product)), c0(2 * product.m(), product.n()) {
    for (const auto of : both_parts) {
      const auto rows = factor_of(product, of);
      for (Index i = 0; i < product.m(); ++i) {
        for (Index l = 0; l < rows.cols(); ++l) a(2 * i + index(of), l) = rows(i, l);
        for (Index j = 0; j < product.n(); ++j) c0(2 * i + index(of), j) = product.c0(i, j, of);
      }
    }
  }
};

/// The stacked parts of C.
template <class Real>
Matrix<Real> stacked_c(const ComplexCase& product) {
  Matrix<Real> c(2 * product.m(), product.n());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) c(i, j) = static_cast<Real>(product.c.value(i / 2, j, both_parts[i % 2]));
  return c;
}

/// Checks the verdicts on a C, and its certificate by check_certificate.
Finding judge_certificate(const ComplexCase& product, const ResultView& c, const Certificate& certificate) {
  const ProductOfParts real(product);
  const Operands operands{real.a.view(),  real.b.view(),          product.alpha().real(), product.beta().real(),
                          real.c0.view(), product.alpha().imag(), product.beta().imag(),  true};
  const ExactOracle oracle(operands);
  const auto bound = [&](Index i, Index j) { return certificate.bound.upper(i, j, c(i, j)); };
  if (const auto within = verify(c, oracle, bound); !within.holds())
    return "the certificate's bound does not hold: " + explain(within);
  if (const auto met = verify(c, oracle, certificate.target); !met.holds()) return "the target is missed: " + explain(met);
  for (const auto& claim : check_certificate(to_json(certificate).dump(), operands, c).claims)
    if (!claim.holds) return "the certificate's claim " + claim.claim + " is wrong: " + claim.finding;
  return {};
}

/// Gives every other case the elements of a complex problem of its sizes.
GemmCase in_families(GemmCase gemm_case, RandomBits& random) {
  if (random.once_in(2)) return gemm_case;
  const auto families = all_families();
  Recipe recipe{families[static_cast<std::size_t>(random.below(static_cast<int>(families.size())))], gemm_case.m(),
                gemm_case.n(), gemm_case.k() / 2};
  recipe.phi = 0.5 * random.between(0, 8), recipe.seed = random();
  const auto problem = generate_complex(recipe);
  gemm_case.a = {Matrix<double>(recipe.m, 2 * recipe.k), {}}, gemm_case.b = {Matrix<double>(2 * recipe.k, recipe.n), {}};
  gemm_case.inner_repeat = 1;
  for (Index l = 0; l < recipe.k; ++l) {
    for (Index i = 0; i < recipe.m; ++i)
      gemm_case.a.values(i, 2 * l) = problem.a(i, l).real(), gemm_case.a.values(i, 2 * l + 1) = problem.a(i, l).imag();
    for (Index j = 0; j < recipe.n; ++j)
      gemm_case.b.values(2 * l, j) = problem.b(l, j).real(), gemm_case.b.values(2 * l + 1, j) = problem.b(l, j).imag();
  }
  return gemm_case;
}

Finding judge_targets(const GemmCase& drawn, const Engine& engine) {
  RandomBits random(drawn.seed + 3);
  const auto gemm_case = in_families(drawn, random);
  auto alpha = complex_scalar(gemm_case.alpha, random);
  const auto beta = complex_scalar(gemm_case.beta, random);
  if (alpha.imag() == 0 && beta.imag() == 0) alpha.imag(1);
  ComplexCase product(gemm_case, alpha, beta);
  const auto target = gemm_case.target.value_or(Target::dgemm());
  const auto certificate = multiply(product.product(), target, engine).certificate;
  if (!certificate.holds) return fmt::format("the certificate does not hold: its ratio is {}", hex_text(certificate.ratio));
  if (gemm_case.c.single) return judge_certificate(product, stacked_c<float>(product), certificate);
  return judge_certificate(product, stacked_c<double>(product), certificate);
}

/// A result of the real product, in the terms of the complex product that it represents.
Multiplied of_complex(Multiplied real) {
  auto& [decision, certificate] = real;
  decision.complex = certificate.complex = true;
  decision.m /= 2, decision.k /= 2, certificate.m /= 2, certificate.k /= 2;
  certificate.worst_part = both_parts[certificate.worst_i % 2], certificate.worst_i /= 2;
  return real;
}

Finding judge_complex_certificates(const GemmCase& gemm_case, const Engine& engine) {
  ComplexCase product(gemm_case, gemm_case.alpha, gemm_case.beta);
  const auto target = gemm_case.target.value_or(Target::dgemm());
  const Index m = product.m(), n = product.n();
  const ProductOfParts real(product);
  StoredMatrix c(2 * m, n, {.single = gemm_case.c.single});
  const auto expected =
      of_complex(multiply({real.a, real.b, c.output(), gemm_case.alpha, gemm_case.beta, real.c0}, target, engine));
  const auto found = multiply(product.product(), target, engine);
  for (Index i = 0; i < 2 * m; ++i)
    for (Index j = 0; j < n; ++j)
      if (const auto of = both_parts[i % 2]; product.c.bits(i / 2, j, of) != c.bits(i, j))
        return wrong_component(product, i / 2, j, of, c.bits(i, j), "as a certified real product it is");
  if (to_json(found.decision) != to_json(expected.decision))
    return "the decision is " + to_json(found.decision).dump() + ", of the real product " + to_json(expected.decision).dump();
  if (to_json(found.certificate) != to_json(expected.certificate))
    return "the certificate is " + to_json(found.certificate).dump() + ", of the real product " +
           to_json(expected.certificate).dump();
  return {};
}

}  // namespace

Property complex_products() {
  return {"complex-products",
          "each component of a complex product, NaN and infinities among them, is a real product with the row (a_r, -a_i) or "
          "(a_i, a_r), "
          "whether alpha and beta are real or imaginary, and however A, B and C lie in memory",
          "docs/adr/0012",
          {.specials = true, .plans = PlanKinds::any},
          judge_products};
}

Property complex_rounding() {
  return {"complex-rounding",
          "cr: each component of alpha A B + beta C0, alpha and beta complex, is the exact one, rounded once",
          "docs/adr/0012",
          {.plans = PlanKinds::any},
          judge_complex_rounding};
}

Property complex_targets() {
  return {
      "complex-targets",
      "for alpha and beta complex, every target tau >= u is certified and met, each component of C is within its bound, and "
      "a second program confirms every claim of the certificate",
      "docs/derivations/targets.md (T3c); docs/derivations/rounding.md (N11)",
      {.largest = 5, .specials = true, .targets = true},
      judge_targets};
}

Property complex_certificates() {
  return {"complex-certificates",
          "decision, C and certificate of a complex product are those of the real product that stands for it, by the sizes and "
          "entries of the complex one",
          "docs/adr/0012",
          {.targets = true},
          judge_complex_certificates};
}

}  // namespace ozbound::properties
