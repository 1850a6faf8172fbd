// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include "ozbound/bounds/multiply.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bounds/hostile_environment.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"

namespace ozbound::certified_gemm_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double eta = 0x1p-1074;

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

constexpr double phis[] = {0, 0.5, 1, 2, 3, 4, 6, 8};

/// The targets of docs/derivations/targets.md (T0). Targets that only binary64 can meet become as strict as binary32 can be.
Target sample_target(bool narrow, test::RandomBits& random) {
  static const char* const texts[] = {"componentwise:1e-8",
                                      "componentwise:1e-12",
                                      "dgemm",
                                      "rowcol:1e-13",
                                      "normwise:1e-14",
                                      "relative:1e-10",
                                      "cr",
                                      "relative:3",
                                      "componentwise:0x1.8p-53",
                                      "relative:0x1p-53",
                                      "normwise:0x1.00001p-53",
                                      "componentwise:0.25",
                                      "rowcol:0x1.00001p-53",
                                      "componentwise:1e300",
                                      "relative:1e300"};
  auto target = parse_target(random.pick(texts));
  if (narrow && target.tau > 0 && target.tau < 0x1p-24) target.tau = std::max(target.tau * 0x1p29, 0x1p-24);
  return target;
}

TEST(CertifiedGemm, KeepsItsTargetsOnEveryFamily) {
  test::RandomBits random(1);
  for (const double phi : phis)
    for (const auto family : all_families())
      for (int t = 0; t < 6; ++t) {
        auto product = test::sample_product(test::sample_recipe(family, phi, 9, random), random);
        const auto target = sample_target(product.narrow, random);
        ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, target, engine())));
      }
}

TEST(CertifiedGemm, KeepsItsTargetsInEveryEncoding) {
  test::RandomBits random(2);
  static const Encoding encodings[] = {Encoding::truncated(7), Encoding::nearest(7), Encoding::truncated(4),
                                       Encoding::nearest(3), Encoding::nearest(1)};
  for (const auto family : all_families())
    for (const auto& encoding : encodings) {
      auto product = test::sample_product(test::sample_recipe(family, 1, 6, random), random);
      product.encoding = encoding;
      ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, sample_target(product.narrow, random), engine())));
    }
}

/// A random plan: one radix for both operands, any accumulation.
SplitPlan sample_plan(test::RandomBits& random) {
  const int beta = random.between(1, 8);
  const auto encoding = [&] {
    if (beta == 8) return Encoding::balanced();
    return random.once_in(2) ? Encoding::truncated(beta) : Encoding::nearest(beta);
  };
  static constexpr Accumulation accumulations[] = {Accumulation::exact, Accumulation::per_product, Accumulation::per_diagonal};
  SplitPlan plan;
  plan.a = {encoding(), random.between(1, 12)};
  plan.b = {encoding(), random.between(1, 12)};
  plan.cut = random.between(2, plan.a.slices + plan.b.slices);
  plan.accumulation = random.pick(accumulations);
  return plan;
}

/// The certificate of a replayed decision that fits the operands badly says so, and never claims more than is true.
TEST(CertifiedGemm, TellsTheTruthUnderAnyDecision) {
  test::RandomBits random(3);
  static constexpr Method methods[] = {Method::one_plan, Method::one_plan, Method::correctly_rounded, Method::exact};
  int kept = 0;
  int missed = 0;
  for (int t = 0; t < 1200; ++t) {
    const auto families = all_families();
    const auto family = families[static_cast<std::size_t>(random.below(static_cast<int>(families.size())))];
    const auto product = test::sample_product(test::sample_recipe(family, random.pick(phis), 6, random), random);
    Decision decision;
    decision.target = sample_target(product.narrow, random);
    decision.method = random.pick(methods);
    decision.plan = sample_plan(random);
    decision.m = product.m(), decision.n = product.n(), decision.k = product.k();
    const auto computed = test::compute_with(product, decision, engine());
    (computed.certificate.holds ? kept : missed) += 1;
    ASSERT_TRUE(test::tells_the_truth(product, computed)) << to_string(decision.method) << ' ' << to_string(*decision.plan);
  }
  EXPECT_GT(kept, 250);
  EXPECT_GT(missed, 250);
}

