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

SlicePlan slice_plan(const char* text) { return std::get<SlicePlan>(parse_plan(text)); }

TEST(ReferencePlan, TakesTheCanonicalSpellingAlone) {
  const auto plan = slice_plan("truncated7,nearest7:3x4:cut=5:per_diagonal");
  EXPECT_EQ(plan.a.digits, Digits::truncated);
  EXPECT_EQ(plan.b.digits, Digits::nearest);
  EXPECT_EQ(plan.a.slices, 3);
  EXPECT_EQ(plan.b.slices, 4);
  EXPECT_EQ(plan.cut, 5);
  EXPECT_EQ(plan.accumulation, Accumulation::per_diagonal);
  EXPECT_EQ(slice_plan("balanced:20x20:full:exact").cut, 40);
  const auto residues = std::get<ResiduePlan>(parse_plan("residues:13:46x120"));
  EXPECT_EQ(residues.moduli, 13);
  EXPECT_EQ(residues.bits_a, 46);
  EXPECT_EQ(residues.bits_b, 120);
  EXPECT_EQ(to_string(residues), "residues:13:46x120");
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
                                 " balanced:7x7:full:exact",
                                 "residues",
                                 "residues:",
                                 "residues:13",
                                 "residues:13:46",
                                 "residues:13:46x",
                                 "residues:13:46x47:",
                                 "residues:1:46x47",
                                 "residues:21:46x47",
                                 "residues:013:46x47",
                                 "residues:13:0x47",
                                 "residues:13:46x121",
                                 "residues:13:-6x47",
                                 "residues:13:46x47x48"})
    EXPECT_THROW(static_cast<void>(parse_plan(text)), std::invalid_argument) << text;
}

TEST(ReferencePlan, GroupsDiagonalsOrSingleProducts) {
  const auto diagonals = slice_plan("balanced:2x3:cut=4:exact").groups(1 << 20);
  EXPECT_EQ(diagonals, (std::vector<Pairs>{{{1, 1}}, {{1, 2}, {2, 1}}, {{1, 3}, {2, 2}}}));
  const auto products = slice_plan("balanced:2x3:cut=4:per_product").groups(1 << 20);
  EXPECT_EQ(products, (std::vector<Pairs>{{{1, 1}}, {{1, 2}}, {{1, 3}}, {{2, 1}}, {{2, 2}}}));
}

/// Diagonals are cut into groups with pairs * k * 127^2 <= 2^31 - 1, but with at least one pair.
TEST(ReferencePlan, CutsDiagonalsWhereInt32DoesNotHoldThem) {
  const auto plan = slice_plan("truncated7:3x3:full:per_diagonal");
  const auto at = [&plan](Index k) { return plan.groups(k); };
  EXPECT_EQ(at(44381), (std::vector<Pairs>{{{1, 1}}, {{1, 2}, {2, 1}}, {{1, 3}, {2, 2}, {3, 1}}, {{2, 3}, {3, 2}}, {{3, 3}}}));
  const std::vector<Pairs> by_two{{{1, 1}}, {{1, 2}, {2, 1}}, {{1, 3}, {2, 2}}, {{3, 1}}, {{2, 3}, {3, 2}}, {{3, 3}}};
  EXPECT_EQ(at(44382), by_two);
  EXPECT_EQ(at(66572), by_two);
  EXPECT_EQ(at(66573).size(), 9u);
  EXPECT_EQ(at(133145).size(), 9u);
  EXPECT_EQ(at(0).size(), 5u);
}

/// Slices agree with examples worked out by hand: docs/derivations/slicing.md (S11).
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

/// With all digits a plan gives the exact product, which another oracle computes differently.
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
  EXPECT_EQ(product.slices().group_sums(0, 0), std::vector<std::int64_t>{std::int64_t{48} * 40 * 1000});
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
  const SlicePlan mixed{{Digits::truncated, 7, 1}, {Digits::balanced, 8, 1}, 2, Accumulation::exact};
  EXPECT_THROW(Product({x.view(), x.view()}, mixed), std::invalid_argument);
}

std::vector<int> residues_of(double x, int bits, int moduli) {
  const auto one = scalar(x);
  const RoundedVectors rounded(one.view(), bits);
  std::vector<int> all;
  for (int t = 1; t <= moduli; ++t) all.push_back(rounded.residue(0, 0, t));
  return all;
}

