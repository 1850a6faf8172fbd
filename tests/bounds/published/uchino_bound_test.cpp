// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/uchino_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "bounds/published/entry_errors.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/detail/outward.hpp"

// The validity of these bounds is the property `bounds-hold`.

namespace ozbound::uchino_bound_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SplitPlan triangle(Encoding encoding, int slices, Accumulation accumulation = Accumulation::exact) {
  return {{encoding, slices}, {encoding, slices}, slices + 1, accumulation};
}

SplitPlan truncated(int beta, int slices, Accumulation accumulation = Accumulation::exact) {
  return triangle(Encoding::truncated(beta), slices, accumulation);
}

/// The ratio of error to bound for one a times one b.
double ratio(const char* bound, double a, double b, const SplitPlan& plan) {
  const auto x = test::single(a), y = test::single(b);
  return test::PlannedProduct(x, y, plan).worst_ratio(find_bound(bound));
}

/// A number with all bits set.
constexpr double ones = 2 - 0x1p-52;

TEST(UchinoTruncation, IsTheFormula) {
  EXPECT_EQ(uchino_truncation_upper(truncated(7, 3), 1024), next_up(4.0 * 1024 * 0x1p-21));
  EXPECT_EQ(uchino_truncation_upper(truncated(4, 1), 0), 0);
  EXPECT_EQ(uchino_truncation_upper(triangle(Encoding::nearest(7), 3), 1024), next_up(4.0 * 1024 * 0x1p-21));
  EXPECT_EQ(uchino_released_truncation_upper(triangle(Encoding::ozimmu(7), 3), 1024), next_up(12.0 * 1024 * 0x1p-21));
}

/// With all bits set the bound is nearly attained: s omitted products of (1 - 2^-beta) 2^(-beta s) and a residual of 2^(-beta
/// s) against (s + 1) 2^(-beta s).
TEST(UchinoTruncation, IsAttained) {
  for (int beta = 2; beta <= 7; ++beta)
    for (int s = 1; s * beta < 40; ++s) {
      const double attained = ratio("uchino-truncation", ones, ones, truncated(beta, s));
      EXPECT_LE(attained, 1) << beta << ", " << s;
      EXPECT_GT(attained, 0.75) << beta << ", " << s;
    }
}

/// The bound is nearly attained by digits to nearest if every slice and every rest is about half a unit.
TEST(UchinoTruncation, IsAttainedByDigitsToNearest) {
  const auto nearest = [](int slices) { return triangle(Encoding::nearest(7), slices); };
  EXPECT_GT(ratio("uchino-truncation", 0x1.fbfffa7ffbfbdp+0, 0x1.fbfffbfdedfdbp+0, nearest(1)), 0.98);
  EXPECT_GT(ratio("uchino-truncation", 0x1.fc080ffffffffp+0, 0x1.fc080ffffffffp+0, nearest(3)), 0.99);
}

TEST(UchinoTruncation, OfReleasedDigitsIsAttained) {
  for (int s = 1; s <= 5; ++s) {
    const double attained = ratio("uchino-released-truncation", ones, ones, triangle(Encoding::ozimmu(7), s));
    EXPECT_LE(attained, 1) << s;
    EXPECT_GT(attained, 0.98) << s;
  }
}

/// The published bound is no tighter than the general one: s + 1 against s (1 - 2^-beta) + 1.
TEST(UchinoTruncation, IsNoTighterThanOurs) {
  for (int beta = 1; beta <= 7; ++beta)
    for (int s = 1; s <= max_slices; ++s) {
      const auto plan = truncated(beta, s);
      EXPECT_LT(truncation_a_priori_upper(plan, 1000), uchino_truncation_upper(plan, 1000)) << to_string(plan);
    }
}

