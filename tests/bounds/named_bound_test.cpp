#include "ozbound/bounds/named_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/bounds/uchino_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "support/exact.hpp"

// Their validity is the property `bounds-hold`.

namespace ozbound {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SplitPlan truncated(int beta, int slices) {
  const Slicing slicing{Encoding::truncated(beta), slices};
  return {slicing, slicing, slices + 1, Accumulation::exact};
}

/// |ab - S| relative to rho sigma, for one a and one b.
test::Exact truncation_error(double a, double b, const SplitPlan& plan) {
  const CpuEngine engine({.threads = 1});
  const auto x = engine.slice(row_major(&a, 1, 1, 1), Side::rows_of_a, plan.a);
  const auto y = engine.slice(row_major(&b, 1, 1, 1), Side::columns_of_b, plan.b);
  test::Exact sum;
  for (int p = 1; p <= plan.a.slices; ++p)
    for (int q = 1; q <= plan.last_b(p); ++q)
      sum = sum + test::Exact{test::cpp_int(*x.slice(0, p) * *y.slice(0, q)),
                              plan.a.encoding.weight_exponent(p) + plan.b.encoding.weight_exponent(q)};
  const auto product = (test::Exact(a) * test::Exact(b)).times_power_of_two(-x.exponent(0) - y.exponent(0));
  return (product - sum).magnitude();
}

TEST(NamedBound, NamesAndSourcesAreDistinctAndFound) {
  std::set<std::string> names;
  for (const auto& bound : all_bounds()) {
    EXPECT_TRUE(names.insert(bound.name).second) << bound.name;
    EXPECT_FALSE(bound.source.empty()) << bound.name;
    EXPECT_EQ(&find_bound(bound.name), &bound);
  }
  EXPECT_THAT([] { find_bound("kappa"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("'kappa' is none of a-priori, a-posteriori, accumulation")));
}

TEST(NamedBound, OursArePartsOfThePlansBound) {
  const auto plan = SplitPlan::balanced(3, 2, 4);
  const double x[] = {1.75, -0x1p-9, 3};
  const CpuEngine engine({.threads = 1});
  const BoundInputs inputs(row_major(x, 1, 3, 3), column_major(x, 3, 1, 3), plan, engine);
  const auto value = [&](const char* name) { return find_bound(name).upper(inputs).scaled.upper(0, 0); };
  EXPECT_GE(value("a-priori"), truncation_a_priori_upper(plan, 3));
  EXPECT_LE(value("a-priori"), next_up(truncation_a_priori_upper(plan, 3)));
  EXPECT_EQ(value("a-posteriori"), truncation_a_posteriori_upper(inputs.rows, inputs.columns, plan).upper(0, 0));
}

TEST(UchinoTruncation, IsTheFormula) {
  EXPECT_EQ(uchino_truncation_upper(truncated(7, 3), 1024), next_up(4.0 * 1024 * 0x1p-21));
  EXPECT_EQ(uchino_truncation_upper(truncated(4, 1), 0), 0);
}

/// All bits set: s omitted products of (1 - 2^-beta) 2^(-beta s) and a residual of 2^(-beta s), of (s + 1) 2^(-beta s).
TEST(UchinoTruncation, IsAttained) {
  for (int beta = 2; beta <= 7; ++beta)
    for (int s = 1; s * beta < 40; ++s) {
      const auto plan = truncated(beta, s);
      const double bound = uchino_truncation_upper(plan, 1);
      const auto error = truncation_error(2 - 0x1p-52, 2 - 0x1p-52, plan);
      EXPECT_FALSE(test::Exact(bound) < error) << to_string(plan);
      EXPECT_LT(test::Exact(0.75 * bound), error) << to_string(plan);
    }
}

/// The general bound has s (1 - 2^-beta) + 1 where the published one has s + 1.
TEST(UchinoTruncation, IsNoTighterThanOurs) {
  for (int beta = 1; beta <= 7; ++beta)
    for (int s = 1; s <= max_slices; ++s) {
      const auto plan = truncated(beta, s);
      EXPECT_LT(truncation_a_priori_upper(plan, 1000), uchino_truncation_upper(plan, 1000)) << to_string(plan);
    }
}

TEST(UchinoTruncation, CoversItsOwnSplittingAlone) {
  EXPECT_TRUE(uchino_truncation_covers(truncated(7, 8)));
  auto others = std::vector<SplitPlan>(4, truncated(7, 8));
  others[0].cut = 10;
  others[1].b.slices = 9;
  others[2].a.encoding = others[2].b.encoding = Encoding::ozimmu(7);
  others[3].a.encoding = others[3].b.encoding = Encoding::balanced();
  for (const auto& plan : others) {
    EXPECT_FALSE(uchino_truncation_covers(plan)) << to_string(plan);
    EXPECT_THAT([&] { uchino_truncation_upper(plan, 1); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("does not cover " + to_string(plan))));
  }
}

}  // namespace
}  // namespace ozbound
