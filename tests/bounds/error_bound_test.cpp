// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/error_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bounds/hostile_environment.hpp"
#include "support/classified.hpp"
#include "support/exact.hpp"

namespace ozbound::error_bound_test {
namespace {

using test::Exact;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double eta = 0x1p-1074;

/// The bound of one entry whose error before rounding is |alpha| error 2^(row + column).
ErrorBound bound_of(double error, std::int32_t row, std::int32_t column, double alpha) {
  ErrorBound bound;
  bound.product.uniform = error;
  bound.product.terms = {{"all", {OuterProduct{{inf}, {1}}}}};
  bound.row_exponents = {row};
  bound.column_exponents = {column};
  bound.alpha = alpha;
  return bound;
}

struct Case {
  double error, alpha, c_hat;
  int row, column;
  bool narrow, once;

  explicit Case(test::RandomBits& random)
      : error(std::abs(test::sample<double>(random))),
        alpha(test::sample<double>(random)),
        c_hat(test::sample<double>(random)),
        row(random.between(-1100, 1100)),
        column(random.between(-1100, 1100)),
        narrow(random.once_in(3)),
        once(random.once_in(2)) {}

  [[nodiscard]] ErrorBound bound() const {
    auto bound = bound_of(error, row, column, alpha);
    bound.result_factor = narrow ? 0x1p-24 : 0x1p-53;
    bound.underflow = narrow ? 0x1p-150 : eta;
    bound.rounded_once = once;
    return bound;
  }

  [[nodiscard]] Exact exact() const {
    const auto truncation = (Exact(alpha) * Exact(error)).magnitude().times_power_of_two(row + column);
    const auto rounding = Exact(c_hat).magnitude().times_power_of_two(narrow ? -24 : -53);
    const Exact underflow(narrow ? 0x1p-150 : 0.5 * eta);  // eta / 2 is no double: rounded up in the bound
    const auto half_eta = narrow ? underflow : Exact{1, -1075};
    if (!once) return truncation + rounding + half_eta;
    return truncation + (rounding < half_eta ? half_eta : rounding);
  }
};

TEST(ErrorBound, IsTheFormulaRoundedUp) {
  test::RandomBits random(1);
  int finite = 0;
  for (int t = 0; t < 20000; ++t) {
    const Case c(random);
    const double upper = c.bound().upper(0, 0, c.c_hat);
    const auto exact = c.exact();
    const auto context = testing::Message() << "case " << t << std::hexfloat << ": " << c.error << " * 2^" << c.row + c.column
                                            << ", alpha " << c.alpha << ", c " << c.c_hat;
    ASSERT_TRUE(upper == inf || !(Exact(upper) < exact)) << context;
    const auto generous = exact + exact.times_power_of_two(-45) + Exact{6, -1074};
    ASSERT_TRUE(upper == inf ? generous.top_exponent() >= 1023 : !(generous < Exact(upper)))
        << context << " is loose: " << upper;
    finite += upper < inf ? 1 : 0;
  }
  EXPECT_GT(finite, 10000);
}

TEST(ErrorBound, HoldsInAnyEnvironment) {
  test::RandomBits random(2);
  for (int t = 0; t < 2000; ++t) {
    const Case c(random);
    const auto bound = c.bound();
    const double upper = bound.upper(0, 0, c.c_hat);
    std::uint64_t disturbed = 0;
    {
      const test::HostileEnvironment hostile;
      disturbed = bits_of(bound.upper(0, 0, c.c_hat));
    }
    ASSERT_EQ(disturbed, bits_of(upper)) << t;
  }
}

TEST(ErrorBound, ANegativeResultCountsByMagnitude) {
  const auto bound = bound_of(0, 0, 0, 1);
  EXPECT_EQ(bound.upper(0, 0, -1), bound.upper(0, 0, 1));
  EXPECT_GE(bound.upper(0, 0, -1), 0x1p-53);
  EXPECT_EQ(bound.upper(0, 0, 0), eta);
  EXPECT_EQ(bound.upper(0, 0, -0.0), eta);
}

TEST(ErrorBound, AnOverflowIsNoRounding) {
  // The error of an infinite result is measured from the overflow threshold, so only the error before the rounding counts.
  for (const double c : {inf, -inf}) {
    EXPECT_EQ(bound_of(0, 0, 0, 1).upper(0, 0, c), eta);
    EXPECT_LE(bound_of(1, 3, 4, 2).upper(0, 0, c), 0x1.00001p8);
    EXPECT_GE(bound_of(1, 3, 4, 2).upper(0, 0, c), 0x1p8);
  }
}

TEST(ErrorBound, WhatIsUnboundedStaysSo) {
  EXPECT_EQ(bound_of(inf, -2000, -2000, 0x1p-1074).upper(0, 0, 1), inf);
  EXPECT_EQ(bound_of(1, 1000, 1000, 1).upper(0, 0, 1), inf);
  EXPECT_LT(bound_of(1, 1000, -1000, 1).upper(0, 0, 1), 2);
}

TEST(ErrorBound, TermsAddUpAndTheLeastAlternativeCounts) {
  auto bound = bound_of(inf, 0, 0, 1);
  bound.product.terms = {{"first", {OuterProduct{{8}, {2}}, OuterProduct{{1}, {4}}}}, {"second", {OuterProduct{{2}, {3}}}}};
  EXPECT_GE(bound.upper(0, 0, 0), 10);
  EXPECT_LE(bound.upper(0, 0, 0), 10 * (1 + 0x1p-50));
  bound.product.uniform = 3;
  EXPECT_LE(bound.upper(0, 0, 0), 3 * (1 + 0x1p-50));
}

TEST(ErrorBound, OverAMatrixReadsItsEntries) {
  auto bound = bound_of(0, 0, 0, 1);
  bound.product = {};
  bound.product.uniform = 0;
  bound.row_exponents = {0, 0};
  bound.column_exponents = {0, 0, 0};
  Matrix<double> c(2, 3);
  Matrix<float> narrow(2, 3);
  c(1, 2) = -4, narrow(1, 2) = -4;
  EXPECT_EQ(bound.over(c)(1, 2), bound.upper(1, 2, 4));
  EXPECT_EQ(bound.over(c)(0, 2), bound.upper(0, 2, 0));
  EXPECT_EQ(bound.over(narrow)(1, 2), bound.upper(1, 2, 4));
}

}  // namespace
}  // namespace ozbound::error_bound_test
