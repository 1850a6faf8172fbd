// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/plan_search.hpp"

#include <gtest/gtest.h>

#include "ozbound/core/cpu_engine.hpp"

namespace ozbound::plan_search_test {
namespace {

Problem problem_of(Index rows, Index cols, Index k, double a, double b) {
  Problem problem{{}, {rows, k}, {k, cols}};
  std::fill_n(problem.a.data(), rows * k, a);
  std::fill_n(problem.b.data(), k * cols, b);
  return problem;
}

TEST(PlanSearch, SmallIntegersNeedOneSlice) {
  EXPECT_EQ(search_plan(problem_of(3, 2, 4, 5, -7), Target::componentwise(1e-12), CpuEngine()), SplitPlan::balanced(1, 1, 2));
}

TEST(PlanSearch, AnExactOperandNeedsOneSliceWhateverTheOtherNeeds) {
  const auto plan = search_plan(problem_of(3, 2, 4, 3, 1 + 0x1p-20), Target::componentwise(0x1p-30), CpuEngine());
  ASSERT_TRUE(plan);
  EXPECT_EQ(*plan, SplitPlan::balanced(1, 3, 4));
}

TEST(PlanSearch, ALooserTargetNeedsFewer) {
  const auto plan = search_plan(problem_of(3, 2, 4, 3, 1 + 0x1p-20), Target::componentwise(0x1p-10), CpuEngine());
  EXPECT_EQ(plan, SplitPlan::balanced(1, 1, 2));
}

TEST(PlanSearch, OneEntryOutsideTheSampleCounts) {
  auto problem = problem_of(40, 30, 2, 1, 1);
  problem.a(17, 1) = 1 + 0x1p-20;
  EXPECT_EQ(search_plan(problem, Target::componentwise(0x1p-30), CpuEngine()), SplitPlan::balanced(3, 1, 4));
}

TEST(PlanSearch, BeyondAllSlices) {
  auto problem = problem_of(1, 1, 2, 1, 1);
  problem.a(0, 0) = 0x1p200;
  problem.b(0, 0) = 0x1p-200;
  EXPECT_EQ(search_plan(problem, Target::componentwise(1e-8), CpuEngine()), std::nullopt);
}

TEST(PlanSearch, SmallIntegersNeedTheModuliThatHoldThem) {
  // 4 products of 5 and 7: 3 bits each; first digits (d + 1)^2 = (81)(113) in units of 2^(3 + 3 - 14)
  const auto plan = search_residue_plan(problem_of(3, 2, 4, 5, -7), Target::componentwise(1e-12), CpuEngine());
  ASSERT_TRUE(plan && plan->by_residues());
  EXPECT_EQ(plan->products(), 2);
}

TEST(PlanSearch, ATargetMoreBitsNeedsMoreModuli) {
  const auto problem = problem_of(3, 2, 4, 1 + 0x1p-20, 1 + 0x1p-20);
  const auto moduli = [&](double tau) {
    return search_residue_plan(problem, Target::componentwise(tau), CpuEngine())->products();
  };
  EXPECT_EQ(moduli(0x1p-3), 2);   // 2^-5 and 2^-5: 4 2^12 < 256 253 / 2
  EXPECT_EQ(moduli(0x1p-45), 6);  // 21 bits a side after the first: 2^44 + 2 need 2^47.8, or 2^55.7
}

TEST(PlanSearch, BeyondAllModuli) {
  auto problem = problem_of(1, 1, 2, 1, 1);
  problem.a(0, 0) = 0x1p200;
  problem.b(0, 0) = 0x1p-200;
  EXPECT_EQ(search_residue_plan(problem, Target::componentwise(1e-8), CpuEngine()), std::nullopt);
}

}  // namespace
}  // namespace ozbound::plan_search_test
