// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "ozbound/core/gemm.hpp"
#include "support/exact.hpp"
#include "support/gemm_calls.hpp"

// The accuracy of C: the exact result rounded once if the slices hold everything.

namespace ozbound::gemm_exactness_test {
namespace {

using test::Exact;
using test::matrix_of;
using test::product;
using test::RandomBits;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double least = 0x1p-1074;

/// Plans that hold every bit of operands whose vectors spread over a few binades.
const char* const ample_plans[] = {"balanced:20x20:full:exact", "truncated7:20x20:full:exact", "nearest7:20x20:full:exact",
                                   "truncated7,nearest7:20x20:full:exact"};

testing::AssertionResult same(const Matrix<double>& x, const Matrix<double>& y) {
  return test::same_bits(test::stored(x), test::bits_of_matrix(y));
}

/// One product of numbers, alpha a b + beta c0, under a plan.
double scalar_product(double a, double b, const std::string& plan, double alpha = 1, double beta = 0, double c0 = 0) {
  return product(matrix_of({{a}}), matrix_of({{b}}), parse_plan(plan), alpha, beta, matrix_of({{c0}}))(0, 0);
}

/// With enough slices in any encoding, C is the exact result rounded once, for rows of A and columns of B of any size that each
/// span at most 60 binades.
RC_GTEST_PROP(ExactResultTest, AmpleSlicesRoundTheExactResult, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    const Index m = random.between(1, 4), n = random.between(1, 4), k = random.between(1, 9);
    Matrix<double> a(m, k), b(k, n), c0(m, n);
    for (Index i = 0; i < m; ++i)
      for (int top = random.between(-1074, 1023), l = 0; l < k; ++l)
        a(i, l) = test::sample_below<double>(top, l == 0 ? 0 : random.below(60), random);
    for (Index j = 0; j < n; ++j)
      for (int top = random.between(-1074, 1023), l = 0; l < k; ++l)
        b(l, j) = test::sample_below<double>(top, l == 0 ? 0 : random.below(60), random);
    for (Index t = 0; t < m * n; ++t) c0.data()[t] = test::sample<double>(random);
    const double alpha = test::sample_scalar(random), beta = test::sample_scalar(random);
    const auto plan = parse_plan(random.pick(ample_plans));
    const auto c = product(a, b, plan, alpha, beta, c0);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        const auto value = Exact(alpha) * test::exact_product(a, b, i, j) + Exact(beta) * Exact(c0(i, j));
        if (bits_of(c(i, j)) != test::rounded_bits<double>(value))
          RC_FAIL(to_string(plan) + ": " + test::hex(bits_of(c(i, j))) + ", not " +
                  test::hex(test::rounded_bits<double>(value)));
      }
  }
}

/// A few slices multiply short integers exactly: 7 slices of the default hold 54 bits.
TEST(ExactResultTest, IntegersAreExact) {
  RandomBits random(2);
  const auto integers = [&](Index rows, Index cols, int bits) {
    Matrix<double> matrix(rows, cols);
    for (Index t = 0; t < rows * cols; ++t) {
      const auto magnitude = static_cast<double>(random() >> (64 - bits));
      matrix.data()[t] = random.once_in(2) ? magnitude : -magnitude;
    }
    return matrix;
  };
  for (const auto& [bits_a, bits_b, plan] : {std::tuple{53, 53, "balanced:7x7:full:exact"},
                                             {6, 53, "balanced:1x7:full:exact"},
                                             {7, 7, "truncated7:1x1:full:exact"},
                                             {20, 20, "nearest7:3x3:full:per_diagonal"},
                                             {14, 21, "balanced:2x3:full:per_product"}}) {
    const auto a = integers(3, 50, bits_a), b = integers(50, 4, bits_b);
    const auto c = product(a, b, parse_plan(plan));
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 4; ++j)
        EXPECT_EQ(bits_of(c(i, j)), test::rounded_bits<double>(test::exact_product(a, b, i, j)))
            << plan << ", " << i << ", " << j;
  }
}

