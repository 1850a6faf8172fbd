// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/multiply.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "ozbound/bounds/recorded_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/real_representation.hpp"
#include "ozbound/verify/problem.hpp"
#include "properties/reference.hpp"
#include "support/classified.hpp"
#include "support/exact.hpp"

// Targets and bounds of complex products, judged for each component in exact arithmetic.

namespace ozbound::complex_gemm_test {
namespace {

using test::Exact;
using test::RandomBits;
using Number = std::complex<double>;
using Numbers = Matrix<Number>;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

/// The inputs of a product and its exact results, with all components stacked: row 2i is real.
struct ComplexSample {
  Numbers a, b, c0;
  Number alpha = 1, beta = 0;

  [[nodiscard]] Index m() const { return a.rows(); }
  [[nodiscard]] Index n() const { return b.cols(); }
  [[nodiscard]] Index k() const { return a.cols(); }
};

/// A sample of a family: the real part of A B is the family's product of inner dimension 2k.
ComplexSample sample_product(Family family, double phi, RandomBits& random, Index m, Index n, Index k) {
  Recipe recipe{family, m, n, 2 * k};
  recipe.phi = phi, recipe.seed = random();
  const auto real = generate(recipe);
  ComplexSample product{Numbers(m, k), Numbers(k, n), Numbers(m, n)};
  for (Index l = 0; l < k; ++l) {
    for (Index i = 0; i < m; ++i) product.a(i, l) = {real.a(i, 2 * l), -real.a(i, 2 * l + 1)};
    for (Index j = 0; j < n; ++j) product.b(l, j) = {real.b(2 * l, j), real.b(2 * l + 1, j)};
  }
  for (Index t = 0; t < m * n; ++t) product.c0.data()[t] = {random.between(-9, 9) * 0.3, random.between(-9, 9) * 0.7};
  return product;
}

ComplexSample sample_product(Family family, double phi, RandomBits& random) {
  const Index m = random.between(1, 5), n = random.between(1, 5), k = random.between(1, 8);
  return sample_product(family, phi, random, m, n, k);
}

/// C in either format, with its values.
struct Result {
  Matrix<std::complex<float>> floats;
  Numbers doubles;
  bool narrow = false;

  Result(const ComplexSample& p, bool is_narrow) : floats(p.m(), p.n()), doubles(p.m(), p.n()), narrow(is_narrow) {}
  Result(Numbers values) : doubles(std::move(values)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] ComplexOutputView output() { return narrow ? ComplexOutputView(floats) : ComplexOutputView(doubles); }
  [[nodiscard]] Number operator()(Index i, Index j) const { return narrow ? Number(floats(i, j)) : doubles(i, j); }
  [[nodiscard]] double u() const { return narrow ? 0x1p-24 : 0x1p-53; }
  [[nodiscard]] Exact half_eta() const { return {1, narrow ? -150 : -1075}; }
  /// The least magnitude that rounds to infinity.
  [[nodiscard]] Exact overflow() const { return narrow ? Exact{1, 128} - Exact{1, 103} : Exact{1, 1024} - Exact{1, 970}; }
  [[nodiscard]] std::uint64_t rounded(const Exact& x) const { return exact_arithmetic::rounded_bits(x, narrow); }
  [[nodiscard]] std::uint64_t bits(double x) const { return narrow ? bits_of(static_cast<float>(x)) : bits_of(x); }
};

double scalar(RandomBits& random) {
  const double choices[] = {0, 1, -1, 0.3, -1.7, 0x1p-30, 0x1.8p20, 3e-7};
  return random.pick(choices);
}

/// Exact parts of an entry and of M. Each is the sum of its terms, or of their magnitudes.
struct Truth {
  std::array<Exact, 2> value, magnitude, c0_magnitude;  ///< magnitude: with C0's

