// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/abdelfattah_bound.hpp"
#include "ozbound/bounds/detail/wide_range_double.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bounds/hostile_environment.hpp"
#include "bounds/published/entry_errors.hpp"

// The validity of these bounds is the property `bounds-hold`.

namespace ozbound::abdelfattah_bound_test {
namespace {

using test::Exact;
using testing::HasSubstr;
using testing::ThrowsMessage;

SplitPlan full(Slicing a, Slicing b, Accumulation accumulation = Accumulation::per_product) {
  return {a, b, a.slices + b.slices, accumulation};
}

SplitPlan full_truncated(int slices_a, int slices_b) {
  return full({Encoding::truncated(7), slices_a}, {Encoding::truncated(7), slices_b});
}

WideRangeDouble kappa_of_row(std::vector<double> row) {
  const auto size = static_cast<Index>(row.size());
  return kappa_upper(row_major(row.data(), 1, size, std::max<Index>(size, 1)), Side::rows_of_a);
}

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Kappa, IsTwiceTheLargestRatioOfAVector) {
  EXPECT_EQ(kappa_of_row({3, -3, 3}).upper(), 2);
  const double ratio = kappa_of_row({0.75, -3, 0}).upper();
  EXPECT_GE(ratio, 8);
  EXPECT_LE(ratio, 8 * (1 + 0x1p-50));
  const double rows[] = {1, 1, 1, 3};  // by rows 1 and 3, by columns 1 and 3
  EXPECT_NEAR(kappa_upper(row_major(rows, 2, 2, 2), Side::rows_of_a).upper(), 6, 0x1p-48);
  const double columns[] = {1, 8, 1, 8};
  EXPECT_NEAR(kappa_upper(row_major(columns, 2, 2, 2), Side::rows_of_a).upper(), 16, 0x1p-47);
  EXPECT_EQ(kappa_upper(row_major(columns, 2, 2, 2), Side::columns_of_b).upper(), 2);
}

/// Kappa is rounded up, as the double next to 4 / 3 lies below it.
TEST(Kappa, IsRoundedUp) {
  const auto kappa = kappa_of_row({3, 4});
  EXPECT_GT(Exact(kappa.upper()) * Exact(3), Exact(8));
}

/// Kappa is held for every range of exponents, even far beyond a double: 2 (2^1024 - 2^971) / 2^-1074.
TEST(Kappa, TakesEveryRangeOfExponents) {
  const double largest = std::numeric_limits<double>::max();
  for (const double least : {0x1p-1074, 0x1p-1022, 7 * 0x1p-1074, 1.0}) {
    const auto kappa = kappa_of_row({least, largest});
    const auto exact = Exact(2) * Exact(largest);
    const auto upper = Exact(kappa.significand).times_power_of_two(static_cast<int>(kappa.exponent)) * Exact(least);
    EXPECT_LE(exact, upper) << least;
    EXPECT_LE(upper, exact * Exact(1 + 0x1p-50)) << least;
  }
}

TEST(Kappa, LeavesOutZerosAndSpecials) {
  EXPECT_EQ(kappa_of_row({}).upper(), 0);
  EXPECT_EQ(kappa_of_row({0, -0.0}).upper(), 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double rows[] = {0, 0, inf, 1e-9, 1e-9, nan, 5, -5};
  EXPECT_EQ(kappa_upper(row_major(rows, 4, 2, 2), Side::rows_of_a).upper(), 2);
}

TEST(Kappa, DoesNotDependOnTheCallersEnvironment) {
  const auto plain = kappa_of_row({0x1p-1070, 3, 1e300});
  const test::HostileEnvironment hostile;
  const auto disturbed = kappa_of_row({0x1p-1070, 3, 1e300});
  EXPECT_EQ(bits_of(plain.significand), bits_of(disturbed.significand));
  EXPECT_EQ(plain.exponent, disturbed.exponent);
}

/// The bound is its formula rounded up: with kappa = 2, u_A = 2^-14 and u_B = 2^-21.
TEST(Abdelfattah, IsTheFormulaRoundedUp) {
  const auto plan = full_truncated(2, 3);
  const double truncation = 0x1p-13 + 0x1p-20 + 0x1p-33;
  const double gamma = 5 * 0x1p-53 / (1 - 5 * 0x1p-53);
  const WideRangeDouble two{2, 0};
  EXPECT_GE(abdelfattah_truncation_upper(plan, two, two), truncation);
  EXPECT_LE(abdelfattah_truncation_upper(plan, two, two), truncation * (1 + 0x1p-50));
  EXPECT_GE(abdelfattah_upper(plan, two, two), truncation + gamma * (1 + truncation));
  EXPECT_LE(abdelfattah_upper(plan, two, two), (truncation + gamma * (1 + truncation)) * (1 + 0x1p-49));
}

/// Without a residual and a rounding the bound is not rounded up, and beyond the range of a double it is +Inf.
TEST(Abdelfattah, AtItsEnds) {
  EXPECT_EQ(abdelfattah_upper(full_truncated(1, 1), {}, {}), 0);
  EXPECT_EQ(abdelfattah_upper(full_truncated(1, 1), {1, 2098}, {1, 1}), inf);
  const auto finite = abdelfattah_truncation_upper(full_truncated(20, 20), {1, 1100}, {});
  EXPECT_GE(finite, 0x1p960);
  EXPECT_LT(finite, 0x1.0000000000003p960);
}

/// Digits to nearest add up to at most 3 |A| and 3 |B|, so gamma counts three times for each operand.
TEST(Abdelfattah, CountsGammaForTheMagnitudesOfDigits) {
  const Slicing truncated{Encoding::truncated(7), 20}, nearest{Encoding::nearest(7), 20};
  const auto gamma = [](Slicing a, Slicing b) { return abdelfattah_upper(full(a, b), {}, {}) / (399 * 0x1p-53); };
  EXPECT_NEAR(gamma(truncated, truncated), 1, 1e-9);
  EXPECT_NEAR(gamma(nearest, truncated), 3, 1e-9);
  EXPECT_NEAR(gamma(truncated, nearest), 3, 1e-9);
  EXPECT_NEAR(gamma(nearest, nearest), 9, 1e-9);
}

/// The bound is nearly attained: x is slightly above half its scale and leaves almost a whole unit of its last digit.
TEST(Abdelfattah, IsAttained) {
  for (int s = 1; s <= 3; ++s) {
    const auto x = test::single(1 + std::ldexp(2.0, -7 * s) - 0x1p-52);
    const test::PlannedProduct product(x, x, full_truncated(s, s));
    for (const char* name : {"abdelfattah", "abdelfattah-truncation"}) {
      EXPECT_LE(product.worst_ratio(find_bound(name)), 1);
      EXPECT_GT(product.worst_ratio(find_bound(name)), 0.96);
    }
  }
}

/// One small element makes the bound useless, although no entry is less accurate.
TEST(Abdelfattah, GrowsWithTheRangeOfARow) {
  Matrix<double> a(1, 2), b(2, 1);
  a(0, 0) = b(0, 0) = b(1, 0) = 1.1;
  double last = 1;
  for (const double small : {0x1p-10, 0x1p-20, 0x1p-30}) {
    a(0, 1) = small;
    const double attained = test::PlannedProduct(a, b, full_truncated(4, 4)).worst_ratio(find_bound("abdelfattah"));
    EXPECT_LT(attained, last / 500);
    last = attained;
  }
}

TEST(Abdelfattah, CoversEveryPairOfItsDigitsAlone) {
  EXPECT_TRUE(abdelfattah_covers(full({Encoding::truncated(7), 3}, {Encoding::nearest(7), 5}, Accumulation::exact)));
  auto others = std::vector<SplitPlan>(3, full_truncated(3, 5));
  others[0].cut = 7;
  others[1].a.encoding = Encoding::ozimmu(7);
  others[2].a.encoding = others[2].b.encoding = Encoding::balanced();
  for (const auto& plan : others) {
    const auto refused = ThrowsMessage<std::invalid_argument>(HasSubstr("does not cover " + to_string(plan)));
    EXPECT_THAT([&] { abdelfattah_truncation_upper(plan, {}, {}); }, refused);
    EXPECT_THAT([&] { abdelfattah_upper(plan, {}, {}); }, refused);
  }
}

}  // namespace
}  // namespace ozbound::abdelfattah_bound_test
