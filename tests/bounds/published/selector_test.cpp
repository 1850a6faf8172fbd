// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include "ozbound/bounds/published/selector.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "ozbound/bounds/published/abdelfattah_bound.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/scheme.hpp"

namespace ozbound::test::selector_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double infinity = std::numeric_limits<double>::infinity();

Selection select(std::string_view name, const SampleProduct& product, const Target& target) {
  return find_selector(name).select(product.problem.a, product.problem.b, target, CpuEngine({.threads = 1}));
}

/// The chosen slice counts; (0, 0) if there is no choice.
std::pair<int, int> slices(std::string_view name, const SampleProduct& product, const Target& target = Target::dgemm()) {
  const auto plan = select(name, product, target).plan;
  return plan ? std::pair(plan->split().a.slices, plan->split().b.slices) : std::pair(0, 0);
}

SampleProduct dot(const std::vector<double>& a, const std::vector<double>& b) {
  const auto k = static_cast<Index>(a.size());
  return product_of(matrix_of(1, k, a), matrix_of(k, 1, b));
}

/// The largest ratio of error to target of the product under a plan.
double error_ratio(const SampleProduct& product, const Plan& plan, const Target& target) {
  Matrix<double> c(product.m(), product.n());
  multiply_unproven(RealProduct{product.problem.a, product.problem.b, c}, plan, CpuEngine({.threads = 1}));
  return verify(c, ExactOracle(product.problem), target).ratio;
}

TEST(Selector, NamesAreDistinctAndFound) {
  std::set<std::string> names;
  for (const auto& selector : all_selectors()) {
    EXPECT_TRUE(names.insert(selector.name).second) << selector.name;
    EXPECT_EQ(&find_selector(selector.name), &selector);
    for (const auto& text : {selector.source, selector.statement, selector.caution})
      EXPECT_FALSE(text.empty()) << selector.name;
  }
  EXPECT_THAT([] { find_selector("best"); }, ThrowsMessage<std::invalid_argument>(HasSubstr(
                                                 "selector 'best' is none of ozbound, ozbound-residues, kappa, uchino, esc")));
}

TEST(Selector, RefusesWhatItCannotJudge) {
  const auto plain = dot({1, 2}, {3, 4});
  for (const auto& selector : all_selectors()) {
    const auto choose = [&](const SampleProduct& product, const Target& target) {
      return [&selector, product, target] {
        selector.select(product.problem.a, product.problem.b, target, CpuEngine({.threads = 1}));
      };
    };
    for (const auto& target : {Target::correctly_rounded(), Target::relative(0.5), Target::normwise(0.5), Target::rowcol(0.5)})
      EXPECT_THAT(choose(plain, target), ThrowsMessage<std::invalid_argument>(
                                             HasSubstr("must be componentwise, dgemm or dgemm-typical: " + to_string(target))));
    EXPECT_THAT(choose(product_of(Matrix<double>(1, 2), Matrix<double>(3, 1)), Target::dgemm()),
                ThrowsMessage<std::invalid_argument>("b must have a's inner dimension, 2 rows: 3 x 1"));
    EXPECT_THAT(choose(dot({1, infinity}, {3, 4}), Target::dgemm()), ThrowsMessage<std::invalid_argument>("a must be finite"));
    EXPECT_THAT(choose(dot({1, 2}, {std::nan(""), 4}), Target::dgemm()),
                ThrowsMessage<std::invalid_argument>("b must be finite"));
  }
}

TEST(Selector, TakesEmptyProducts) {
  for (const auto& selector : all_selectors())
    for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {0, 0, 0}})
      EXPECT_NO_THROW(selector.select(Matrix<double>(m, k), Matrix<double>(k, n), Target::dgemm(), CpuEngine({.threads = 1})))
          << selector.name << " " << m << " " << n << " " << k;
}

TEST(Selector, WhatIsCertifiedIsMet) {
  Index certified = 0;
  for (const auto family : all_families())
    for (const double phi : {0.0, 2.0})
      for (const auto& target :
           {Target::componentwise(0x1p-20), Target::componentwise(0x1p-45), Target::dgemm(), Target::dgemm_typical()}) {
        const auto product = product_of({.family = family, .m = 5, .n = 4, .k = 37, .phi = phi, .seed = 3});
        for (const auto& selector : all_selectors()) {
          const auto selection = select(selector.name, product, target);
          EXPECT_TRUE(selector.rigorous || !selection.certified) << selector.name;
          EXPECT_EQ(selection.certified, selector.rigorous && selection.plan) << selector.name;
          if (!selection.certified) continue;
          ++certified;
          EXPECT_LE(error_ratio(product, *selection.plan, target), 1) << selector.name << " on " << product.describe();
        }
      }
  EXPECT_GT(certified, 150);
}

