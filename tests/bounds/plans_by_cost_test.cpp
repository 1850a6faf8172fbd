// SPDX-License-Identifier: BSD-3-Clause
// Plans come in order of their cost, all of them, though only a few prices are looked at.

#include "plans_by_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/core/cost_model.hpp"
#include "properties/sampling.hpp"

namespace ozbound::plans_by_cost_test {
namespace {

/// Counts how many prices are looked at.
class CountedCosts final : public CostModel {
 public:
  explicit CountedCosts(const CostModel& costs) : costs_(costs) {}
  [[nodiscard]] CostOrigin origin() const override { return costs_.origin(); }
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override {
    ++looked_at_;
    return costs_.planned(plan, m, n, k);
  }
  [[nodiscard]] double native(Index m, Index n, Index k) const override { return costs_.native(m, n, k); }
  [[nodiscard]] double exact(Index m, Index n, Index k) const override { return costs_.exact(m, n, k); }
  [[nodiscard]] int looked_at() const { return looked_at_; }

 private:
  const CostModel& costs_;
  mutable int looked_at_ = 0;
};

/// All plans by their definition, sorted.
std::vector<CostedPlan> sorted_plans(Encoding encoding, const CostModel& costs, Index m, Index n, Index k) {
  std::vector<CostedPlan> all;
  for (int a = 1; a <= max_slices; ++a)
    for (int b = 1; b <= max_slices; ++b)
      for (int cut = std::max(a, b) + 1; cut <= a + b; ++cut) {
        const SplitPlan plan{{encoding, a}, {encoding, b}, cut, Accumulation::exact};
        all.push_back({plan, costs.planned(plan, m, n, k)});
      }
  std::ranges::sort(all, [](const CostedPlan& x, const CostedPlan& y) { return costs_more(y, x); });
  return all;
}

void expect_in_order(Encoding encoding, const CostModel& costs, Index m, Index n, Index k) {
  PlansByCost plans(encoding, costs, m, n, k);
  for (const auto& expected : sorted_plans(encoding, costs, m, n, k)) {
    ASSERT_FALSE(plans.empty());
    EXPECT_EQ(plans.cheapest().plan, expected.plan);
    const auto found = plans.take();
    ASSERT_EQ(found.plan, expected.plan) << to_string(found.plan) << ", not " << to_string(expected.plan);
    ASSERT_EQ(found.cost, expected.cost);
  }
  EXPECT_TRUE(plans.empty());
}

TEST(PlansByCost, ComeInOrderWhereManyCostTheSame) {
  for (const auto encoding : {Encoding::balanced(), Encoding{Encoding::Kind::truncated, 7}})
    expect_in_order(encoding, ProductCount(), 30, 20, 10);
}

/// Calibrations of all kinds: some rates are 0, so that slices or products are free, and inner dimensions end INT32.
TEST(PlansByCost, ComeInOrderOfPredictedSeconds) {
  sampling::RandomBits random(1);
  for (int round = 0; round < 60; ++round) {
    Rates rates;
    for (auto& rate : rates.slices) rate = random.once_in(3) ? 0 : static_cast<double>(random() % 1000) * 1e-12;
    for (auto& rate : rates.exact) rate = 1e-9;
    Calibration calibration;
    calibration.tile = {16, 32}, calibration.rates = {rates};
    const auto size = [&random] { return static_cast<Index>(random() % 3000) + 1; };
    const Index k = random.once_in(2) ? size() : size() << 10;
    expect_in_order(Encoding::balanced(), CalibratedCosts(calibration, 1, {}), size(), size(), k);
  }
}

TEST(PlansByCost, LookAtFewPrices) {
  const ProductCount count;
  const CountedCosts costs(count);
  PlansByCost plans(Encoding::balanced(), costs, 100, 100, 100);
  EXPECT_EQ(costs.looked_at(), 1);
  while (plans.cheapest().cost <= 21) plans.take();
  EXPECT_LT(costs.looked_at(), 400);
}

}  // namespace
}  // namespace ozbound::plans_by_cost_test