/// Deciding and multiplying in one call gives the same C and the same record as in two calls.
TEST(CertifiedGemm, InOneStepIsTheSameAsInTwo) {
  test::RandomBits random(31);
  int by_slices = 0;
  for (const auto family : all_families())
    for (int t = 0; t < 40; ++t) {
      auto product = test::sample_product(test::sample_recipe(family, random.pick(phis), 9, random), random);
      product.encoding = Encoding::balanced();
      const auto target = sample_target(product.narrow, random);
      const Choices choices{.residues = t % 2 == 0};
      const auto two = test::compute_with(product, decide(product.stated(), target, engine(), choices), engine());
      test::Computed one{{}, {}, test::Result(product.m(), product.n(), product.narrow)};
      const RealProduct call{product.problem.a, product.problem.b, one.c.output(), product.alpha, product.beta, product.c0};
      auto decided = multiply(call, target, engine(), choices);
      EXPECT_EQ(to_json(decided.decision), to_json(two.decision)) << product.describe();
      ASSERT_EQ(to_json(decided.certificate), to_json(two.certificate)) << product.describe();
      one.certificate = std::move(decided.certificate);
      ASSERT_TRUE(test::tells_the_truth(product, one));
      by_slices += two.decision.method == Method::one_plan ? 1 : 0;
    }
  EXPECT_GT(by_slices, 100);
}

TEST(CertifiedGemm, InOneStepRefusesBeforeItWrites) {
  auto product = test::product_of({Family::uniform, 3, 3, 3, 0, 5});
  Matrix<double> c(3, 3);
  c(1, 1) = 7;
  const RealProduct call{product.problem.a, product.problem.b, c};
  EXPECT_THROW(multiply(call, Target::dgemm(), engine(), {}, {.workspace = 1}), std::invalid_argument);
  EXPECT_THROW(multiply(call, Target{Target::Kind::componentwise, 0x1p-54}, engine()), CannotCertify);
  EXPECT_EQ(c(1, 1), 7);
}

TEST(CertifiedGemm, HoldsExactlyWhereTheRatioIsAtMostOne) {
  // A plan of one product, and targets on both sides of the error it reaches.
  const auto product = test::product_of({Family::uniform, 4, 4, 8, 0, 5});
  for (const double tau : {1e-3, 1e-2, 0.03, 0.1, 1.0}) {
    Decision decision{Target::componentwise(tau), Method::one_plan, SplitPlan::balanced(1, 1, 2), 4, 4, 8, 1, 0, {}, {}};
    const auto computed = test::compute_with(product, decision, engine());
    EXPECT_EQ(computed.certificate.holds, computed.certificate.ratio <= 1);
    EXPECT_EQ(computed.certificate.holds, tau > 0.02) << tau << ": " << computed.certificate.ratio;
    EXPECT_TRUE(test::tells_the_truth(product, computed));
  }
}

TEST(CertifiedGemm, HoldsUpToTheTargetAndNoFurther) {
  const auto product = test::product_of({Family::uniform, 4, 4, 8, 0, 5});
  const auto certificate = [&](double tau) {
    const Decision decision{Target::componentwise(tau), Method::one_plan, SplitPlan::balanced(1, 1, 2), 4, 4, 8, 1, 0, {}, {}};
    return test::compute_with(product, decision, engine()).certificate;
  };
  const double reached = 0.5 * certificate(0.5).ratio;  // up to a few u, the tau with ratio 1, as the ratio is e / tau
  EXPECT_TRUE(certificate(reached * (1 + 0x1p-40)).holds);
  EXPECT_FALSE(certificate(reached * (1 - 0x1p-40)).holds);
}

/// The ratio includes the final rounding. Here it is (nearly, then exactly) the only error, and all that the strictest target
/// allows.
TEST(CertifiedGemm, TheRatioHasTheLastRounding) {
  const auto nearly = test::product_of(test::matrix_of(1, 1, {1 + 0x1p-26}), test::matrix_of(1, 1, {1 + 0x1p-27}));
  const auto product = test::product_of(test::matrix_of(1, 2, {1, 0x1p-53}), test::matrix_of(2, 1, {1, 1}));
  for (const auto& [exact, tau] : {std::pair(&nearly, 0x1p-53), {&product, 0x1p-53}, {&product, 0x1p-50}})
    for (const auto& target : {Target::componentwise(tau), Target::rowcol(tau), Target::normwise(tau), Target::relative(tau)}) {
      const Decision decision{target, Method::one_plan, SplitPlan::balanced(7, 7, 14), 1, 1, exact->k(), 1, 0, {}, {}};
      const auto computed = test::compute_with(*exact, decision, engine());
      EXPECT_TRUE(test::keeps_its_target(*exact, computed)) << to_string(target);
      EXPECT_EQ(computed.certificate.ratio, tau == 0x1p-53 ? 1 : 0.125 * (1 + 0x1p-52)) << to_string(target);
    }
}