/// Residues agree with examples worked out by hand: docs/derivations/residues.md (R2), (R3).
TEST(ReferenceResidues, AreTheDefinitions) {
  EXPECT_EQ(residues_of(1, 8, 3), (std::vector<int>{-128, -125, -123})) << "a' = 128";
  EXPECT_EQ(residues_of(-1, 8, 3), (std::vector<int>{-128, 125, 123})) << "a' = -128";
  EXPECT_EQ(residues_of(0x1.fep0, 8, 2), (std::vector<int>{-1, 2})) << "a' = 255";
  EXPECT_EQ(residues_of(0x1.fffp0, 8, 2), (std::vector<int>{0, 3})) << "a' = 256 = 2^8";
  EXPECT_EQ(residues_of(0, 8, 2), (std::vector<int>{0, 0}));
  const auto x = scalar(0x1.8p0);  // 1.5: a tie at one bit, 0.75
  EXPECT_EQ(static_cast<int>(RoundedVectors(x.view(), 1).integer(0, 0)), 2);
  Matrix<double> ties(1, 4);
  for (Index l = 0; l < 4; ++l) ties(0, l) = static_cast<double>(8 + 2 * l + 1) / 2;  // 4.5 5.5 6.5 7.5, of 3 bits
  const RoundedVectors rounded(ties.view(), 3);
  for (Index l = 0; l < 4; ++l) EXPECT_EQ(static_cast<int>(rounded.integer(0, l)), 4 + 2 * ((l + 1) / 2)) << l;
  EXPECT_FALSE(rounded.exact(0));
  EXPECT_TRUE(RoundedVectors(ties.view(), 4).exact(0));
}

/// With all bits of the operands the plan gives the exact product, which another oracle computes differently.
TEST(ReferenceResidues, OfAllBitsAreTheExactProduct) {
  for (const auto family : {Family::uniform, Family::maximal_digits, Family::cancellation, Family::subnormal}) {
    const auto problem = generate({.family = family, .m = 3, .n = 4, .k = 5, .phi = 0.5, .seed = 1});
    const Operands operands{problem.a.view(), problem.b.view(), -0.3, 0, {}};
    const Product product(operands, parse_plan("residues:20:120x120"));
    const ExactOracle oracle(operands);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 4; ++j) {
        if (!product.residues().a().exact(i) || !product.residues().b().exact(j)) continue;
        EXPECT_EQ(product.truncation_error(i, j), "0x0p+0");
        EXPECT_EQ(product.entry(i, j, ResultFormat::of_double), oracle.rounded(i, j));
        EXPECT_EQ(static_cast<float>(product.entry(i, j, ResultFormat::of_float)), oracle.rounded_float(i, j));
      }
    EXPECT_TRUE(product.residues().a().exact(0)) << "or nothing was looked at";
  }
}

/// Sums over k in halves and blocks agree with sums over single elements and with Product's copies.
TEST(ReferenceResidues, SumLongIntegersInBlocks) {
  constexpr Index k = 97;
  for (const double x : {0x1.fffffffffffffp0, -0x1.fffffffffffffp0, 0x1.0000000000001p0}) {
    const double y = -0x1.5555555555555p0;
    Matrix<double> a(1, k), b(k, 1);
    for (Index l = 0; l < k; ++l) a(0, l) = x, b(l, 0) = y;
    const auto one_a = scalar(x), one_b = scalar(y);
    for (const ResiduePlan& plan : {ResiduePlan{20, 120, 120}, ResiduePlan{20, 60, 61}, ResiduePlan{20, 59, 3}}) {
      const ResidueProduct whole({a.view(), b.view()}, plan), repeated({one_a.view(), one_b.view()}, plan, k);
      EXPECT_EQ(whole.integer_text(0, 0), repeated.integer_text(0, 0)) << x;
      for (int t = 1; t <= most_moduli; ++t) EXPECT_EQ(whole.residue_sum(0, 0, t), repeated.residue_sum(0, 0, t));
      EXPECT_EQ(whole.held(0, 0), plan.bits_a != 120);
    }
  }
}

/// The moduli hold a product exactly if 2 sum |a' b'| < P: one product with k = 1 and a' b' = 2^(p_A + p_B - 2), on both sides
/// of P / 2.
TEST(ReferenceResidues, AreHeldBelowHalfTheProductOfTheModuli) {
  const auto x = scalar(-1), y = scalar(1);
  const auto held = [&](const ResiduePlan& plan) { return ResidueProduct({x.view(), y.view()}, plan).held(0, 0); };
  EXPECT_TRUE(held({2, 8, 8})) << "2^14 <= (256 * 253 - 1) / 2";
  EXPECT_FALSE(held({2, 8, 9})) << "2^15 is above 32383";
  EXPECT_TRUE(held({3, 12, 12})) << "2^22 <= (256 * 253 * 251 - 1) / 2";
  EXPECT_FALSE(held({3, 12, 13})) << "2^23 is above 8128383";
}

}  // namespace
}  // namespace ozbound::reference::reference_product_test