TEST(Selector, NothingIsCertifiedBelowTheUnitRoundoff) {
  const auto product = product_of({.family = Family::uniform, .m = 2, .n = 2, .k = 5, .seed = 1});
  for (const auto& selector : all_selectors())
    EXPECT_FALSE(select(selector.name, product, Target::componentwise(0x1p-54)).certified) << selector.name;
}

TEST(Selector, OursIsWhatDecideChooses) {
  const auto product = product_of({.family = Family::uniform, .m = 4, .n = 4, .k = 20, .seed = 1});
  const auto decision = decide({product.problem.a, product.problem.b}, Target::dgemm(), CpuEngine(), {.residues = false});
  ASSERT_EQ(decision.method, Method::one_plan);
  EXPECT_EQ(select("ozbound", product, Target::dgemm()).plan, decision.plan);
}

TEST(Selector, KappaTakesTheFewestProductsOfTheFullSet) {
  const auto product = product_of({.family = Family::uniform, .m = 3, .n = 3, .k = 500, .seed = 2});
  const auto kappa_a = kappa_upper(product.problem.a, Side::rows_of_a),
             kappa_b = kappa_upper(product.problem.b, Side::columns_of_b);
  for (int bits = 16; bits <= 44; ++bits) {  // steps so small that every plan's bound lies between two of them
    const double tau = std::ldexp(1, -bits);
    const auto plan = select("kappa", product, Target::componentwise(tau)).plan;
    ASSERT_TRUE(plan) << bits;
    EXPECT_EQ(plan->split().cut, plan->split().a.slices + plan->split().b.slices);
    EXPECT_LE(abdelfattah_upper(plan->split(), kappa_a, kappa_b), tau) << bits;
    for (int a = 1; a <= max_slices; ++a)
      for (int b = 1; a * b < plan->products() && b <= max_slices; ++b)
        EXPECT_GT(abdelfattah_upper(find_scheme("abdelfattah").plan(a, b, 500), kappa_a, kappa_b), tau * (1 - 0x1p-8))
            << bits << ": " << a << " x " << b;
  }
}

TEST(Selector, KappaGivesUpWhereOneElementIsTiny) {
  EXPECT_NE(slices("kappa", dot({1, 1}, {1, 1}), Target::componentwise(1e-8)), std::pair(0, 0));
  EXPECT_EQ(slices("kappa", dot({1, 0x1p-1000}, {1, 1}), Target::componentwise(1e-8)), std::pair(0, 0));
}

TEST(Selector, UchinoTakesTheLeastSlices) {
  const auto product = dot({1.5}, {1.5});  // |a||b| = 2.25 = (9/16) rho sigma
  // (s + 1) 2^(-7s) <= 9/16 tau less the rounding: 2^-21 * 4 suffices from tau = 3.4e-6 on, 2^-28 * 5 from 3.4e-8 on.
  EXPECT_EQ(slices("uchino", product, Target::componentwise(1e-5)), std::pair(3, 3));
  EXPECT_EQ(slices("uchino", product, Target::componentwise(3e-6)), std::pair(4, 4));
}

TEST(Selector, UchinoTakesTheLeastEntry) {
  const auto hard = dot({1, 0x1p-20}, {0x1p-20, 1}), easy = dot({1, 0x1p-20}, {1, 1});
  const auto both = product_of(matrix_of(1, 2, {1, 0x1p-20}), matrix_of(2, 2, {0x1p-20, 1, 1, 1}));
  const auto target = Target::componentwise(1e-8);
  EXPECT_GT(slices("uchino", hard, target).first, slices("uchino", easy, target).first);
  EXPECT_EQ(slices("uchino", both, target), slices("uchino", hard, target));
}

// Exponent span

std::optional<int> span(const SampleProduct& product, Index block = 1) {
  return exponent_span(product.problem.a, product.problem.b, block, 1);
}

TEST(ExponentSpan, IsTheDistanceFromTheLargestProduct) {
  EXPECT_EQ(span(dot({1, 1}, {1, 1})), 0);
  EXPECT_EQ(span(dot({1.5, 0x1p-7}, {0x1.8p-3, 0x1.fp4})), 4 - (4 - 7));  // 0 + 4, the products have -3 and -3
  EXPECT_EQ(span(product_of(matrix_of(2, 2, {1, 1, 1, 0x1p-9}), matrix_of(2, 1, {0x1p-20, 1}))), 9);
}

