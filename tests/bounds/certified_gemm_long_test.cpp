// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "ozbound/verify/mpfr_oracle.hpp"

namespace ozbound::certified_gemm_long_test {
namespace {

const CpuEngine& engine() {
  static const CpuEngine all_threads;
  return all_threads;
}

constexpr double phis[] = {0, 0.5, 1, 2, 3, 4, 5, 6, 7, 8};

/// Every family x phi x target, with random alpha, beta, C0 and format of C, keeps its target: 15 x 10 x 12 products, four
/// times.
TEST(CertifiedGemmLong, KeepsEveryTargetOnEveryFamily) {
  test::RandomBits random(1);
  for (int round = 0; round < 4; ++round)
    for (const double phi : phis)
      for (const auto family : all_families())
        for (const char* text : {"componentwise:1e-8", "componentwise:1e-12", "dgemm", "rowcol:1e-13", "normwise:1e-14",
                                 "relative:1e-10", "cr", "componentwise:0x1.1p-53", "relative:0x1p-53", "rowcol:0x1.00001p-53",
                                 "normwise:0x1.00001p-53", "relative:1e-3"}) {
          const auto product = test::sample_product(test::sample_recipe(family, phi, 12, random), random);
          auto target = parse_target(text);
          if (product.narrow && target.tau > 0 && target.tau < 0x1p-24) target.tau = std::max(target.tau * 0x1p29, 0x1p-24);
          ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, target, engine())));
        }
}

TEST(CertifiedGemmLong, TellsTheTruthUnderAnyDecision) {
  for (std::uint64_t seed = 0; seed < 40000; ++seed) {
    test::RandomBits random(seed);
    const auto families = all_families();
    const auto family = families[static_cast<std::size_t>(random.below(static_cast<int>(families.size())))];
    const auto product = test::sample_product(test::sample_recipe(family, random.pick(phis), 5, random), random);
    const int beta = random.between(1, 8);
    const auto encoding = [&] {
      if (beta == 8) return Encoding::balanced();
      return random.once_in(2) ? Encoding::truncated(beta) : Encoding::nearest(beta);
    };
    static constexpr Accumulation accumulations[] = {Accumulation::exact, Accumulation::per_product,
                                                     Accumulation::per_diagonal};
    SplitPlan plan;
    plan.a = {encoding(), random.between(1, max_slices)};
    plan.b = {encoding(), random.between(1, max_slices)};
    plan.cut = random.between(2, plan.a.slices + plan.b.slices);
    plan.accumulation = random.pick(accumulations);
    static const char* const targets[] = {"componentwise:1e-8", "componentwise:1e-14", "dgemm", "rowcol:1e-13",
                                          "normwise:1e-12",     "relative:1e-6",       "cr",    "componentwise:0.01"};
    Decision decision;
    decision.target = parse_target(random.pick(targets));
    if (product.narrow && decision.target.tau > 0) decision.target.tau = std::max(decision.target.tau, 0x1p-24);
    decision.method = random.once_in(3) ? Method::correctly_rounded : Method::one_plan;
    decision.plan = plan;
    decision.m = product.m(), decision.n = product.n(), decision.k = product.k();
    ASSERT_TRUE(test::tells_the_truth(product, test::compute_with(product, decision, engine())))
        << "seed " << seed << ' ' << to_string(plan);
  }
}

TEST(CertifiedGemmLong, LargerProducts) {
  for (const auto family : all_families())
    for (const double phi : {0.0, 2.0})
      for (const auto& target :
           {Target::dgemm(), Target::componentwise(1e-12), Target::normwise(1e-14), Target::relative(1e-10)}) {
        auto product = test::product_of({family, 70, 90, 300, phi, 2});
        if (family == Family::cancellation) product = test::product_of({family, 80, 80, 80, phi, 2});
        ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, target, engine())));
      }
}

TEST(CertifiedGemmLong, CorrectRoundingOf256) {
  for (const auto family : all_families())
    for (const double phi : {0.0, 4.0}) {
      if (family == Family::full_range && phi > 0) continue;  // phi does not matter
      const auto product = test::product_of({family, 256, 256, 256, phi, 3});
      const auto computed = test::compute(product, Target::correctly_rounded(), engine());
      ASSERT_TRUE(test::keeps_its_target(product, computed));
    }
}

TEST(CertifiedGemmLong, CorrectRoundingEqualsMpfrOnEveryFamily) {
  test::RandomBits random(4);
  for (const double phi : phis)
    for (const auto family : all_families()) {
      const auto product = test::sample_product({family, 20, 20, 30, phi, random()}, random);
      const auto computed = test::compute(product, Target::correctly_rounded(), engine());
      const MpfrOracle oracle(product.operands(), MpfrOracle::exact_bits(product.k()));
      const auto verdict = verify(computed.c.view(), oracle, Target::correctly_rounded());
      ASSERT_TRUE(verdict.holds()) << product.describe() << '\n' << explain(verdict);
    }
}

TEST(CertifiedGemmLong, ALongInnerDimension) {
  for (const auto family : {Family::uniform, Family::maximal_digits, Family::maximal_digits_positive, Family::wide_exponents})
    for (const auto& target : {Target::dgemm(), Target::correctly_rounded(), Target::relative(1e-12)}) {
      const auto product = test::product_of({family, 3, 2, 300000, 2, 5});
      ASSERT_TRUE(test::keeps_its_target(product, test::compute(product, target, engine()))) << to_string(target);
    }
}

/// At a moderate size, few decisions fall back although an enumerated plan would do; also counts the products they take.
TEST(CertifiedGemmLong, PlansAreSeldomOverlookedAtModerateSizes) {
  int meetable = 0;
  int overlooked = 0;
  for (const auto family : all_families())
    for (const double phi : {0.0, 0.5, 1.0, 2.0, 3.0, 4.0})
      for (const char* text : {"componentwise:1e-8", "componentwise:1e-12", "dgemm"}) {
        const auto product = test::product_of({family, 64, 64, 500, phi, 6});
        const auto target = parse_target(text);
        const auto decision = test::decide_for(product, target, engine());
        if (decision.method == Method::one_plan) {
          ++meetable;
          continue;
        }
        Matrix<double> c(64, 64);
        multiply_unproven({product.problem.a, product.problem.b, c},
                          SplitPlan::balanced(max_slices, max_slices, 2 * max_slices), engine());
        if (!verify(c, ExactOracle(product.operands()), target).holds()) continue;
        ++meetable, ++overlooked;
      }
  RecordProperty("meetable", meetable);
  RecordProperty("overlooked", overlooked);
  EXPECT_LT(20 * overlooked, meetable);
}

}  // namespace
}  // namespace ozbound::certified_gemm_long_test