/// Doubling the target halves the ratio, whatever share of the ratio the rounding is.
TEST(CertifiedGemm, TheRatioIsProportionalToTheError) {
  const auto product = test::product_of({Family::uniform, 4, 4, 8, 0, 5});
  for (const auto kind : {Target::Kind::componentwise, Target::Kind::rowcol, Target::Kind::normwise})
    for (const bool narrow : {false, true}) {
      auto wanted = product;
      wanted.narrow = narrow;
      const auto ratio = [&](double tau) {
        const Decision decision{
            {kind, tau}, Method::one_plan, SplitPlan::balanced(narrow ? 4 : 7, narrow ? 4 : 7, 8), 4, 4, 8, 1, 0, {}, {}};
        return test::compute_with(wanted, decision, engine()).certificate.ratio;
      };
      const double u = narrow ? 0x1p-24 : 0x1p-53;
      const double error = 1024 * u * ratio(1024 * u);
      EXPECT_GT(error, u);
      for (const double tau : {1.0625 * u, 2 * u, 16 * u}) EXPECT_NEAR(ratio(tau) * tau, error, error * 0x1p-40) << tau;
    }
}

// Correct rounding.

/// Success if C has the bits of MPFR's result, rounded once.
testing::AssertionResult is_correctly_rounded(const test::SampleProduct& product, const test::Computed& computed) {
  if (!computed.certificate.holds) return testing::AssertionFailure() << to_json(computed.certificate).dump(1);
  const MpfrOracle oracle(product.operands(), MpfrOracle::exact_bits(product.k()));
  const auto verdict = verify(computed.c.view(), oracle, Target::correctly_rounded(), {.reproduction = product.describe()});
  if (!verdict.holds()) return testing::AssertionFailure() << explain(verdict);
  return test::tells_the_truth(product, computed);
}

TEST(CorrectRounding, EqualsMpfrOnEveryFamily) {
  test::RandomBits random(4);
  for (const double phi : phis)
    for (const auto family : all_families()) {
      const auto product = test::sample_product(test::sample_recipe(family, phi, 7, random), random);
      ASSERT_TRUE(is_correctly_rounded(product, test::compute(product, Target::correctly_rounded(), engine())));
    }
}

/// Rows of A whose sums (B is a column of ones) are midpoints of neighbouring numbers, or slightly off them.
test::SampleProduct midpoints(int count, bool narrow, test::RandomBits& random) {
  auto product = test::product_of(Matrix<double>(count, 5), test::matrix_of(5, 1, {1, 1, 1, 1, 1}));
  product.narrow = narrow;
  const int precision = narrow ? 24 : 53;
  for (Index i = 0; i < count; ++i) {
    const int e = narrow ? random.between(-100, 100) : random.between(-900, 900);
    const auto bits =
        static_cast<double>(std::int64_t{1} << (precision - 1) | static_cast<std::int64_t>(random() >> (65 - precision)));
    const double number = std::ldexp(bits, e - precision + 1);
    const double half = std::ldexp(1.0, e - precision);
    // Half a unit in two parts; a bit too far away for any slice; and terms that cancel each other.
    const double far[] = {0, eta, -eta, half * 0x1p-60, -half * 0x1p-60, std::ldexp(1.0, e - 150), -std::ldexp(1.0, e - 100)};
    const double cancelled = std::ldexp(random.once_in(2) ? 1.0 : 0.0, random.between(-900, 1000));
    std::vector<double> row{number, half * 0.75, half * 0.25, cancelled, -cancelled};
    if (cancelled == 0) row[3] = random.pick(far);
    const double sign = random.once_in(2) ? -1 : 1;
    for (Index l = 0; l < 5; ++l) product.problem.a(i, l) = sign * row[static_cast<std::size_t>((l + i) % 5)];
  }
  return product;
}

TEST(CorrectRounding, BreaksTiesConstructedOnPurpose) {
  test::RandomBits random(5);
  for (const bool narrow : {false, true}) {
    auto product = midpoints(200, narrow, random);
    const auto computed = test::compute(product, Target::correctly_rounded(), engine());
    ASSERT_TRUE(is_correctly_rounded(product, computed));
    EXPECT_GT(computed.certificate.exact, 50) << "ties are left to the superaccumulator";
    product.alpha = -0.5;
    ASSERT_TRUE(is_correctly_rounded(product, test::compute(product, Target::correctly_rounded(), engine())));
    product.beta = 1, product.c0 = Matrix<double>(200, 1);
    for (Index i = 0; i < 200; ++i) product.c0(i, 0) = random.once_in(2) ? eta : -0x1p-40;
    ASSERT_TRUE(is_correctly_rounded(product, test::compute(product, Target::correctly_rounded(), engine())));
  }
}