TEST(UchinoAccumulation, IsTheFormula) {
  EXPECT_EQ(uchino_accumulation_upper(truncated(7, 8, Accumulation::per_product)), 35 * 0x1p-53);
  EXPECT_EQ(uchino_accumulation_upper(truncated(7, 1, Accumulation::per_product)), 0);
  EXPECT_EQ(uchino_accumulation_upper(triangle(Encoding::ozimmu(7), 8, Accumulation::per_product)), 35 * 0x1p-53);
  EXPECT_EQ(uchino_accumulation_upper(triangle(Encoding::nearest(7), 8, Accumulation::per_product)), 9 * 35 * 0x1p-53);
}

TEST(UchinoAccumulation, IsAttainedToAQuarter) {
  const double attained =
      ratio("uchino-accumulation", 0x1.28204fc30a2dep+0, 0x1.ca78ef137efa4p+0, truncated(7, 9, Accumulation::per_product));
  EXPECT_LE(attained, 1);
  EXPECT_GT(attained, 0.25);
}

/// The bound counts underflow: scales found anew reach down to where products of slices underflow, as for the second element of
/// a.
TEST(UchinoAccumulation, CountsTheUnderflowOfTerms) {
  Matrix<double> a(1, 2), b(2, 1);
  a(0, 0) = 1, a(0, 1) = 0x0.00000008p-1022, b(0, 0) = 0, b(1, 0) = 0x1.000002p+0;
  const auto adaptive = triangle(Encoding::nearest_adaptive(7), 8, Accumulation::per_product);
  const test::PlannedProduct product(a, b, adaptive);
  const auto& bound = find_bound("uchino-accumulation");
  const auto errors = product.errors(0, 0);
  EXPECT_GT(errors.accumulation, test::Exact(bound.upper(product.inputs).multiple) * errors.magnitudes);
  EXPECT_LE(product.worst_ratio(bound), 1);
}

/// The sum of the products on the first diagonals, for one a and one b, relative to rho sigma.
test::Exact leading_sum(double a, double b, const SplitPlan& plan, int diagonals) {
  const CpuEngine engine({.threads = 1});
  const auto x = engine.slice(row_major(&a, 1, 1, 1), Side::rows_of_a, plan.a);
  const auto y = engine.slice(row_major(&b, 1, 1, 1), Side::columns_of_b, plan.b);
  test::Exact sum;
  for (int g = 2; g <= diagonals + 1; ++g)
    for (int p = std::max(1, g - plan.b.slices); p <= std::min(plan.a.slices, g - 1); ++p)
      sum = sum + test::Exact{test::cpp_int(x.digit(0, p, 0) * y.digit(0, g - p, 0)), plan.weight_exponent(g)};
  return sum;
}

bool is_double(const test::Exact& x) { return test::Exact(test::rounded<double>(x)) == x; }

/// The number of exact diagonals is that of (29), written out: the largest k' with 2 u ufp(8 k) <= 2^(2 - beta (k' + 1)).
TEST(UchinoExactDiagonals, AreThoseOfTheInequality) {
  for (const int precision : {8, 24, 53})
    for (int beta = 1; beta <= 7; ++beta)
      for (const Index k : {1, 2, 3, 1000, 1 << 17, (1 << 29) - 1}) {
        const auto holds = [&](int diagonals) {
          return std::ilogb(8.0 * static_cast<double>(k)) + 1 - precision <= 2 - beta * (diagonals + 1);
        };
        const int diagonals = uchino_exact_diagonals(beta, k, precision);
        EXPECT_TRUE(diagonals == 0 || holds(diagonals)) << precision << ", " << beta << ", " << k;
        EXPECT_FALSE(holds(diagonals + 1)) << precision << ", " << beta << ", " << k;
      }
}

/// The exact diagonals are summed without an error, and two more are too many: a and b of all ones need every bit.
TEST(UchinoExactDiagonals, AreSummedWithoutAnError) {
  for (int beta = 3; beta <= 7; ++beta) {
    const int diagonals = uchino_exact_diagonals(beta, 1);
    const auto plan = truncated(beta, std::min(diagonals + 2, max_slices));
    EXPECT_TRUE(is_double(leading_sum(ones, ones, plan, diagonals))) << beta;
    EXPECT_FALSE(is_double(leading_sum(ones, ones, plan, diagonals + 2))) << beta;
  }
}