TEST(ExponentSpan, ZerosHaveNoExponent) {
  EXPECT_EQ(span(dot({0, 0x1p-40}, {0x1p30, 1})), 30);
  EXPECT_EQ(span(dot({0, 1}, {1, 0})), 0);  // AB = 0 exactly: no entry can be inaccurate
  EXPECT_EQ(span(product_of(Matrix<double>(2, 0), Matrix<double>(0, 2))), 0);
}

TEST(ExponentSpan, SubnormalNumbersHaveTheirOwnExponent) {
  EXPECT_EQ(span(dot({0x1p-1074, 7 * 0x1p-1023}, {1, -7 * 0x1p-60})), -1021 + 1074);
}

TEST(ExponentSpan, CoarseIsNeverLess) {
  Index wider = 0;
  for (const auto family : {Family::wide_exponents, Family::graded_inner, Family::powers_of_two})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto product = product_of({.family = family, .m = 3, .n = 4, .k = 29, .phi = 3, .seed = seed});
      const auto exact = span(product);
      ASSERT_TRUE(exact);
      for (const Index block : {2, 5, 29, 100}) {
        const auto coarse = span(product, block);
        ASSERT_TRUE(coarse);
        EXPECT_GE(*coarse, *exact) << block;
        wider += Index{*coarse > *exact};
      }
    }
  EXPECT_GT(wider, 100);
}

TEST(ExponentSpan, CoarseHasNoLimitWhereZerosHideEveryProduct) {
  EXPECT_EQ(span(dot({0, 1}, {1, 1}), 2), 0);  // A's largest meets B's least, a product that exists
  EXPECT_EQ(span(dot({0, 1}, {1, 0}), 2), std::nullopt);
  EXPECT_THROW(span(dot({1}, {1}), 0), std::invalid_argument);
}

TEST(ExponentSpan, SlicesHoldTheWindow) {
  const auto with_span = [](int bits) { return dot({1, std::ldexp(1, -bits)}, {std::ldexp(1, -bits), 1}); };
  EXPECT_EQ(span(with_span(3)), 3);
  // W = 53 + ESC + 1 <= 8 s - 2.
  EXPECT_EQ(slices("esc", with_span(0)), std::pair(7, 7));
  EXPECT_EQ(slices("esc", with_span(1)), std::pair(8, 8));
  EXPECT_EQ(slices("esc", with_span(8)), std::pair(8, 8));
  EXPECT_EQ(slices("esc", with_span(9)), std::pair(9, 9));
  EXPECT_EQ(slices("esc", with_span(0), Target::componentwise(0x1p-28)), std::pair(4, 4));  // W = 28 + 1 + 1, k = 2
  EXPECT_EQ(slices("esc", with_span(0), Target::componentwise(0x1.fp-29)), std::pair(5, 5));
  EXPECT_EQ(slices("esc", with_span(104)), std::pair(20, 20));
  EXPECT_EQ(slices("esc", with_span(105)), std::pair(0, 0));
}

// The count assumes all pairs of slices; the triangle leaves a larger error where digits are large.
TEST(ExponentSpan, TheTriangleMissesTheTarget) {
  const auto product = dot({0x1.024216964e96ap+0}, {0x1.fdfdfdfdfdfdfp+0});
  const auto plan = select("esc", product, Target::dgemm()).plan->split();
  EXPECT_GT(error_ratio(product, plan, Target::dgemm()), 1);
  auto full = plan;
  full.cut = plan.a.slices + plan.b.slices;
  EXPECT_LE(error_ratio(product, full, Target::dgemm()), 1);
}

// Bit counts

TEST(MantissaLoss, CountsEveryBitOfASignificand) {
  EXPECT_EQ(slices("mantissa-loss-0", dot({1}, {1})), std::pair(8, 8));  // 55 bits of the released encoding hold 53
  EXPECT_EQ(slices("mantissa-loss-0", dot({1, 0x1p-2}, {1, 1})), std::pair(8, 8));
  EXPECT_EQ(slices("mantissa-loss-0", dot({1, 0x1p-3}, {1, 1})), std::pair(9, 9));
  EXPECT_EQ(slices("mantissa-loss-0", dot({1, 1}, {1, 0x1p-3})), std::pair(9, 9));
  EXPECT_EQ(slices("mantissa-loss-0", dot({1, 0x1p-72}, {1, 1})), std::pair(18, 18));
  EXPECT_EQ(slices("mantissa-loss-0", dot({1, 0x1p-73}, {1, 1})), std::pair(0, 0));
}