/// INT32 does not overflow for k beyond 2^17 with every element 1 - 2^-53; an overflow would make a relative error of 1e-2.
TEST(ExactResultTest, LongVectorsOfTheLargestSignificand) {
  constexpr double x = 1 - 0x1p-53;
  for (const Index k : {131071, 131072, 200000}) {
    Matrix<double> a(1, k), b(k, 1);
    std::fill_n(a.data(), k, x);
    std::fill_n(b.data(), k, -x);
    const auto expected = test::rounded_bits<double>(Exact(static_cast<double>(-k)) * Exact(x) * Exact(x));
    for (const char* plan : {"balanced:7x7:full:exact", "truncated7:8x8:full:exact", "nearest7:8x8:full:exact"})
      EXPECT_EQ(bits_of(product(a, b, parse_plan(plan), 1, 0, {}, {.threads = 1, .inner_block = 1 << 30})(0, 0)), expected)
          << plan << ", k " << k;
  }
}

// Extremes.

TEST(ExtremesTest, NoIntermediateOverflows) {
  for (const std::string plan :
       {"balanced:7x7:full:exact", "truncated7:8x8:cut=9:per_product", "nearest7:8x8:full:per_diagonal"}) {
    EXPECT_EQ(scalar_product(0x1p512, 0x1p512, plan, 0x1p-10), 0x1p1014) << plan;
    EXPECT_EQ(scalar_product(0x1.8p1023, 0x1p-1000, plan), 0x1.8p23) << plan;
    EXPECT_EQ(scalar_product(0x1p512, 0x1p511, plan), 0x1p1023) << plan;
    EXPECT_EQ(scalar_product(largest, 2, plan, 0.5), largest) << plan;
    EXPECT_EQ(scalar_product(0x1p1023, 0x1p1023, plan, 0x1p-1074), 0x1p972) << plan;
    EXPECT_EQ(scalar_product(largest, 1, plan, 2, -1, largest), largest) << plan;
    EXPECT_EQ(scalar_product(0x1p1023, 4, plan, 1, -3, 0x1p1023), 0x1p1023) << plan;
    EXPECT_EQ(product(matrix_of({{0x1p1023, 0x1p1023, -0x1p1023}}), matrix_of({{1}, {1}, {1}}), parse_plan(plan))(0, 0),
              0x1p1023)
        << plan;
  }
}

TEST(ExtremesTest, NoIntermediateUnderflows) {
  for (const std::string plan :
       {"balanced:7x7:full:exact", "truncated7:8x8:cut=9:per_product", "nearest7:8x8:full:per_diagonal"}) {
    EXPECT_EQ(scalar_product(0x1p-600, 0x1p-600, plan, 0x1p900), 0x1p-300) << plan;
    EXPECT_EQ(scalar_product(least, least, plan, 0x1p1023), 0) << plan;
    EXPECT_EQ(product(matrix_of({{least, least}}), matrix_of({{0x1p1023}, {-0x1p1022}}), parse_plan(plan))(0, 0), 0x1p-52)
        << plan;
    EXPECT_EQ(scalar_product(least, 1, plan, 0.75), least) << plan;
    EXPECT_EQ(bits_of(scalar_product(least, -1, plan, 0.5)), binary64.sign) << plan;
    EXPECT_EQ(scalar_product(0x1p-538, 0x1p-537, plan), 0) << "half the least number, a tie: " << plan;
    EXPECT_EQ(scalar_product(0x1.8p-538, 0x1p-537, plan), least) << plan;
  }
}