TEST(CorrectRounding, SeesTheSmallestNumberBesideTheLargest) {
  // 2^-1074 beside 2^1000, beside a midpoint, and beside nothing.
  const std::vector<double> rows{0x1p1000,
                                 0x1p947,
                                 eta,
                                 0,  //
                                 0x1p1000,
                                 0x1p947,
                                 -eta,
                                 0,  //
                                 0x1p1000,
                                 0x1p947,
                                 0,
                                 0,  //
                                 0x1p1000,
                                 -eta,
                                 0,
                                 0,  //
                                 0x1p1000,
                                 eta,
                                 0,
                                 -0x1p1000,  //
                                 0x1p1023,
                                 0x1p1023,
                                 -eta,
                                 0,  //
                                 0x1.fffffffffffffp1023,
                                 0x1p970,
                                 -eta,
                                 0};
  auto product = test::product_of(test::matrix_of(7, 4, rows), test::matrix_of(4, 1, {1, 1, 1, 1}));
  for (const bool narrow : {false, true})
    for (const double alpha : {1.0, -1.0, 0x1p-1000, 0.75, eta}) {
      product.narrow = narrow;
      product.alpha = alpha;
      ASSERT_TRUE(is_correctly_rounded(product, test::compute(product, Target::correctly_rounded(), engine())));
    }
}

TEST(CorrectRounding, SubnormalResultsAreRoundedOnce) {
  test::RandomBits random(6);
  Matrix<double> a(60, 3);
  for (Index i = 0; i < 60; ++i)
    for (Index l = 0; l < 3; ++l) a(i, l) = std::ldexp(static_cast<double>(random() >> 40) + 0.5, random.between(-1120, -1060));
  auto product = test::product_of(std::move(a), test::matrix_of(3, 1, {1, 0.5, 0x1.8p-2}));
  for (const double alpha : {1.0, 0.5, 0x1p-20, -3.0}) {
    product.alpha = alpha;
    ASSERT_TRUE(is_correctly_rounded(product, test::compute(product, Target::correctly_rounded(), engine())));
  }
  // docs/derivations/general_bound.md (G6a): (2^60 + 2^52 + 1) 2^-1127 is 0x81 eta; rounded first and then scaled, 0x80 eta.
  auto once = test::product_of(test::matrix_of(1, 3, {0x1p60, 0x1p52, 1}), test::matrix_of(3, 1, {0x1p-53, 0x1p-53, 0x1p-53}));
  once.alpha = eta;
  EXPECT_EQ(test::compute(once, Target::correctly_rounded(), engine()).c.bits().front(), 0x81u);
}

TEST(CorrectRounding, ExactSumsNeedNoSuperaccumulator) {
  const auto product = test::product_of({Family::integers, 8, 8, 20, 0, 7});
  const auto computed = test::compute(product, Target::correctly_rounded(), engine());
  EXPECT_TRUE(is_correctly_rounded(product, computed));
  const auto easy = test::product_of({Family::uniform, 16, 16, 64, 0, 8});
  EXPECT_LE(test::compute(easy, Target::correctly_rounded(), engine()).certificate.exact, 256 / 20);
}

TEST(CorrectRounding, AccountsForEveryEntry) {
  test::RandomBits random(9);
  const auto product = midpoints(100, false, random);
  const auto& certificate = test::compute(product, Target::correctly_rounded(), engine()).certificate;
  EXPECT_FALSE(certificate.plans.empty());
  EXPECT_GE(certificate.undecided, certificate.exact);
  EXPECT_LE(certificate.undecided, 100);
}

// The magnitudes that a `relative` target refers to are known only after the product.

TEST(RelativeTarget, SeesThroughCancellation) {
  test::RandomBits random(10);
  for (const double phi : {0.0, 1.0, 3.0})
    for (const double tau : {0x1p-53, 0x1.8p-53, 0x1p-51, 1e-10, 0.1, 5.0}) {
      const auto product = test::sample_product({Family::cancellation, 8, 8, 8, phi, random()}, random);
      const auto target = Target::relative(product.narrow ? std::max(tau, 0x1p-24) : tau);
      ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, target, engine())));
    }
}