TEST(UchinoRefinedAccumulation, CountsTheAdditionsAfterTheExactOnes) {
  const auto additions = [](const SplitPlan& plan, Index k) { return uchino_rounded_additions(plan, k); };
  EXPECT_EQ(uchino_exact_diagonals(7, 1), 6);
  EXPECT_EQ(additions(truncated(7, 6, Accumulation::per_diagonal), 1), 0);
  EXPECT_EQ(additions(truncated(7, 7, Accumulation::per_diagonal), 1), 1);
  EXPECT_EQ(additions(truncated(7, 8, Accumulation::per_diagonal), 1), 2);
  EXPECT_EQ(additions(truncated(7, 6, Accumulation::per_product), 1), 0);
  // (1, 1) … (1, 6) are exact, (1, 7) is not: the pairs are added row by row.
  EXPECT_EQ(additions(truncated(7, 8, Accumulation::per_product), 1), 36 - 6);
  // The count is at most all additions but the first: no diagonal is exact for 2^45 elements.
  EXPECT_EQ(uchino_exact_diagonals(7, Index{1} << 45), 0);
  EXPECT_EQ(additions(truncated(7, 8, Accumulation::per_product), Index{1} << 45), 35);
  EXPECT_EQ(uchino_refined_accumulation_upper(truncated(7, 8, Accumulation::per_diagonal), 1), 2 * 0x1p-53);
  EXPECT_EQ(uchino_refined_accumulation_upper(triangle(Encoding::nearest(7), 8, Accumulation::per_diagonal), 1), 18 * 0x1p-53);
}

TEST(UchinoRefinedAccumulation, IsAttained) {
  const auto per_diagonal = [](int slices) { return truncated(7, slices, Accumulation::per_diagonal); };
  const double one = ratio("uchino-refined-accumulation", 0x1.9460140000111p+0, 0x1.442800000017p+0, per_diagonal(7));
  const double two = ratio("uchino-refined-accumulation", 0x1.7b677f351536fp+0, 0x1.5bcb80636faebp+0, per_diagonal(8));
  EXPECT_LE(one, 1);
  EXPECT_GT(one, 0.999);
  EXPECT_LE(two, 1);
  EXPECT_GT(two, 0.98);
}

/// The printed group size (12) is safe: it rounds k up to a power of two, and therefore r down to one.
TEST(UchinoGroups, PrintedSizeIsSafe) {
  EXPECT_EQ(uchino_group_size(7, 1024), 128);
  EXPECT_EQ(uchino_group_size(7, 8193), 8);
  EXPECT_EQ(truncated(7, 8).error_free_pairs(8193), 16);
  EXPECT_EQ(uchino_group_size(7, 1 << 18), 1);  // INT32 holds no sum at all; 64-bit blocks do
  for (int beta = 1; beta <= 7; ++beta)
    for (Index k = 1; k <= 20000; ++k) {
      const Index largest = truncated(beta, 8).a.encoding.digit_magnitude();
      ASSERT_LE(uchino_group_size(beta, k) * k * largest * largest, 0x7fffffff) << beta << ", " << k;
    }
}

/// Groups of the exact limit give the number of terms that the plan has; the printed group size never gives fewer.
TEST(UchinoGroups, TermsAreThoseOfThePlan) {
  for (const int s : {1, 5, 8, 20})
    for (const Index k : {1, 1024, 8193, 40000, 1 << 17, 1 << 20}) {
      const auto plan = truncated(7, s, Accumulation::per_diagonal);
      const auto terms = static_cast<int>(plan.groups(k).size());
      EXPECT_EQ(uchino_group_terms(s, plan.error_free_pairs(k)), terms) << s << ", " << k;
      EXPECT_GE(uchino_group_terms(s, uchino_group_size(7, k)), terms) << s << ", " << k;
    }
}

/// The number of terms is the paper's closed form: ceil(s / r) (s - r / 2 floor((s - 1) / r)).
TEST(UchinoGroups, TermsAreTheClosedForm) {
  for (int s = 1; s <= max_slices; ++s)
    for (int r = 1; r <= 2 * max_slices; ++r)
      EXPECT_EQ(2 * uchino_group_terms(s, r), (s + r - 1) / r * (2 * s - r * ((s - 1) / r))) << s << ", " << r;
}

