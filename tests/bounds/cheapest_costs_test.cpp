// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/detail/cheapest_costs.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::cheapest_costs_test {
namespace {

/// Costs of a call: fixed seconds, plus some for each product of slices, entry of DGEMM and entry of the superaccumulator.
CalibratedCosts costs(double call, double product, double native, double exact) {
  return {{"p", "k", "v", {}, {{1, {call, 0, 0, product, 0, 0, 0}, {0, 0, exact, 0}, {{call, 0, 0, native, 0}}}}},
          1,
          {"calibrated", "seconds", "p", "k", 1, ""}};
}

// A CPU, and a device that is slow to call but then very fast.
const CalibratedCosts cpu = costs(0x1p-10, 0x1p-20, 0x1p-12, 0x1p-8);
const CalibratedCosts device = costs(0x1p-2, 0x1p-40, 0x1p-30, 0x1p-20);
const CheapestCosts both({{&cpu, true, true}, {&device, true, false}});
const auto plan = SplitPlan::balanced(2, 2, 3);

Decision decision(Method method, Index n) {
  Decision made{Target::dgemm(), method, {}, n, n, n, 0, 0, {}, {}};
  if (method == Method::one_plan || method == Method::correctly_rounded) made.plan = plan;
  made.cost = made.plan ? both.planned(plan, n, n, n) : method == Method::native ? both.native(n, n, n) : both.exact(n, n, n);
  return made;
}

TEST(CheapestCosts, AreTheLeastOfAll) {
  for (const Index n : {1, 8, 100, 1000}) {
    EXPECT_EQ(both.planned(plan, n, n, n), std::min(cpu.planned(plan, n, n, n), device.planned(plan, n, n, n)));
    EXPECT_EQ(both.native(n, n, n), std::min(cpu.native(n, n, n), device.native(n, n, n)));
    EXPECT_EQ(both.exact(n, n, n), std::min(cpu.exact(n, n, n), device.exact(n, n, n)));
  }
  EXPECT_EQ(both.origin(), cpu.origin());
}

TEST(CheapestCosts, SendSmallProductsToOneAndLargeOnesToTheOther) {
  for (const auto method : {Method::one_plan, Method::correctly_rounded, Method::native}) {
    EXPECT_EQ(both.engine_for(decision(method, 4)), 0u) << to_string(method);
    EXPECT_EQ(both.engine_for(decision(method, 1000)), 1u) << to_string(method);
  }
  EXPECT_EQ(both.cost_on(1, decision(Method::one_plan, 1000)), device.planned(plan, 1000, 1000, 1000));
  EXPECT_EQ(both.cost_on(0, decision(Method::exact, 3)), cpu.exact(3, 3, 3));
}

TEST(CheapestCosts, WhatIsLeftOpenIsFinishedOnTheSameEngine) {
  const Index n = 8;
  auto refined = decision(Method::correctly_rounded, n);
  EXPECT_EQ(both.engine_for(refined), 0u) << "its slices are cheaper";
  refined.cost += 0.5 * both.exact(n, n, n);
  EXPECT_EQ(both.cost_on(0, refined), cpu.planned(plan, n, n, n) + 0.5 * cpu.exact(n, n, n));
  EXPECT_EQ(both.cost_on(1, refined), device.planned(plan, n, n, n) + 0.5 * device.exact(n, n, n));
  const auto slow = costs(0x1p-10, 0x1p-20, 0x1p-12, 1);
  const CheapestCosts with_slow({{&slow, true, true}, {&device, true, false}});
  refined.cost = with_slow.planned(plan, n, n, n) + 0.5 * with_slow.exact(n, n, n);
  EXPECT_EQ(with_slow.engine_for(refined), 1u);
}

TEST(CheapestCosts, NativeCountsWhereThereIsOne) {
  const CheapestCosts none({{&cpu, false, true}, {&device, false, false}});
  EXPECT_EQ(none.native(9, 9, 9), std::numeric_limits<double>::infinity());
  const CheapestCosts of_cpu({{&cpu, true, true}, {&device, false, false}});
  EXPECT_EQ(of_cpu.native(1000, 1000, 1000), cpu.native(1000, 1000, 1000));
  EXPECT_EQ(of_cpu.engine_for(decision(Method::native, 1000)), 0u);
}

/// An engine without residues is skipped for plans by residues, even if its costs would price them no higher.
TEST(CheapestCosts, ResiduesCountWhereAnEngineHasThem) {
  const ProductCount products;
  const ResiduePlan residues{13, 46, 47};
  auto of_residues = decision(Method::one_plan, 1000);
  of_residues.plan = residues, of_residues.cost = 13;
  for (const bool first : {false, true}) {
    const CheapestCosts one({{&products, true, first}, {&products, true, !first}});
    EXPECT_EQ(one.planned(residues, 1000, 1000, 1000), 13);
    EXPECT_EQ(one.engine_for(of_residues), first ? 0u : 1u);
  }
  const CheapestCosts none({{&products, true, false}});
  EXPECT_EQ(none.planned(residues, 1000, 1000, 1000), std::numeric_limits<double>::infinity());
}

TEST(CheapestCosts, OneDecisionIsMadeForAll) {
  class AnyNative final : public NativeGemm {
    [[nodiscard]] std::string name() const override { return "any"; }
    void dgemm(const RealProduct&) const override {}
  };
  const AnyNative native;
  const CpuEngine engine({.threads = 1});
  const auto problem = generate({.family = Family::uniform, .m = 40, .n = 30, .k = 20, .phi = 0, .seed = 1});
  const auto made = [&](const CostModel& model) {
    return decide({problem.a, problem.b}, Target::dgemm(), {engine, &native, &model});
  };
  const auto of_both = made(both);
  EXPECT_LE(of_both.cost, made(cpu).cost);
  EXPECT_LE(of_both.cost, made(device).cost);
  EXPECT_EQ(both.cost_on(both.engine_for(of_both), of_both), of_both.cost);
}

TEST(CheapestCosts, AreComparedInOneUnit) {
  const ProductCount products;
  EXPECT_THROW(CheapestCosts({{&cpu, true, true}, {&products, true, true}}), std::invalid_argument);
  EXPECT_THROW(CheapestCosts(std::vector<CheapestCosts::Of>{}), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::cheapest_costs_test