/// The final rounding counts. The plan loses only one digit product, but with so many numbers some lie next to a midpoint and
/// err by more than u in total.
TEST(RelativeTarget, CountsTheFinalRounding) {
  const Index n = 4096;
  Matrix<double> b(1, n);
  for (Index j = 0; j < n; ++j) b(0, j) = 2 / (1 + 0x1p-10) + static_cast<double>(j) * 0x1p-52;  // the products lie above 2
  const auto product = test::product_of(test::matrix_of(1, 1, {1 + 0x1p-10}), b);
  const Decision decision{Target::relative(0x1p-53), Method::one_plan, SplitPlan::balanced(2, 7, 8), 1, n, 1, 1, 0, {}, {}};
  EXPECT_TRUE(test::keeps_its_target(product, test::compute_with(product, decision, engine())));
}

/// A rounding to a subnormal number may err by more than u. The digits give 65 - 64 for 64.62 - 64.38, so 0.625 eta is rounded
/// to eta where 0.15 eta is right. Bounds of doubles are rounded up to a multiple of eta, those of floats are not.
TEST(RelativeTarget, SubnormalResultsAreRoundedByMore) {
  auto product = test::product_of(test::matrix_of(1, 2, {64.62, 64.38}), test::matrix_of(2, 1, {0.625, -0.625}));
  const Decision decision{Target::relative(1), Method::one_plan, SplitPlan::balanced(1, 1, 2), 1, 1, 2, 1, 0, {}, {}};
  for (const bool narrow : {false, true}) {
    product.narrow = narrow;
    product.alpha = narrow ? 0x1p-149 : eta;
    EXPECT_TRUE(test::keeps_its_target(product, test::compute_with(product, decision, engine())));
  }
}

TEST(RelativeTarget, ZerosAreZero) {
  auto product =
      test::product_of(test::matrix_of(2, 2, {1.0 / 3, -1.0 / 3, 0x1p600, 0x1p-600}), test::matrix_of(2, 2, {7, 0, 7, 0}));
  const auto computed = test::compute(product, Target::relative(1e-10), engine());
  ASSERT_TRUE(test::keeps_its_target(product, computed));
  EXPECT_EQ(computed.c.bits()[0], 0u);
  EXPECT_EQ(computed.c.bits()[1], 0u);
  product.beta = 1;
  product.c0 = test::matrix_of(2, 2, {1e-300, eta, -1, 0});
  ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, Target::relative(0x1p-53), engine())));
}

TEST(RelativeTarget, AboveOneItIsStillABound) {
  const auto product = test::product_of({Family::wide_exponents, 6, 6, 20, 4, 11});
  for (const double tau : {1.0, 2.0, 1e10, 1e300}) {
    const auto computed = test::compute(product, Target::relative(tau), engine());
    ASSERT_TRUE(test::keeps_its_target(product, computed)) << tau;
  }
}

// Aliasing, views, workspace, threads and environments change no bit.

std::vector<Target> all_kinds() {
  return {Target::dgemm(),       Target::componentwise(1e-11), Target::normwise(1e-13),
          Target::rowcol(1e-12), Target::relative(1e-9),       Target::correctly_rounded()};
}

TEST(CertifiedGemm, C0MayBeC) {
  test::RandomBits random(12);
  for (const auto& target : all_kinds()) {
    auto product = test::sample_product({Family::wide_exponents, 6, 5, 9, 3, random()}, random);
    product.narrow = false;
    product.alpha = -0.75, product.beta = 2.5;
    product.c0(0, 0) = nan, product.c0(1, 1) = -inf;
    const auto expected = test::compute(product, target, engine());
    auto c = product.c0;
    const RealProduct call{product.problem.a, product.problem.b, c, product.alpha, product.beta, c};
    const auto certificate = multiply(call, expected.decision, engine());
    EXPECT_EQ(to_json(certificate), to_json(expected.certificate)) << to_string(target);
    std::vector<std::uint64_t> bits;
    for (Index t = 0; t < 30; ++t) bits.push_back(bits_of(c.data()[t]));
    EXPECT_EQ(bits, expected.c.bits()) << to_string(target);
    EXPECT_TRUE(test::tells_the_truth(product, expected)) << to_string(target);
  }
}