/// Subnormal results are rounded once: (2^60 + 2^52 + 1) 2^-1127 is 0x81 least numbers; a second rounding would give 0x80.
TEST(ExtremesTest, SubnormalResultsAreRoundedOnce) {
  const auto a = matrix_of({{0x1p60, 0x1p52, 1}});
  const auto b = matrix_of({{1}, {1}, {1}});
  EXPECT_EQ(product(a, b, parse_plan("balanced:20x20:full:exact"), 0x1p-1022)(0, 0), 0x1p-962 + 0x1p-970);
  const auto tiny = matrix_of({{0x1p-540, 0x1p-548, 0x1p-600}});
  const auto unit = matrix_of({{0x1p-527}, {0x1p-527}, {0x1p-527}});
  EXPECT_EQ(product(tiny, unit, parse_plan("balanced:20x20:full:exact"))(0, 0), 0x81 * least);
}

/// C is right for rows of subnormals, rows that mix them with normal numbers, and rows whose maximum is 2^1023 or more.
TEST(ExtremesTest, RowsOfEverySize) {
  const auto a = matrix_of({{least, 3 * least, -5 * least},
                            {0x0.fffffffffffffp-1022, -0x1p-1030, least},
                            {0x1p-1022, 0x1p-1023, -least},
                            {0x1.8p-1000, 0x1p-1022, 0x1.4p-1060},
                            {0x1p1023, -0x1.fffffffffffffp1000, 0x1p990},
                            {largest, largest, -0x1p1000},
                            {0x1.fdp1023, -0x1.fcfffffffffffp1023, 0x1.8p1020}});
  const auto b = matrix_of(
      {{1, 0x1p1000, 0x1p-60, 0x1.fffffffffffffp-30}, {1, 0x1p1010, 0x1p-50, -0x1p-30}, {-1, 0x1p1020, 0x1.8p-40, 0x1p-31}});
  for (const auto* text : ample_plans) {
    const auto c = product(a, b, parse_plan(text));
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < b.cols(); ++j)
        EXPECT_EQ(bits_of(c(i, j)), test::rounded_bits<double>(test::exact_product(a, b, i, j)))
            << text << ", " << i << ", " << j;
  }
}

/// C is +-Inf exactly from the overflow threshold 2^1024 - 2^970 on.
TEST(ExtremesTest, OverflowOnlyWhereTheResultDoes) {
  const auto below = matrix_of({{largest, 0x1.fffffffffffffp969, -0x1p-1074}});
  const auto at = matrix_of({{largest, 0x1p970, 0}});
  const auto ones = matrix_of({{1, -1}, {1, -1}, {1, -1}});
  const auto plan = parse_plan("truncated7:20x20:full:exact");
  EXPECT_TRUE(same(product(below, ones, plan), matrix_of({{largest, -largest}})));
  EXPECT_TRUE(same(product(at, ones, plan), matrix_of({{inf, -inf}})));
  EXPECT_EQ(scalar_product(largest, 1, "balanced:7x7:full:exact", 1, 1, 0x1p970), inf);
  EXPECT_EQ(scalar_product(largest, 1, "balanced:7x7:full:exact", 1, 1, 0x1.fffffffffffffp969), largest);
  EXPECT_EQ(scalar_product(-largest, 1, "balanced:7x7:full:exact", 2, -1, -largest), -largest);
  EXPECT_EQ(scalar_product(-largest, 1, "balanced:7x7:full:exact", 2, 0), -inf);
  // A float overflows from 2^128 - 2^103 on.
  Matrix<float> c(1, 2);
  multiply_unproven({matrix_of({{1}}), matrix_of({{0x1.fffffefffffffp127, 0x1.ffffffp127}}), c}, SplitPlan::balanced(7, 7, 14),
                    CpuEngine({.threads = 1}));
  EXPECT_EQ(c(0, 0), std::numeric_limits<float>::max());
  EXPECT_EQ(c(0, 1), std::numeric_limits<float>::infinity());
}

