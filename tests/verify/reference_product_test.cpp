// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/reference_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::reference::reference_product_test {
namespace {

Matrix<double> scalar(double x) {
  Matrix<double> one(1, 1);
  one(0, 0) = x;
  return one;
}

TEST(ReferencePlan, TakesTheCanonicalSpellingAlone) {
  const auto plan = parse_plan("truncated7,nearest7:3x4:cut=5:per_diagonal");
  EXPECT_EQ(plan.a.digits, Digits::truncated);
  EXPECT_EQ(plan.b.digits, Digits::nearest);
  EXPECT_EQ(plan.a.slices, 3);
  EXPECT_EQ(plan.b.slices, 4);
  EXPECT_EQ(plan.cut, 5);
  EXPECT_EQ(plan.accumulation, Accumulation::per_diagonal);
  EXPECT_EQ(parse_plan("balanced:20x20:full:exact").cut, 40);
  for (const auto* const text : {"",
                                 "balanced",
                                 "balanced:7x7:exact",
                                 "balanced:7x7:cut=8",
                                 "balanced:7x7:cut=1:exact",
                                 "balanced:7x7:cut=15:exact",
                                 "balanced:0x7:full:exact",
                                 "balanced:7x21:full:exact",
                                 "balanced:+7x7:full:exact",
                                 "balanced:07x7:full:exact",
                                 "balanced:7x7:FULL:exact",
                                 "balanced:7x7:cut=:exact",
                                 "balanced:7x7:full:fast",
                                 "truncated:7x7:full:exact",
                                 "truncated8:7x7:full:exact",
                                 "nearest0:7x7:full:exact",
                                 "balanced,truncated7:7x7:full:exact",
                                 "truncated7,truncated7,nearest7:1x1:full:exact",
                                 "balanced:7x7:full:exact:",
                                 " balanced:7x7:full:exact"})
    EXPECT_THROW(static_cast<void>(parse_plan(text)), std::invalid_argument) << text;
}

TEST(ReferencePlan, GroupsDiagonalsOrSingleProducts) {
  const auto diagonals = parse_plan("balanced:2x3:cut=4:exact").groups(1 << 20);
  EXPECT_EQ(diagonals, (std::vector<Pairs>{{{1, 1}}, {{1, 2}, {2, 1}}, {{1, 3}, {2, 2}}}));
  const auto products = parse_plan("balanced:2x3:cut=4:per_product").groups(1 << 20);
  EXPECT_EQ(products, (std::vector<Pairs>{{{1, 1}}, {{1, 2}}, {{1, 3}}, {{2, 1}}, {{2, 2}}}));
}

/// At most 2^31 - 1 = pairs * k * 127^2 in a group, but one pair at least.
TEST(ReferencePlan, CutsDiagonalsWhereInt32DoesNotHoldThem) {
  const auto plan = parse_plan("truncated7:3x3:full:per_diagonal");
  const auto at = [&plan](Index k) { return plan.groups(k); };
  EXPECT_EQ(at(44381), (std::vector<Pairs>{{{1, 1}}, {{1, 2}, {2, 1}}, {{1, 3}, {2, 2}, {3, 1}}, {{2, 3}, {3, 2}}, {{3, 3}}}));
  const std::vector<Pairs> by_two{{{1, 1}}, {{1, 2}, {2, 1}}, {{1, 3}, {2, 2}}, {{3, 1}}, {{2, 3}, {3, 2}}, {{3, 3}}};
  EXPECT_EQ(at(44382), by_two);
  EXPECT_EQ(at(66572), by_two);
  EXPECT_EQ(at(66573).size(), 9u);
  EXPECT_EQ(at(133145).size(), 9u);
  EXPECT_EQ(at(0).size(), 5u);
}

/// Examples worked out by hand: docs/derivations/slicing.md (S11).
TEST(ReferenceSlices, AreTheDefinitions) {
  const auto x = scalar(-0x1.8p0);
  const SlicedVectors truncated(x.view(), {Digits::truncated, 7, 2});
  EXPECT_EQ(truncated.exponent(0), 1);
  EXPECT_EQ(truncated.digit(0, 0, 1), -96);
  EXPECT_EQ(truncated.digit(0, 0, 2), 0);
  const auto rest = scalar(0x1.82p0);
  const SlicedVectors nearest(rest.view(), {Digits::nearest, 7, 2});
  EXPECT_EQ(nearest.exponent(0), 1);
  EXPECT_EQ(nearest.digit(0, 0, 1), 48) << "48.25 units of 2^-5";
  EXPECT_EQ(nearest.digit(0, 0, 2), 32);
  const auto edge = scalar(0x1.FDp0);
  const SlicedVectors balanced(edge.view(), {Digits::balanced, 8, 2});
  EXPECT_EQ(balanced.exponent(0), 2);
  EXPECT_EQ(balanced.digit(0, 0, 1), 64);
  EXPECT_EQ(balanced.digit(0, 0, 2), -96);
}

/// With every digit there is, the plan is the exact product: what another oracle computes another way.
TEST(ReferenceProduct, OfAllDigitsIsTheExactProduct) {
  for (const auto family : {Family::uniform, Family::maximal_digits, Family::cancellation, Family::graded_rows}) {
    const auto problem = generate({.family = family, .m = 3, .n = 4, .k = 5, .phi = 0.5, .seed = 1});
    const Operands operands{problem.a.view(), problem.b.view(), -0.3, 0, {}};
    const Product product(operands, parse_plan("balanced:20x20:full:exact"));
    const ExactOracle oracle(operands);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 4; ++j) {
        EXPECT_EQ(product.truncation_error(i, j), "0x0p+0");
        EXPECT_EQ(product.entry(i, j, ResultFormat::of_double), oracle.rounded(i, j));
        EXPECT_EQ(static_cast<float>(product.entry(i, j, ResultFormat::of_float)), oracle.rounded_float(i, j));
      }
  }
}

TEST(ReferenceProduct, RepeatsTheInnerDimension) {
  const auto a = scalar(3), b = scalar(5);
  const Product product({a.view(), b.view()}, parse_plan("nearest7:1x1:full:exact"), 1000);
  EXPECT_EQ(product.entry(0, 0, ResultFormat::of_double), 15000);
  EXPECT_EQ(product.group_sums(0, 0), std::vector<std::int64_t>{std::int64_t{48} * 40 * 1000});
}

TEST(ReferenceProduct, BoundsAreExactNumbers) {
  EXPECT_EQ(truncation_bound(parse_plan("truncated7:1x1:full:exact"), 3), "0x2fdp-14") << "3 ((1 - 2^-7) 2^-7 + 2^-7)";
  EXPECT_EQ(truncation_bound(parse_plan("balanced:2x2:full:exact"), 0), "0x0p+0");
}

TEST(ReferenceProduct, RefusesWhatIsNoProduct) {
  const Matrix<double> a(2, 3), b(2, 2);
  const auto plan = parse_plan("balanced:1x1:full:exact");
  EXPECT_THROW(Product({a.view(), b.view()}, plan), std::invalid_argument);
  const auto x = scalar(1);
  EXPECT_THROW(Product({x.view(), x.view()}, plan, 0), std::invalid_argument);
  EXPECT_THROW(Product({x.view(), x.view()}, plan, std::numeric_limits<Index>::max()), std::invalid_argument);
  EXPECT_THROW(Product({x.view(), x.view()}, {{Digits::truncated, 7, 1}, {Digits::balanced, 8, 1}, 2, Accumulation::exact}),
               std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::reference::reference_product_test