TEST(CertifiedGemm, FloatsInPlace) {
  test::RandomBits random(13);
  for (const auto& target : {Target::dgemm(), Target::correctly_rounded(), Target::relative(1e-6)}) {
    Matrix<float> a(4, 7);
    Matrix<float> b(7, 4);
    Matrix<float> c(4, 4);
    auto product = test::product_of(Matrix<double>(4, 7), Matrix<double>(7, 4));
    product.narrow = true, product.beta = -1, product.c0 = Matrix<double>(4, 4);
    for (Index t = 0; t < 28; ++t) {
      product.problem.a.data()[t] = static_cast<double>(a.data()[t] = test::sample<float>(random));
      product.problem.b.data()[t] = static_cast<double>(b.data()[t] = test::sample<float>(random));
    }
    for (Index t = 0; t < 16; ++t) product.c0.data()[t] = static_cast<double>(c.data()[t] = test::sample<float>(random));
    const auto decision = decide({a, b, c, 1, -1, c}, target, engine());
    test::Computed computed{decision, multiply({a, b, c, 1, -1, c}, decision, engine()), test::Result(4, 4, true)};
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 4; ++j) computed.c.output().set_bits(i, j, bits_of(c(i, j)));
    EXPECT_TRUE(test::keeps_its_target(product, computed)) << to_string(target);
  }
}

TEST(CertifiedGemm, HasTheSameBitsOnAnyEngineAndInAnyEnvironment) {
  const CpuEngine threads({.threads = 3, .inner_block = 7, .row_tile = 2, .column_tile = 3});
  test::RandomBits random(14);
  for (const auto family : {Family::wide_exponents, Family::subnormal, Family::full_range, Family::cancellation})
    for (const auto& target : all_kinds()) {
      const auto product = test::sample_product({family, 9, 10, 21, 2, random()}, random);
      auto reachable = target;
      if (product.narrow && target.tau > 0) reachable.tau = std::max(target.tau, 1e-5);
      const auto expected = test::compute(product, reachable, engine());
      const auto same = [&](const Engine& other) {
        const auto computed = test::compute(product, expected.decision.target, other);
        EXPECT_EQ(to_json(computed.decision), to_json(expected.decision)) << product.describe() << to_string(target);
        EXPECT_EQ(to_json(computed.certificate), to_json(expected.certificate)) << product.describe() << to_string(target);
        EXPECT_TRUE(test::same_bits(computed.c, expected.c)) << product.describe() << to_string(target);
      };
      same(threads);
      const test::HostileEnvironment hostile;
      same(engine());
      same(threads);
      EXPECT_TRUE(test::HostileEnvironment::is_in_force());
    }
}

TEST(CertifiedGemm, SubnormalBoundsAreNotFlushed) {
  // Every bound is subnormal, and the largest one is not in the first thread's rows.
  const CpuEngine threads({.threads = 3});
  const auto product =
      test::product_of(test::matrix_of(3, 1, {0, 0, 0x1.1111111111111p-560}), test::matrix_of(1, 1, {0x1.1111111111111p-480}));
  const auto expected = test::compute(product, Target::componentwise(0.25), engine());
  ASSERT_GT(expected.certificate.largest_bound, 0x1p-1060);
  ASSERT_LT(expected.certificate.largest_bound, 0x1p-1022);
  for (int t = 0; t < 5; ++t) {
    const test::HostileEnvironment hostile;
    const auto computed = test::compute(product, Target::componentwise(0.25), threads);
    EXPECT_EQ(bits_of(computed.certificate.largest_bound), bits_of(expected.certificate.largest_bound));
  }
}

TEST(CertifiedGemm, KeepsTheWorkspaceCap) {
  test::RandomBits random(15);
  const auto product = midpoints(40, false, random);
  for (const auto& target : all_kinds()) {
    const auto expected = test::compute(product, target, engine());
    if (!expected.decision.plan) continue;
    // `relative` may go on to plans with more slices, which determine its bits; `cr` has the superaccumulator instead.
    const bool refined = target.kind == Target::Kind::relative;
    const double least =
        least_workspace(engine(), refined ? SplitPlan::balanced(20, 20, 21) : *expected.decision.plan, product.k());
    for (const double cap : {least, 2 * least, unlimited_workspace}) {
      const auto computed = test::compute_with(product, expected.decision, engine(), {.workspace = cap});
      EXPECT_TRUE(test::same_bits(computed.c, expected.c)) << to_string(target) << ", cap " << cap;
      EXPECT_TRUE(computed.certificate.holds);
    }
    EXPECT_THROW((void)test::compute_with(product, expected.decision, engine(), {.workspace = least * 0.99}),
                 std::invalid_argument);
  }
}

