// SPDX-License-Identifier: BSD-3-Clause
#include "properties/adversarial_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "ozbound/verify/property.hpp"

namespace ozbound::adversarial_case_test {
namespace {

const std::vector<GemmCase>& attacked() {
  static const auto all = [] {
    std::vector<GemmCase> result;
    for (std::uint64_t seed = 0; seed < 2000; ++seed)
      result.push_back(sample_case({.largest = 4, .targets = true, .attacked = true}, seed));
    return result;
  }();
  return all;
}

template <class Holds>
auto count(const Holds& holds) {
  return std::count_if(attacked().begin(), attacked().end(), holds);
}

TEST(AdversarialCase, IsValid) {
  for (const auto& one : attacked()) ASSERT_NO_THROW(one.validate());
}

/// Adversarial cases lie on both sides of the limits of INT32 sums, and are small enough for the checker's time.
TEST(AdversarialCase, ReachesEveryLimitOfTheInnerDimension) {
  std::set<Index> lengths;
  for (const auto& one : attacked()) {
    lengths.insert(one.k());
    if (one.inner_repeat > 1) {
      EXPECT_EQ(one.m() * one.n(), 1);
    }
  }
  for (const Index k : {0, 1, 131071, 131072, 133144, 133145}) EXPECT_TRUE(lengths.contains(k)) << k;
  EXPECT_EQ(*lengths.rbegin(), 133145);
}

TEST(AdversarialCase, ScalarsAreOfEveryClass) {
  const auto scalar = [](const auto& holds) {
    return std::min(count([&](const GemmCase& one) { return holds(one.alpha); }),
                    count([&](const GemmCase& one) { return holds(one.beta); }));
  };
  EXPECT_GT(scalar([](double x) { return std::fpclassify(x) == FP_SUBNORMAL; }), 50);
  EXPECT_GT(scalar([](double x) { return std::abs(x) > 0x1p1000; }), 20);
  EXPECT_GT(scalar([](double x) { return x != 0 && std::abs(x) < 0x1p-900 && std::isnormal(x); }), 20);
}

TEST(AdversarialCase, ComesNearOverflowAndToZero) {
  const double top = std::numeric_limits<double>::max();
  const auto magnitude = [](const GemmCase& one) { return std::abs(one.alpha * one.a.values(0, 0)); };
  EXPECT_GT(count([&](const GemmCase& one) { return one.m() * one.k() > 0 && magnitude(one) == top; }), 20);
  const auto cancels = [](const GemmCase& one) {
    return one.m() * one.n() > 0 && one.k() == 1 && one.beta == 1 &&
           one.alpha * (one.a.values(0, 0) * one.b.values(0, 0)) == -one.c0.values(0, 0) && one.c0.values(0, 0) != 0;
  };
  EXPECT_GT(count(cancels), 10);
}

}  // namespace
}  // namespace ozbound::adversarial_case_test