/// A term far below decides a tie, at any distance: beta C0 a tie of the sum, or the sum a tie of beta C0.
TEST(ExtremesTest, FarAwayOnTheGrid) {
  const auto a = matrix_of({{1, 0x1p-53}});  // 1 + 2^-53: a tie between 1 and its neighbour
  const auto ones = matrix_of({{1}, {1}});
  const std::string text = "balanced:8x8:full:exact";
  for (const double c0 : {0x1p-60, 0x1p-500, least}) {
    EXPECT_EQ(product(a, ones, parse_plan(text), 1, 1, matrix_of({{c0}}))(0, 0), 1 + 0x1p-52) << c0;
    EXPECT_EQ(product(a, ones, parse_plan(text), 1, -1, matrix_of({{c0}}))(0, 0), 1) << c0;
    EXPECT_EQ(product(a, ones, parse_plan(text), -1, -1, matrix_of({{c0}}))(0, 0), -1 - 0x1p-52) << c0;
    EXPECT_EQ(product(a, ones, parse_plan(text), 0x1p1000, -least, matrix_of({{c0}}))(0, 0), 0x1p1000) << c0;
    EXPECT_EQ(product(a, ones, parse_plan(text), 0x1p1000, least, matrix_of({{c0}}))(0, 0), 0x1.0000000000001p1000) << c0;
  }
  EXPECT_EQ(scalar_product(1, 1, text, 1, 1, 0x1p300), 0x1p300);
  EXPECT_EQ(scalar_product(1, 1, text, -1, 1, 0x1p300), 0x1p300);
  EXPECT_EQ(scalar_product(least, least, text, 1, 0x1.0000000000001p0, 0x1.8p0),
            0x1.8000000000002p0);  // 1.5 + 1.5 * 2^-52: a tie, upwards
  EXPECT_EQ(scalar_product(least, least, text, -1, 0x1.0000000000001p0, 0x1.8p0), 0x1.8000000000001p0);  // and just below
  EXPECT_EQ(scalar_product(least, least, text, 1, 1, 0), 0);
}

/// A sum that cancels completely is +0.
TEST(ExtremesTest, AnExactZeroIsPositive) {
  for (const std::string plan :
       {"balanced:7x7:full:exact", "truncated7:8x8:full:per_product", "nearest7:8x8:full:per_diagonal"}) {
    EXPECT_EQ(bits_of(scalar_product(-3, 0, plan)), 0u) << plan;
    EXPECT_EQ(bits_of(scalar_product(-0.0, 5, plan)), 0u) << plan;
    EXPECT_EQ(bits_of(scalar_product(3, 5, plan, -1, 1, 15)), 0u) << plan;
    EXPECT_EQ(bits_of(scalar_product(3, 5, plan, 0, -1, 0.0)), 0u) << plan;
    EXPECT_EQ(bits_of(scalar_product(0, 5, plan, -1, 1, -0.0)), 0u) << plan;
    EXPECT_EQ(bits_of(product(matrix_of({{0x1p900, -0x1p900}}), matrix_of({{1}, {1}}), parse_plan(plan), -1)(0, 0)), 0u)
        << plan;
  }
}

/// The published orders of addition differ from each other and from the exact sum, and each agrees with its own plain loop.
TEST(PublishedOrdersTest, AreKept) {
  RandomBits random(7);
  std::vector<std::vector<std::uint64_t>> results;
  auto call = test::sample_call({6, 6, 40, true, false}, random);
  for (Index t = 0; t < 240; ++t) {
    call.a.set(t / 40, t % 40, test::sample_below<double>(0, random.below(3), random));
    call.b.set(t % 40, t / 40, test::sample_below<double>(0, random.below(3), random));
  }
  for (const char* text :
       {"truncated7:8x8:full:exact", "truncated7:8x8:full:per_product", "truncated7:8x8:full:per_diagonal"}) {
    EXPECT_TRUE(test::multiplies_rightly(call, parse_plan(text), {.threads = 1}));
    auto run = call;
    run.alpha = 1, run.beta = 0;
    multiply_unproven(run.product(), parse_plan(text), CpuEngine({.threads = 1}));
    results.push_back(test::bits_of_matrix(run.c));
  }
  EXPECT_NE(results[0], results[1]);
  EXPECT_NE(results[0], results[2]);
  EXPECT_NE(results[1], results[2]);
}

}  // namespace
}  // namespace ozbound::gemm_exactness_test