// Each block of columns reports its own undecided entries; rounds intersect these lists.
TEST(CorrectRounding, LeavesNoEntryOutUnderAWorkspaceCap) {
  for (const auto family : {Family::cancellation, Family::wide_exponents, Family::fem})
    for (const int slices : {2, 3, 4}) {
      const auto problem = generate({.family = family, .m = 24, .n = 24, .k = 24, .phi = 1, .seed = 5});
      const auto plan = SplitPlan::balanced(slices, slices, slices + 1);
      const Decision decision{Target::correctly_rounded(), Method::correctly_rounded, plan, 24, 24, 24, 0, 0, {}, {}};
      const auto whole = multiply(problem.a, problem.b, decision, engine());
      for (const double cap : {1.1, 1.5, 2.0, 4.0}) {
        Matrix<double> c(24, 24);
        std::fill_n(c.data(), 24 * 24, -1.25);
        const double workspace = cap * least_workspace(engine(), plan, 24);
        const auto certificate = multiply({problem.a, problem.b, c}, decision, engine(), {.workspace = workspace});
        EXPECT_TRUE(certificate.holds);
        for (Index t = 0; t < 24 * 24; ++t) ASSERT_EQ(bits_of(c.data()[t]), bits_of(whole.c.data()[t])) << name(family) << cap;
      }
    }
}

// A large C0 in an entry that is NaN or infinite is not part of ||M||_F and does not loosen the target of the other entries.
TEST(CertifiedGemm, SpecialEntriesStayOutOfNorms) {
  for (const bool special_c0 : {false, true}) {
    auto problem = generate({.family = Family::uniform, .m = 8, .n = 8, .k = 8, .seed = 3});
    Matrix<double> c0(8, 8);
    if (special_c0) {
      c0(2, 3) = nan;
      problem.a(2, 0) = problem.b(0, 3) = 0x1p60;  // large in the product too
    } else {
      problem.a(0, 4) = nan;
      for (Index j = 0; j < 8; ++j) c0(0, j) = 1e12;
    }
    const auto target = Target::normwise(1e-8);
    Matrix<double> c(8, 8);
    const auto decision = decide({problem.a, problem.b, c, 1, 1, c0}, target, engine());
    EXPECT_TRUE(multiply({problem.a, problem.b, c, 1, 1, c0}, decision, engine()).holds);
    const ExactOracle oracle(Operands{problem.a.view(), problem.b.view(), 1, 1, c0.view()});
    EXPECT_TRUE(verify(c.view(), oracle, target).holds()) << to_string(*decision.plan);
  }
}

TEST(CertifiedGemm, TheConvenientFormIsTheSame) {
  const auto product = test::product_of({Family::uniform, 5, 6, 7, 0, 16});
  const auto expected = test::compute(product, Target::dgemm(), engine());
  const auto [c, certificate] = multiply(product.problem.a, product.problem.b, expected.decision, engine());
  EXPECT_EQ(to_json(certificate), to_json(expected.certificate));
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(bits_of(c(i, j)), expected.c.input().bits(i, j));
}

// Special values and empty sums.

TEST(CertifiedGemm, SpecialsFollowTheInputs) {
  test::RandomBits random(17);
  static const double specials[] = {nan, inf, -inf};
  for (int t = 0; t < 300; ++t) {
    auto product = test::sample_product(test::sample_recipe(Family::wide_exponents, 2, 6, random), random);
    for (int s = random.between(1, 3); s > 0; --s) {
      const Index at = random.below(static_cast<int>(product.k()));
      switch (random.below(3)) {
        case 0: product.problem.a(random.below(static_cast<int>(product.m())), at) = random.pick(specials); break;
        case 1: product.problem.b(at, random.below(static_cast<int>(product.n()))) = random.pick(specials); break;
        default: product.c0(0, 0) = random.pick(specials);
      }
    }
    if (random.once_in(6)) product.alpha = random.pick(specials);
    if (random.once_in(6)) product.beta = random.pick(specials);
    const auto target = sample_target(product.narrow, random);
    ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, target, engine()))) << to_string(target);
  }
}

TEST(CertifiedGemm, EmptyAndUnreadOperands) {
  test::RandomBits random(18);
  static constexpr Index sizes[] = {0, 1, 3};
  for (const Index m : sizes)
    for (const Index n : sizes)
      for (const Index k : sizes)
        for (const double alpha : {0.0, 1.0, nan, inf})
          for (const double beta : {0.0, 1.0, -3.5, nan}) {
            auto product = test::sample_product({Family::wide_exponents, m, n, k, 1, random()}, random);
            product.alpha = alpha, product.beta = beta;
            if (alpha == 0 && product.k() > 0 && m > 0) product.problem.a(0, 0) = nan;  // never read
            if (beta == 0 && m > 0 && n > 0) product.c0(0, 0) = nan;
            const auto target = sample_target(product.narrow, random);
            ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, target, engine())))
                << m << ' ' << n << ' ' << k << to_string(target);
          }
}

