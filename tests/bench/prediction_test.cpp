// SPDX-License-Identifier: BSD-3-Clause
#include "prediction.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ozbound/bounds/calibrate.hpp"

namespace ozbound::bench::prediction_test {
namespace {

PredictionCase two_ways(double chosen, double other) {
  return {{1, 1, 1}, "dgemm", 1, {{"native", 1, chosen, true}, {"exact", 1, other, false}}};
}

TEST(Prediction, AnErrorIsRelativeToWhatWasMeasured) {
  EXPECT_EQ(two_ways(0.5, 4).errors(), (std::vector<double>{1, 0.75}));
  EXPECT_EQ(two_ways(0.5, 4).regret(), 1);
  EXPECT_EQ(two_ways(3, 2).regret(), 1.5);
}

TEST(Prediction, GoalsAreTheMedianErrorAndTheShareOfGoodChoices) {
  const std::vector<PredictionCase> good{two_ways(1, 1), two_ways(1, 1.25), two_ways(1.25, 1.25)};
  const auto goals = judge_predictions(good);
  ASSERT_EQ(goals.size(), 2U);
  EXPECT_DOUBLE_EQ(*goals[0].measured, 0.1);  // of 0, 0, 0, and three times 1/5
  EXPECT_EQ(*goals[1].measured, 1);
  EXPECT_TRUE(goals[0].met() && goals[1].met());
  auto bad = good;
  bad.push_back(two_ways(1.2, 1));
  EXPECT_EQ(*judge_predictions(bad)[1].measured, 0.75);
  EXPECT_FALSE(judge_predictions(bad)[1].met());
  const std::vector<PredictionCase> wrong{two_ways(2, 2)};
  EXPECT_FALSE(judge_predictions(wrong)[0].met());
}

TEST(Prediction, HeldOutProductsAreNotCalibrated) {
  const CpuEngine engine({.threads = 1});
  const CalibratedCosts costs(shipped_calibrations().front(), 1, {});
  const auto cases = predict(engine, nullptr, costs, true);
  EXPECT_GT(cases.size(), 5U);
  for (const auto& one : cases) {
    for (const auto& sample : calibration_samples())
      EXPECT_FALSE(sample.m == one.shape.m && sample.n == one.shape.n && sample.k == one.shape.k) << to_string(one.shape);
    EXPECT_EQ(std::ranges::count(one.ways, true, &TimedWay::chosen), 1);
    for (const auto& way : one.ways) EXPECT_TRUE(way.predicted > 0 && way.measured > 0) << way.way;
  }
}

}  // namespace
}  // namespace ozbound::bench::prediction_test