  void add(Number factor, const Exact (&x)[2], const Exact (&x_magnitude)[2]) {
    const Exact r(factor.real()), i(factor.imag());
    value = {value[0] + r * x[0] - i * x[1], value[1] + r * x[1] + i * x[0]};
    magnitude = {magnitude[0] + r.magnitude() * x_magnitude[0] + i.magnitude() * x_magnitude[1],
                 magnitude[1] + r.magnitude() * x_magnitude[1] + i.magnitude() * x_magnitude[0]};
  }
};

Truth truth_of(const ComplexSample& p, Index i, Index j) {
  Exact product[2], magnitude[2];
  for (Index l = 0; l < p.k(); ++l) {
    const Exact ar(p.a(i, l).real()), ai(p.a(i, l).imag()), br(p.b(l, j).real()), bi(p.b(l, j).imag());
    product[0] = product[0] + ar * br - ai * bi, product[1] = product[1] + ar * bi + ai * br;
    magnitude[0] = magnitude[0] + (ar * br).magnitude() + (ai * bi).magnitude();
    magnitude[1] = magnitude[1] + (ar * bi).magnitude() + (ai * br).magnitude();
  }
  Truth truth;
  truth.add(p.alpha, product, magnitude);
  // In a component that is finite, no part of beta multiplies a part of C0 that is not.
  const auto finite = [](double x) { return Exact(std::isfinite(x) ? x : 0); };
  const Exact c0[] = {finite(p.c0(i, j).real()), finite(p.c0(i, j).imag())};
  const Exact c0_magnitude[] = {c0[0].magnitude(), c0[1].magnitude()};
  const auto of_product = truth.magnitude;
  truth.add(p.beta, c0, c0_magnitude);
  for (std::size_t of = 0; of < 2; ++of) truth.c0_magnitude[of] = truth.magnitude[of] - of_product[of];
  return truth;
}

double part(Number x, int of) { return of == 0 ? x.real() : x.imag(); }

/// For one part of a complex product x y: each part of x with its sign, and the part of y that it multiplies.
struct Factor {
  double value;
  int met;
};
std::array<Factor, 2> factors(Number x, int of) { return {{{x.real(), of}, {of == 0 ? -x.imag() : x.imag(), 1 - of}}}; }

/// The special value by its definition: 0 if the component is finite, otherwise its bits.
std::uint64_t special_bits(const ComplexSample& p, Index i, Index j, int of, bool narrow) {
  std::vector<std::vector<double>> terms;
  for (const auto& alpha : factors(p.alpha, of))
    for (Index l = 0; alpha.value != 0 && l < p.k(); ++l)
      for (const auto& a : factors(p.a(i, l), alpha.met)) terms.push_back({alpha.value, a.value, part(p.b(l, j), a.met)});
  for (const auto& beta : factors(p.beta, of))
    if (beta.value != 0) terms.push_back({beta.value, part(p.c0(i, j), beta.met)});
  return exact_arithmetic::special_bits(terms, narrow);
}

/// ||x||^2 of row i of A and of column j of B.
Exact row_squares(const ComplexSample& p, Index i) {
  Exact sum;
  for (Index l = 0; l < p.k(); ++l)
    for (int of = 0; of < 2; ++of) sum = sum + Exact(part(p.a(i, l), of)) * Exact(part(p.a(i, l), of));
  return sum;
}
Exact column_squares(const ComplexSample& p, Index j) {
  Exact sum;
  for (Index l = 0; l < p.k(); ++l)
    for (int of = 0; of < 2; ++of) sum = sum + Exact(part(p.b(l, j), of)) * Exact(part(p.b(l, j), of));
  return sum;
}

/// True if |error| <= tau M for one component. Norms are compared by their squares.
bool meets(const Target& target, double tau, const ComplexSample& p, Index i, Index j, int of, const Truth& truth,
           const Exact& error) {
  const auto& value = truth.value[static_cast<std::size_t>(of)];
  switch (target.kind) {
    case Target::Kind::correctly_rounded: return true;  // compared bit by bit elsewhere
    case Target::Kind::componentwise:
    case Target::Kind::dgemm: return error <= Exact(tau) * truth.magnitude[static_cast<std::size_t>(of)];
    case Target::Kind::dgemm_typical: {  // tau is u: |error| <= sqrt(2k) u M
      const auto share = Exact(tau) * truth.magnitude[static_cast<std::size_t>(of)];
      return error * error <= Exact(static_cast<double>(std::max<Index>(2 * p.k(), 1))) * share * share;
    }
    case Target::Kind::relative: return error <= Exact(tau) * value.magnitude();
    case Target::Kind::rowcol: {
      const auto alpha = Exact(std::fabs(p.alpha.real())) + Exact(std::fabs(p.alpha.imag()));
      const auto norms = Exact(tau) * Exact(tau) * alpha * alpha * row_squares(p, i) * column_squares(p, j);
      const auto c0 = Exact(tau) * truth.c0_magnitude[static_cast<std::size_t>(of)];
      const auto rest = error <= c0 ? Exact() : error - c0;
      return rest * rest <= norms;
    }
    case Target::Kind::normwise: return true;  // judged after the loop
  }
  return false;
}

/// |x - value|. For an infinite x, the distance is measured from the overflow threshold.
Exact error_of(double x, const Exact& value, const Exact& overflow) {
  if (!std::isinf(x)) return (Exact(x) - value).magnitude();
  const auto rest = overflow - (x > 0 ? value : -value);
  return rest.integer < 0 ? Exact() : rest;
}

/// Numbers of components that were judged.
struct Judged {
  Index finite = 0, special = 0;
  Index finite_entries = 0;  ///< entries with a finite component
};

testing::AssertionResult keeps_its_target(const ComplexSample& p, const Target& target, const Result& c,
                                          const Certificate& certificate, Judged& judged) {
  const double tau = target.kind == Target::Kind::dgemm           ? static_cast<double>(2 * p.k()) * c.u()
                     : target.kind == Target::Kind::dgemm_typical ? c.u()
                                                                  : target.tau;
  Exact error_squares, m_squares;
  judged = {};
  for (Index i = 0; i < p.m(); ++i)
    for (Index j = 0; j < p.n(); ++j) {
      const std::uint64_t specials[] = {special_bits(p, i, j, 0, c.narrow), special_bits(p, i, j, 1, c.narrow)};
      if (specials[0] == 0 || specials[1] == 0) ++judged.finite_entries;
      for (int of = 0; of < 2; ++of) {
        const double x = part(c(i, j), of);
        const auto where = [&] {
          std::ostringstream text;
          text << to_string(target) << ", component " << of << " of (" << i << ", " << j << "), alpha " << p.alpha << ", beta "
               << p.beta << ", " << to_string(certificate.method) << (c.narrow ? ", binary32" : "");
          return text.str();
        };
        if (specials[of] != 0) {
          ++judged.special;
          if (c.bits(x) != specials[of]) return testing::AssertionFailure() << where() << ": is " << x;
          continue;
        }
        ++judged.finite;
        const auto truth = truth_of(p, i, j);
        const auto& value = truth.value[static_cast<std::size_t>(of)];
        const auto measured = error_of(x, value, c.overflow());
        const auto error = measured <= c.half_eta() ? Exact() : measured - c.half_eta();  // targets hold up to eta / 2
        if (std::isinf(x) && c.bits(x) != c.rounded(value)) return testing::AssertionFailure() << where() << ": is infinite";
        if (target.kind == Target::Kind::correctly_rounded && c.bits(x) != c.rounded(value))
          return testing::AssertionFailure() << where() << ": is not correctly rounded";
        if (!meets(target, tau, p, i, j, of, truth, error)) return testing::AssertionFailure() << where() << ": misses it";
        const double bound = certificate.bound.upper(i, j, both_parts[of], x);
        if (bound != inf && measured > Exact(bound)) return testing::AssertionFailure() << where() << ": is beyond its bound";
        if (!(bound <= certificate.largest_bound)) return testing::AssertionFailure() << where() << ": largest bound";
        error_squares = error_squares + error * error;
        const auto& m = truth.magnitude[static_cast<std::size_t>(of)];
        m_squares = m_squares + m * m;
      }
    }
  if (target.kind == Target::Kind::normwise && error_squares > Exact(tau) * Exact(tau) * m_squares)
    return testing::AssertionFailure() << "misses " << to_string(target);
  return testing::AssertionSuccess();
}

/// The check above; fails also if a component is not finite.
testing::AssertionResult keeps_its_target(const ComplexSample& p, const Target& target, const Result& c,
                                          const Certificate& certificate) {
  Judged judged;
  auto kept = keeps_its_target(p, target, c, certificate, judged);
  if (kept && judged.finite != 2 * p.m() * p.n()) return testing::AssertionFailure() << judged.special << " special components";
  return kept;
}

const char* const targets[] = {"componentwise:1e-8", "componentwise:1e-13", "dgemm",         "dgemm-typical",
                               "rowcol:1e-12",       "normwise:1e-13",      "relative:1e-9", "cr"};
const char* const narrow_targets[] = {"componentwise:1e-3", "componentwise:1e-7", "dgemm",         "dgemm-typical",
                                      "rowcol:1e-6",        "normwise:1e-7",      "relative:1e-5", "cr"};

TEST(ComplexCertifiedGemm, KeepsItsTargetsByComponent) {
  RandomBits random(1);
  for (const bool narrow : {false, true})
    for (const auto family : all_families())
      for (const double phi : {0.0, 1.0, 4.0})
        for (const auto* const text : narrow ? narrow_targets : targets) {
          auto p = sample_product(family, phi, random);
          p.alpha = {scalar(random), scalar(random)}, p.beta = {scalar(random), scalar(random)};
          if (random.once_in(3)) p.alpha.imag(0), p.beta.imag(0);
          const auto target = parse_target(text);
          Result c(p, narrow);
          const ComplexProduct call{p.a, p.b, c.output(), p.alpha, p.beta, p.c0};
          const auto product = multiply(call, target, engine());
          ASSERT_TRUE(product.certificate.holds) << text << ", " << name(family);
          ASSERT_TRUE(keeps_its_target(p, target, c, product.certificate)) << name(family) << ", phi " << phi;
          const auto before = c;
          const auto again = multiply(call, product.decision, engine());
          ASSERT_EQ(again.ratio <= 1, true);
          for (Index t = 0; t < p.m() * p.n(); ++t)
            ASSERT_EQ(c(t / p.n(), t % p.n()), before(t / p.n(), t % p.n())) << "a replay";
        }
}

/// With NaN and infinities in parts of elements of A, B and C0, each special component follows its definition, the others keep
/// their target, and the certificate counts both.
TEST(ComplexCertifiedGemm, SpecialsOfEveryMatrix) {
  RandomBits random(10);
  for (const bool narrow : {false, true})
    for (const auto family : {Family::uniform, Family::wide_exponents, Family::cancellation})
      for (const auto alpha : {Number(1), Number(0, 1), Number(0.3, -1.7)})
        for (const auto beta : {Number(2), Number(2, 0.5)}) {
          auto p = sample_product(family, 1, random, 4, 3, 6);
          p.alpha = alpha, p.beta = beta;
          p.a(1, 2) = {nan, 1}, p.a(3, 0) = {2, -inf}, p.b(0, 1) = {inf, 0};  // rows 1 and 3, column 1
          p.c0(0, 0) = {1, nan}, p.c0(2, 2) = {inf, -inf};
          const bool one_part = beta.imag() == 0;  // only one part of C(0, 0) is special
          const Index special = 2 * 8 + (one_part ? 1 : 2) + 2, finite_entries = one_part ? 3 : 2;
          const auto judge = [&](const Target& target, const Result& c, const Certificate& certificate) {
            Judged judged;
            ASSERT_TRUE(certificate.holds);
            ASSERT_TRUE(keeps_its_target(p, target, c, certificate, judged)) << name(family);
            ASSERT_EQ(judged.special, special);
            ASSERT_EQ(judged.finite, 24 - special);
            ASSERT_EQ(judged.finite_entries, finite_entries);
          };
          Result c(p, narrow);
          const ComplexProduct call{p.a, p.b, c.output(), p.alpha, p.beta, p.c0};
          for (const auto* const text : narrow ? narrow_targets : targets) {
            const auto target = parse_target(text);
            judge(target, c, multiply(call, target, engine()).certificate);
          }
          Decision decision{Target::correctly_rounded(), Method::exact, {}, 4, 3, 6, 0, 0, {}, {}, {}};
          decision.complex = true;
          const auto exact = multiply(call, decision, engine());
          judge(decision.target, c, exact);
          EXPECT_EQ(exact.exact, 24 - special);
          EXPECT_EQ(exact.undecided, 0);
          decision.method = Method::correctly_rounded, decision.plan = SplitPlan::balanced(1, 1, 2);  // decides nothing
          const auto refined = multiply(call, decision, engine());
          judge(decision.target, c, refined);
          EXPECT_EQ(refined.undecided, call.real_scalars() ? 24 - special : 2 * finite_entries);
          EXPECT_LE(refined.exact, refined.undecided);
        }
}

/// Under any plan the bound holds, even if the target does not, and it stays tight for products of few slices.
TEST(ComplexCertifiedGemm, BoundsOfProductsWithScalarsHoldAndAreTight) {
  RandomBits random(2);
  for (int repetition = 0; repetition < 60; ++repetition) {
    auto p = sample_product(Family::uniform, 0, random);
    p.alpha = {scalar(random) + 0.1, scalar(random) + 0.2}, p.beta = {scalar(random), 0.5};
    Decision decision;
    decision.target = parse_target("componentwise:1e-3");
    auto plan = SplitPlan::balanced(random.between(1, 4), random.between(1, 4), 2);
    plan.cut = random.between(2, plan.a.slices + plan.b.slices);
    decision.plan = plan;
    decision.m = p.m(), decision.n = p.n(), decision.k = p.k(), decision.complex = true;
    Numbers c(p.m(), p.n());
    const auto certificate = multiply({p.a, p.b, c, p.alpha, p.beta, p.c0}, decision, engine());
    auto weak = decision.target;
    weak.tau = 1e300;
    ASSERT_TRUE(keeps_its_target(p, weak, c, certificate));
    // Up to roundings, no looser than the bounds of the parts of A B imply.
    Numbers d(p.m(), p.n());
    const auto plain = multiply({p.a, p.b, d}, decision, engine());
    const Exact size = Exact(std::fabs(p.alpha.real())) + Exact(std::fabs(p.alpha.imag()));
    for (Index i = 0; i < 2 * p.m(); ++i)
      for (Index j = 0; j < p.n(); ++j) {
        const double parts = std::max(plain.bound.upper(i, j, 0), plain.bound.upper(i ^ 1, j, 0));
        EXPECT_LE(Exact(certificate.bound.upper(i, j, 0)), size * Exact(parts) * Exact(1 + 0x1p-45));
      }
  }
}

/// Without refinement, a plan counts as correctly rounded exactly where nothing is cut off, whatever the scalars.
TEST(ComplexCertifiedGemm, APlanAloneIsCorrectlyRoundedWhereItsBoundIsZero) {
  RandomBits random(9);
  for (const auto alpha : {Number(1), Number(0, 1), Number(0.3, -1.7), Number(0)})
    for (const Index inexact : {-1, 0, 2, 3}) {
      ComplexSample p{Numbers(4, 3), Numbers(3, 2), Numbers(4, 2), alpha, {1, 0.1}};
      for (auto* matrix : {&p.a, &p.b})
        for (Index t = 0; t < matrix->rows() * matrix->cols(); ++t)
          matrix->data()[t] = {1.0 * random.between(1, 9), 1.0 * random.between(1, 9)};
      if (inexact >= 0) p.a(inexact, 1) += 0.1;
      p.a(1, 2) = {inf, 1};  // special entries do not count
      Decision decision{Target::correctly_rounded(), Method::one_plan, SplitPlan::balanced(2, 2, 4), 4, 2, 3, 0, 0, {}, {}, {}};
      decision.complex = true;
      Numbers c(4, 2);
      const auto certificate = multiply({p.a, p.b, c, p.alpha, p.beta, p.c0}, decision, engine());
      const bool holds = inexact < 0 || alpha == 0.0;
      EXPECT_EQ(certificate.ratio, holds ? 1 : inf) << alpha << ' ' << inexact;
      EXPECT_EQ(certificate.holds, holds);
      EXPECT_EQ(certificate.worst_i, holds ? 0 : inexact);
      EXPECT_EQ(certificate.worst_j, holds ? 0 : 1);
      EXPECT_EQ(certificate.worst_part, holds ? Part::real : Part::imaginary);
      if (!holds) continue;
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 2; ++j)
          for (int of = 0; of < 2 && i != 1; ++of) {
            const auto value = truth_of(p, i, j).value[static_cast<std::size_t>(of)];
            EXPECT_EQ(bits_of(part(c(i, j), of)), test::rounded_bits<double>(value)) << i << ' ' << j << ' ' << of;
          }
    }
}

TEST(ComplexCertifiedGemm, InPlace) {
  RandomBits random(3);
  for (const auto* const text : {"cr", "dgemm", "relative:1e-12"})
    for (const auto beta : {Number(0.5), Number(0.3, 0.7)})
      for (const auto family : {Family::uniform, Family::cancellation}) {
        auto p = sample_product(family, 2, random);
        p.alpha = {0.7, -0.1}, p.beta = beta;
        Numbers c = p.c0;
        const auto product = multiply({p.a, p.b, c, p.alpha, p.beta, c}, parse_target(text), engine());
        ASSERT_TRUE(product.certificate.holds);
        ASSERT_TRUE(keeps_its_target(p, parse_target(text), c, product.certificate)) << text;
      }
}

/// NaN and infinities affect neither the bounds nor the finite components beside them.
TEST(ComplexCertifiedGemm, SpecialsStandApart) {
  RandomBits random(4);
  for (const auto* const text : {"cr", "dgemm", "componentwise:1e-6"})
    for (const auto alpha : {Number(1), Number(1, 2), Number(0, 1)}) {
      auto p = sample_product(Family::uniform, 0, random);
      p.alpha = alpha, p.beta = {0, 1};
      p.c0(0, 0) = {inf, 4};  // i C0 has the real part -4
      Numbers c(p.m(), p.n());
      const auto product = multiply({p.a, p.b, c, p.alpha, p.beta, p.c0}, parse_target(text), engine());
      EXPECT_TRUE(product.certificate.holds);
      EXPECT_EQ(c(0, 0).imag(), inf);
      EXPECT_LT(product.certificate.largest_bound, 1) << text;
      auto finite = p;
      finite.c0(0, 0) = {0, 4};
      Numbers d(p.m(), p.n());
      multiply({finite.a, finite.b, d, finite.alpha, finite.beta, finite.c0}, product.decision, engine());
      d(0, 0).imag(inf);
      for (Index t = 0; t < p.m() * p.n(); ++t) EXPECT_EQ(c.data()[t], d.data()[t]) << t;
    }
  auto p = sample_product(Family::uniform, 0, random);
  Numbers c(p.m(), p.n());
  const auto everywhere = multiply({p.a, p.b, c, {1, inf}}, parse_target("dgemm"), engine());
  EXPECT_TRUE(everywhere.certificate.holds);
  EXPECT_EQ(everywhere.certificate.largest_bound, 0);
}

/// A norm leaves out entries that C0 makes special: the error allowed for the largest entry of A B is not allowed for the
/// others.
TEST(ComplexCertifiedGemm, NormsLeaveOutWhatC0MakesSpecial) {
  for (const auto alpha : {Number(1, 1), Number(1, 0)}) {
    ComplexSample p{Numbers(1, 2), Numbers(2, 2), Numbers(1, 2), alpha, {1, 1}};
    p.a(0, 0) = 1, p.a(0, 1) = 0x1p-60;
    p.b(0, 0) = 0x1p100, p.b(1, 0) = 0x1p100, p.b(1, 1) = 1;
    p.c0(0, 0) = {inf, inf};
    const auto target = parse_target("normwise:1e-10");
    Numbers c(1, 2);
    const ComplexProduct call{p.a, p.b, c, p.alpha, p.beta, p.c0};
    const auto product = multiply(call, target, engine());
    EXPECT_TRUE(product.certificate.holds);
    EXPECT_EQ(c(0, 1), alpha * 0x1p-60);
    auto coarse = product.decision;
    coarse.method = Method::one_plan, coarse.plan = SplitPlan::balanced(2, 2, 3);
    EXPECT_FALSE(multiply(call, coarse, engine()).holds);
    p.c0(0, 0) = 0;
    EXPECT_TRUE(multiply(call, target, engine()).certificate.holds);
  }
}

/// The cap workspace_of(...).least is accepted, any smaller one refused.
TEST(ComplexCertifiedGemm, TheLeastWorkspaceIsTheLeast) {
  RandomBits random(6);
  auto p = sample_product(Family::uniform, 0, random);
  Numbers c(p.m(), p.n());
  for (const auto alpha : {Number(1), Number(1, 1)}) {
    const ComplexProduct call{p.a, p.b, c, alpha};
    const auto decision = decide(call, parse_target("dgemm"), engine());
    const auto workspace = workspace_of(decision, alpha, 0, engine());
    EXPECT_LE(workspace.least, workspace.full);
    EXPECT_TRUE(multiply(call, decision, engine(), {.workspace = workspace.least}).holds);
    EXPECT_THROW(multiply(call, decision, engine(), {.workspace = workspace.least - 1}), std::invalid_argument);
    auto real = decision;
    real.complex = false;
    EXPECT_THROW((void)workspace_of(real, alpha, 0, engine()), std::invalid_argument);
  }
}

/// Deciding uses only the size and the format of C, which may have no memory or overlap A: C is neither read nor written.
TEST(ComplexCertifiedGemm, DecidesWithoutAC) {
  RandomBits random(7);
  for (const auto alpha : {Number(1), Number(1, 1)})
    for (const auto* const text : {"dgemm", "cr", "normwise:1e-12"}) {
      auto p = sample_product(Family::uniform, 0, random);
      const auto target = parse_target(text);
      Numbers c(p.m(), p.n());
      const auto expected = to_json(decide({p.a, p.b, c, alpha, 2, p.c0}, target, engine()));
      const auto decided = [&](const ComplexOutputView& other) {
        return to_json(decide({p.a, p.b, other, alpha, 2, p.c0}, target, engine()));
      };
      EXPECT_EQ(decided(unwritten_complex(p.m(), p.n(), binary64)), expected);
      EXPECT_EQ(decided(MatrixView<Number>(p.a.data(), p.m(), p.n(), 0, 0)), expected);
      EXPECT_THROW(decided(unwritten_complex(p.m() + 1, p.n(), binary64)), std::invalid_argument);
    }
}

/// Native DGEMM as the only method is refused for complex scalars, though it meets the target with a real alpha.
TEST(ComplexCertifiedGemm, NativeDgemmAloneIsRefusedForItsScalars) {
  struct Untouched : NativeGemm {
    [[nodiscard]] std::string name() const override { return "none"; }
    void dgemm(const RealProduct&) const override { throw std::logic_error("deciding multiplies nothing"); }
  };
  const Untouched native;
  RandomBits random(8);
  const auto p = sample_product(Family::uniform, 0, random);
  const Backend backend(engine(), &native);
  const Choices options{.slices = false};
  const auto target = Target::dgemm();
  const auto c = unwritten_complex(p.m(), p.n(), binary64);
  EXPECT_EQ(decide({p.a, p.b, c, 1}, target, backend, options).method, Method::native);
  for (const auto& [alpha, beta] : {std::pair<Number, Number>{{1, 2}, 0}, {1, {0, 1}}}) try {
      decide({p.a, p.b, c, alpha, beta, p.c0}, target, backend, options);
      ADD_FAILURE() << "not refused";
    } catch (const CannotCertify& error) {
      EXPECT_EQ(std::string(error.what()), "native DGEMM does not certify dgemm: it has no complex alpha or beta");
    }
}

/// Records state the sizes of the complex product that was asked for, and are read back so.
TEST(ComplexCertifiedGemm, RecordsSayItsOwnSizes) {
  for (const auto alpha : {Number(1), Number(0, 1)}) {
    Numbers a(1, 1), b(1, 1), c(1, 1);
    a(0, 0) = {1.0 / 3, 0x1p-20}, b(0, 0) = {1, -0.7};
    const ComplexProduct call{a, b, c, alpha};
    const auto [decision, certificate] = multiply(call, parse_target("componentwise:1e-6"), engine());
    for (const auto& record : {to_json(decision), to_json(certificate)}) {
      EXPECT_EQ(record["complex"], true);
      for (const auto* const size : {"m", "n", "k"}) EXPECT_EQ(record[size], 1) << size;
    }
    const auto read = decision_from_json(to_json(decision));
    EXPECT_EQ(to_json(multiply(call, read, engine())), to_json(certificate));
    EXPECT_EQ(bound_from_json(nlohmann::json::parse(to_json(certificate).dump())).complex, true);
  }
  const Matrix<double> one(1, 1);
  EXPECT_FALSE(to_json(decide({one, one}, Target::dgemm(), engine())).contains("complex"));
}

/// A complex decision is refused for every real product, even the one that stands for the complex one.
TEST(ComplexCertifiedGemm, RealProductsTakeNoComplexDecision) {
  const Numbers z(1, 1);
  const auto decision = decide({z, z}, Target::dgemm(), engine());
  for (const Index k : {1, 2}) {
    const Matrix<double> a(k, k), b(k, 1);
    Matrix<double> c(k, 1);
    try {
      multiply({a, b, c}, decision, engine());
      ADD_FAILURE() << "not refused";
    } catch (const std::invalid_argument& error) {
      const auto real = std::to_string(k) + " x 1 x " + std::to_string(k);
      EXPECT_EQ(std::string(error.what()), "decision: is for a complex 1 x 1 x 1, not for a real " + real);
    }
  }
  auto json = to_json(decision);
  json["m"] = std::numeric_limits<Index>::max() / 2 + 1;
  EXPECT_THROW(decision_from_json(json), std::invalid_argument) << "whose real product has no size";
}

/// Both parts of row 1 have one bound. The small imaginary part, which allows the least error, is named as the worst.
TEST(ComplexCertifiedGemm, TheWorstPartIsNamed) {
  Numbers a(2, 1), b(1, 2), c(2, 2);
  a(0, 0) = {1, 1}, a(1, 0) = {1, 0.1}, b(0, 0) = 1, b(0, 1) = 1;
  Decision decision{Target::componentwise(1e-3), Method::one_plan, SplitPlan::balanced(1, 1, 2), 2, 2, 1, 0, 0, {}, {}};
  decision.complex = true;
  const auto certificate = multiply(ComplexProduct{a, b, c}, decision, engine());
  EXPECT_EQ(certificate.worst_i, 1);
  EXPECT_EQ(certificate.worst_j, 0);
  EXPECT_EQ(certificate.worst_part, Part::imaginary);
  EXPECT_EQ(certificate.worst_entry(), "the imaginary part of entry (1, 0)");
  EXPECT_EQ(to_json(certificate)["worst_entry"], nlohmann::json({1, 0, "imaginary"}));
  auto real = certificate;
  real.worst_part = Part::real;
  EXPECT_EQ(real.worst_entry(), "the real part of entry (1, 0)");
  real.complex = false;
  EXPECT_EQ(real.worst_entry(), "entry (1, 0)");
  EXPECT_EQ(to_json(real)["worst_entry"], nlohmann::json({1, 0}));
}

/// Each part has its own bound, and a bound read back from the record agrees.
TEST(ComplexCertifiedGemm, BoundsAreOfParts) {
  RandomBits random(11);
  const auto p = sample_product(Family::wide_exponents, 0, random);
  Numbers c(p.m(), p.n());
  const auto certificate = multiply({p.a, p.b, c, Number(1, 2)}, parse_target("componentwise:1e-6"), engine()).certificate;
  const auto bounds = certificate.bound.of_entries(c),
             recorded = bound_from_json(nlohmann::json::parse(to_json(certificate).dump())).bound.of_entries(c);
  double largest = 0;
  for (Index i = 0; i < p.m(); ++i)
    for (Index j = 0; j < p.n(); ++j) {
      EXPECT_EQ(bounds(i, j).real(), certificate.bound.upper(i, j, Part::real, c(i, j).real()));
      EXPECT_EQ(bounds(i, j).imag(), certificate.bound.upper(i, j, Part::imaginary, c(i, j).imag()));
      EXPECT_EQ(bounds(i, j), recorded(i, j));
      largest = std::max({largest, bounds(i, j).real(), bounds(i, j).imag()});
    }
  EXPECT_EQ(largest, certificate.largest_bound);
  EXPECT_THROW(static_cast<void>(certificate.bound.of_entries(Numbers(p.m() + 1, p.n()))), std::invalid_argument);
}

TEST(ComplexCertifiedGemm, WhatDoesNotFitIsRefused) {
  RandomBits random(5);
  const auto p = sample_product(Family::uniform, 0, random);
  Numbers c(p.m(), p.n());
  const auto refusal = [&](const ComplexProduct& call, const Decision& decision, const MultiplyOptions& options = {}) {
    try {
      multiply(call, decision, engine(), options);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Decision decision;
  decision.target = parse_target("dgemm"), decision.plan = SplitPlan::balanced(2, 2, 3);
  decision.m = p.m() + 1, decision.n = p.n(), decision.k = p.k(), decision.complex = true;
  const auto text = [](Index m, Index n, Index k) {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
  };
  const auto whole = text(p.m(), p.n(), p.k());
  for (const Number alpha : {Number(1), Number(1, 1)}) {
    EXPECT_EQ(refusal({p.a, p.b, c, alpha}, decision),
              "decision: is for a complex " + text(p.m() + 1, p.n(), p.k()) + ", not for a complex " + whole);
    auto stacked = decision;  // a decision for the real product that represents the complex one
    stacked.m = 2 * p.m(), stacked.k = 2 * p.k(), stacked.complex = false;
    EXPECT_EQ(refusal({p.a, p.b, c, alpha}, stacked),
              "decision: is for a real " + text(2 * p.m(), p.n(), 2 * p.k()) + ", not for a complex " + whole);
  }
  decision.m = p.m();
  decision.method = Method::native;
  EXPECT_EQ(refusal({p.a, p.b, c, {1, 1}}, decision), "decision: native DGEMM has no complex alpha or beta");
  decision.method = Method::one_plan;
  EXPECT_NE(refusal({p.a, p.b, c, {1, 1}}, decision, {.workspace = 1}).find("workspace must be at least"), std::string::npos);
  decision.plan.reset();
  EXPECT_EQ(refusal({p.a, p.b, c, {1, 1}}, decision), "decision: plan is missing");
}

}  // namespace
}  // namespace ozbound::complex_gemm_test