TEST(CertifiedGemm, AnInnerDimensionOfOneMeetsDgemm) {
  test::RandomBits random(19);
  for (int t = 0; t < 100; ++t) {
    const auto product = test::sample_product({Family::full_range, 3, 3, 1, 0, random()}, random);
    ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, Target::dgemm(), engine())));
  }
}

// Every refusal happens before anything is written.

template <class Exception>
void expect_refused(const RealProduct& call, const Decision& decision, const std::string& word,
                    const MultiplyOptions& options = {}) {
  const auto before = call.c.as_input();
  std::vector<std::uint64_t> bits;
  for (Index i = 0; i < before.rows(); ++i)
    for (Index j = 0; j < before.cols(); ++j) bits.push_back(before.bits(i, j));
  try {
    (void)multiply(call, decision, engine(), options);
    ADD_FAILURE() << "not refused: " << word;
  } catch (const Exception& e) {
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
  std::size_t t = 0;
  for (Index i = 0; i < before.rows(); ++i)
    for (Index j = 0; j < before.cols(); ++j) EXPECT_EQ(before.bits(i, j), bits[t++]) << "C was written: " << word;
}

TEST(CertifiedGemm, ARefusalWritesNothing) {
  auto product = test::product_of({Family::uniform, 2, 3, 4, 0, 20});
  product.problem.a(0, 0) = nan;
  Matrix<double> c(2, 3);
  std::iota(c.data(), c.data() + 6, 1.0);
  const RealProduct call{product.problem.a, product.problem.b, c};
  const auto good = Decision{Target::dgemm(), Method::one_plan, SplitPlan::balanced(3, 3, 4), 2, 3, 4, 0, 0, {}, {}};
  const auto refuse = [&](auto change, const std::string& word, const MultiplyOptions& options = {}) {
    auto bad = good;
    change(bad);
    expect_refused<std::invalid_argument>(call, bad, word, options);
  };
  refuse([](Decision& d) { d.m = 3; }, "decision");
  refuse([](Decision& d) { d.n = 2; }, "decision");
  refuse([](Decision& d) { d.k = 5; }, "decision");
  refuse([](Decision& d) { d.plan.reset(); }, "plan");
  refuse([](Decision& d) { d.plan.reset(), d.method = Method::correctly_rounded; }, "plan");
  refuse([](Decision& d) { d.plan = SplitPlan::balanced(3, 3, 99); }, "cut");
  refuse([](Decision& d) { d.plan = SplitPlan::balanced(0, 3, 4); }, "slice");
  refuse([](Decision& d) { d.method = Method::native; }, "native");
  auto below_u = good;
  below_u.target = {Target::Kind::relative, 0x1p-60};
  expect_refused<CannotCertify>(call, below_u, "relative");
  refuse([](Decision&) {}, "workspace", {.workspace = 10});
  refuse([](Decision& d) { d.method = Method::correctly_rounded; }, "workspace", {.workspace = 10});
}

TEST(CertifiedGemm, ShapesAndAliasesAreRefused) {
  auto product = test::product_of({Family::uniform, 2, 3, 4, 0, 21});
  Matrix<double> c(2, 3);
  Matrix<double> wrong(3, 3);
  const auto decision = Decision{Target::dgemm(), Method::one_plan, SplitPlan::balanced(3, 3, 4), 2, 3, 4, 0, 0, {}, {}};
  const InputView a = product.problem.a;
  const InputView b = product.problem.b;
  expect_refused<std::invalid_argument>({a, a, c}, decision, "b must");
  expect_refused<std::invalid_argument>({a, b, wrong}, decision, "c must");
  expect_refused<std::invalid_argument>({a, b, c, 1, 1, wrong}, decision, "c0");
  expect_refused<std::invalid_argument>({a, b, product.problem.a.view().block(0, 0, 2, 3)}, decision, "a must not overlap");
  Matrix<double> both(4, 3);
  expect_refused<std::invalid_argument>({a, both, both.view().block(0, 0, 2, 3)}, decision, "b must not overlap");
  Matrix<double> twice(3, 3);
  expect_refused<std::invalid_argument>({a, b, twice.view().block(0, 0, 2, 3), 1, 1, twice.view().block(1, 0, 2, 3)}, decision,
                                        "c0");
}

}  // namespace
}  // namespace ozbound::certified_gemm_test