TEST(MantissaLoss, AveragesOverTheElementsOfBoth) {
  EXPECT_EQ(slices("mantissa-loss-1", dot({1, 0x1p-6}, {1, 1})), std::pair(8, 8));  // 4 bits of four elements are lost
  EXPECT_EQ(slices("mantissa-loss-1", dot({1, 0x1p-7}, {1, 1})), std::pair(9, 9));
  EXPECT_EQ(slices("mantissa-loss-1", dot({1, 0}, {1, 0x1p-6})), std::pair(8, 8));  // zeros count
  const auto far = product_of(matrix_of(1, 64, std::vector<double>(64, 1)), matrix_of(64, 1, std::vector<double>(64, 1)));
  auto with_tiny = far;
  with_tiny.problem.a(0, 5) = 0x1p-500;  // loses more than the 128 bits allowed, with any slices
  EXPECT_EQ(slices("mantissa-loss-1", far), std::pair(8, 8));
  EXPECT_EQ(slices("mantissa-loss-1", with_tiny), std::pair(0, 0));
}

TEST(ExactRepresentation, CountsTheBitsThatThereAre) {
  EXPECT_EQ(slices("gemmi", dot({3, 0x1p-2}, {1, 1})), std::pair(1, 1));
  EXPECT_EQ(slices("gemmi", dot({0x1p20, 1}, {0, 0})), std::pair(3, 1));
  EXPECT_EQ(slices("gemmi", dot({0x1p21, 1}, {1, 0x1p-7})), std::pair(4, 2));
  EXPECT_EQ(slices("gemmi", dot({1, 0x1p-139}, {1, 1})), std::pair(20, 1));
  EXPECT_EQ(slices("gemmi", dot({1, 0x1p-140}, {1, 1})), std::pair(0, 0));
  const auto product = dot({0x1p21, 5}, {0x1.2p3, -9});
  EXPECT_EQ(error_ratio(product, find_scheme("abdelfattah").plan(4, 1, 2), Target::correctly_rounded()), 0);  // no slice fewer
}

// Mukunoki et al.: the error left by the slices of B is ignored (docs/errata.md, 8).
TEST(SliceNorms, IgnoreTheSlicesOfB) {
  const auto product = dot({1, 0x1p-60}, {1.0 / 3, 1.0 / 7});
  EXPECT_EQ(slices("mukunoki", product), std::pair(2, 2));
  EXPECT_GT(error_ratio(product, *select("mukunoki", product, Target::dgemm()).plan, Target::dgemm()), 1e6);
}

TEST(SliceNorms, FindTheScaleOfEverySliceAnew) {
  // The second slice of A is 2^-20, not the empty slice below 1, so the loop goes on until A is used up.
  const auto product = dot({1, 0x1p-20}, {1, 1});
  const auto plan = select("mukunoki", product, Target::dgemm()).plan;
  ASSERT_TRUE(plan);
  EXPECT_EQ(error_ratio(product, *plan, Target::dgemm()), 0);
}

TEST(SliceNorms, TakeEveryPairWhereNothingIsLeftOfA) {
  const auto product = dot({3, 5}, {1.0 / 3, 1.0 / 7});
  const auto plan = select("mukunoki", product, Target::dgemm()).plan;
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->split().a.slices, 1);
  EXPECT_EQ(plan->split().cut, plan->split().a.slices + plan->split().b.slices);
  EXPECT_GT(plan->split().b.slices, 7);
  EXPECT_LE(error_ratio(product, *plan, Target::dgemm()), 1);
  EXPECT_EQ(slices("mukunoki", dot({3, 5}, {0x1p1000, 0x1p-1000})), std::pair(1, 2));
}

TEST(SliceNorms, AskForMoreSlicesOfAWiderA) {
  const auto narrow = product_of({.family = Family::uniform, .m = 4, .n = 4, .k = 16, .seed = 1});
  const auto wide = product_of({.family = Family::wide_exponents, .m = 4, .n = 4, .k = 16, .phi = 3, .seed = 1});
  EXPECT_LT(slices("mukunoki", narrow).first, slices("mukunoki", wide).first);
  EXPECT_LT(slices("mukunoki", narrow, Target::componentwise(1e-4)).first, slices("mukunoki", narrow).first);
}

}  // namespace
}  // namespace ozbound::test::selector_test
