// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "ozbound/verify/problem.hpp"

#include "bounds/published/entry_errors.hpp"
#include "ozbound/bounds/jeannerod_rump_bound.hpp"
#include "ozbound/bounds/published/higham_mary_bound.hpp"
#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"

// Bounds and estimates for products that are summed in floating point.

namespace ozbound::native_sum_bounds_test {
namespace {

using test::Exact;

using Terms = std::vector<double>;

double in_order(const Terms& terms) { return std::accumulate(terms.begin(), terms.end(), 0.0); }
double reversed(const Terms& terms) { return std::accumulate(terms.rbegin(), terms.rend(), 0.0); }

double pairwise(const Terms& terms) {
  if (terms.size() < 2) return terms.empty() ? 0 : terms[0];
  const auto middle = terms.begin() + static_cast<std::ptrdiff_t>(terms.size() / 2);
  return pairwise({terms.begin(), middle}) + pairwise({middle, terms.end()});
}

/// The error of one entry over |A||B|; nothing if a product underflows or a sum overflows.
std::optional<double> relative_error(const Matrix<double>& a, const Matrix<double>& b, Index i, Index j,
                                     double (*sum)(const Terms&)) {
  Terms terms;
  for (Index l = 0; l < a.cols(); ++l) {
    terms.push_back(a(i, l) * b(l, j));
    if (a(i, l) != 0 && b(l, j) != 0 && std::abs(terms.back()) < 0x1p-1022) return {};
  }
  const double computed = sum(terms);
  if (!std::isfinite(computed)) return {};
  const auto error = (Exact(computed) - test::product_of(a, b, i, j, false)).magnitude();
  return test::quotient(error, test::product_of(a, b, i, j, true));
}

TEST(JeannerodRump, IsTheFormula) {
  EXPECT_EQ(jeannerod_rump_upper(0), 0);
  EXPECT_EQ(jeannerod_rump_upper(1000), 1000 * 0x1p-53);
  EXPECT_EQ(jeannerod_rump_upper(Index{1} << 55), 4 * (1 + 0x1p-52));  // beyond 2^53 outward; no condition on k u
}

TEST(NativeSumBounds, AreNoneWhereTheRangeIsLeft) {
  const CpuEngine engine({.threads = 1});
  const auto judged = [&](double x) {
    return [&engine, x] {
      Matrix<double> a(1, 2), b(2, 1);
      a(0, 0) = a(0, 1) = b(0, 0) = b(1, 0) = x;
      for (const char* name : {"jeannerod-rump", "higham-mary"})
        static_cast<void>(find_bound(name).value({a, b, SplitPlan::balanced(1, 1, 2), engine}));
    };
  };
  EXPECT_NO_THROW(judged(0x1p-458)());
  EXPECT_NO_THROW(judged(0)());
  EXPECT_THAT(judged(1.5 * 0x1p-540),
              testing::ThrowsMessage<std::invalid_argument>("jeannerod-rump: a product of native DGEMM may underflow"));
  EXPECT_THAT(judged(0x1p600), testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("may overflow")));
  const Matrix<float> narrow(1, 1);
  EXPECT_THAT(
      [&] { static_cast<void>(find_bound("jeannerod-rump").upper({narrow, narrow, SplitPlan::balanced(1, 1, 2), engine})); },
      testing::ThrowsMessage<std::invalid_argument>("jeannerod-rump: native GEMMs take matrices of one format"));
}

TEST(JeannerodRump, HoldsForEveryFamilyAndOrder) {
  for (const Family family : all_families())
    for (const double phi : {0.0, 2.0}) {
      const auto problem = generate({family, 4, 4, 30, phi, 7});
      for (const auto sum : {in_order, reversed, pairwise})
        for (Index i = 0; i < 4; ++i)
          for (Index j = 0; j < 4; ++j)
            EXPECT_LE(relative_error(problem.a, problem.b, i, j, sum).value_or(0), jeannerod_rump_upper(30)) << name(family);
    }
}

/// Elements 1 and k - 1 times u: every addition is a tie that goes to 1.
Matrix<double> ties(Index k) {
  Matrix<double> a(1, k);
  for (Index l = 0; l < k; ++l) a(0, l) = l == 0 ? 1 : 0x1p-53;
  return a;
}

Matrix<double> ones(Index k) {
  Matrix<double> b(k, 1);
  for (Index l = 0; l < k; ++l) b(l, 0) = 1;
  return b;
}

TEST(JeannerodRump, IsAttained) {
  EXPECT_GT(*relative_error(ties(200), ones(200), 0, 0, in_order), 0.99 * jeannerod_rump_upper(200));
  EXPECT_LE(*relative_error(ties(200), ones(200), 0, 0, in_order), jeannerod_rump_upper(200));
}

/// The bound excludes products that underflow, whose relative error can be 1.
TEST(JeannerodRump, NeedsProductsThatDoNotUnderflow) {
  const auto tiny = test::single(0x1p-600);
  EXPECT_EQ(tiny(0, 0) * tiny(0, 0), 0);
  EXPECT_FALSE(relative_error(tiny, tiny, 0, 0, in_order).has_value());
}

TEST(HighamMary, IsTheFormula) {
  EXPECT_NEAR(estimate_higham_mary(100, 5), 50 * 0x1p-53, 1e-25);
  EXPECT_EQ(estimate_higham_mary(0, 5), 0);
  EXPECT_NEAR(higham_mary_probability(2, 3, 4, 3), 1 - 48 * std::exp(-4.5), 1e-12);
  EXPECT_EQ(higham_mary_probability(1000, 1000, 1000, 1), 0);  // lambda = 1 promises nothing
}

TEST(HighamMary, LambdaIsThatOfAProbability) {
  for (const Index k : {1, 30, 100000})
    for (const double probability : {0.0, 0.5, 0.99}) {
      const double lambda = higham_mary_lambda(4, 4, k, probability);
      EXPECT_NEAR(higham_mary_probability(4, 4, k, lambda), probability, 1e-9) << k;
    }
  EXPECT_EQ(higham_mary_lambda(0, 4, 4, 0.99), 0);
}

/// On random data the estimate holds far more often than promised, and is sharper than k u from k = lambda^2 on.
TEST(HighamMary, HoldsOnRandomData) {
  const Index k = 1000;
  const double estimate = estimate_higham_mary(k, higham_mary_lambda(8, 8, k, 0.99));
  EXPECT_LT(estimate, jeannerod_rump_upper(k) / 4);
  const auto problem = generate({Family::uniform, 8, 8, k, 0, 3});
  double worst = 0;
  for (Index i = 0; i < 8; ++i)
    for (Index j = 0; j < 8; ++j) worst = std::max(worst, relative_error(problem.a, problem.b, i, j, in_order).value());
  EXPECT_LT(worst, estimate);
  EXPECT_GT(worst, estimate / 1000);
}

/// The estimate is no bound: it fails if all rounding errors have one sign.
TEST(HighamMary, FailsWhereRoundingErrorsAreNotRandom) {
  const double error = *relative_error(ties(1000), ones(1000), 0, 0, in_order);
  EXPECT_GT(error, 4 * estimate_higham_mary(1000, higham_mary_lambda(1, 1, 1000, 0.99)));
}

TEST(HighamMary, CertifiesNothing) {
  const auto& bound = find_bound("higham-mary");
  EXPECT_FALSE(bound.rigorous);
  const auto one = test::single(1);
  const CpuEngine engine({.threads = 1});
  const BoundInputs inputs(one, one, SplitPlan::balanced(1, 1, 2), engine);
  EXPECT_THROW(static_cast<void>(bound.upper(inputs)), std::invalid_argument);
  EXPECT_EQ(bound.value(inputs).probability, 0.99);
}

}  // namespace
}  // namespace ozbound::native_sum_bounds_test