TEST(UchinoGroups, IsTheFormula) {
  const auto plan = truncated(7, 8, Accumulation::per_diagonal);
  EXPECT_EQ(uchino_groups_upper(plan, 8), 7 * 0x1p-53);
  EXPECT_EQ(uchino_groups_upper(plan, 1), 35 * 0x1p-53);
  EXPECT_EQ(uchino_groups_upper(triangle(Encoding::nearest(7), 8, Accumulation::per_diagonal), 8), 63 * 0x1p-53);
}

TEST(UchinoGroups, IsAttainedToThreeTenths) {
  const double attained =
      ratio("uchino-groups", 0x1.0fe3f5d46edf5p+0, 0x1.efbc5b39158bfp+0, truncated(7, 9, Accumulation::per_diagonal));
  EXPECT_LE(attained, 1);
  EXPECT_GT(attained, 0.3);
}

/// Plans that differ from a covered one in one respect are refused.
TEST(UchinoBounds, CoverTheirOwnSplittingsAlone) {
  const auto plan = truncated(7, 8, Accumulation::per_diagonal);
  auto others = std::vector<SplitPlan>(3, plan);
  others[0].cut = 10;
  others[1].b.slices = 9;
  others[2].a.encoding = others[2].b.encoding = Encoding::balanced();
  auto mixed = plan;
  mixed.b.encoding = Encoding::nearest(7);
  others.push_back(mixed);
  for (const auto& other : others) {
    const auto refused = ThrowsMessage<std::invalid_argument>(HasSubstr("does not cover " + to_string(other)));
    EXPECT_THAT([&] { uchino_truncation_upper(other, 1); }, refused);
    EXPECT_THAT([&] { uchino_released_truncation_upper(other, 1); }, refused);
    EXPECT_THAT([&] { uchino_refined_accumulation_upper(other, 1); }, refused);
    EXPECT_THAT([&] { uchino_groups_upper(other, 1); }, refused);
    auto per_product = other;
    per_product.accumulation = Accumulation::per_product;
    EXPECT_THAT([&] { uchino_accumulation_upper(per_product); }, ThrowsMessage<std::invalid_argument>(HasSubstr("cover")));
  }
}

TEST(UchinoBounds, AreForOneAccumulationOrDigitsEach) {
  const auto exact = truncated(7, 8), diagonal = truncated(7, 8, Accumulation::per_diagonal);
  const auto released = triangle(Encoding::ozimmu(7), 8);
  EXPECT_THROW(uchino_truncation_upper(released, 1), std::invalid_argument);
  EXPECT_THROW(uchino_released_truncation_upper(exact, 1), std::invalid_argument);
  EXPECT_THROW(uchino_accumulation_upper(exact), std::invalid_argument);
  EXPECT_THROW(uchino_accumulation_upper(diagonal), std::invalid_argument);
  EXPECT_THROW(uchino_refined_accumulation_upper(exact, 1), std::invalid_argument);
  EXPECT_THROW(uchino_groups_upper(truncated(7, 8, Accumulation::per_product), 1), std::invalid_argument);
}

/// Adaptive scales have no larger rest and no larger digit sums, but their products have no common unit, so no sums are exact.
TEST(UchinoBounds, OfAdaptiveScalesHaveNoExactSums) {
  const auto plan = triangle(Encoding::nearest_adaptive(7), 8, Accumulation::per_product);
  EXPECT_EQ(uchino_truncation_upper(plan, 1), uchino_truncation_upper(triangle(Encoding::nearest(7), 8), 1));
  EXPECT_EQ(uchino_accumulation_upper(plan), 9 * 35 * 0x1p-53);
  EXPECT_FALSE(uchino_refined_accumulation_covers(plan));
  EXPECT_FALSE(uchino_groups_covers(plan));
}

}  // namespace
}  // namespace ozbound::uchino_bound_test
