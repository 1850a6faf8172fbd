// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/random_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ozbound::random_stream_test {
namespace {

double ulps(double computed, double expected) {
  return std::abs(computed - expected) / (std::abs(expected) * std::numeric_limits<double>::epsilon());
}

TEST(RandomStream, isTheStandardEngine) {
  RandomStream random(5489);  // the default seed; the C++ standard gives the 10000th output
  for (int i = 1; i < 10000; ++i) random.bits();
  EXPECT_EQ(random.bits(), 9981545732273789042U);
}

TEST(RandomStream, drawsIntegersFromTheWholeRange) {
  RandomStream random(1);
  int counts[7] = {};
  for (int i = 0; i < 7000; ++i) ++counts[random.integer(-3, 3) + 3];
  EXPECT_GT(*std::min_element(counts, counts + 7), 800);
  EXPECT_LT(*std::max_element(counts, counts + 7), 1200);
  EXPECT_EQ(random.integer(5, 5), 5);
  using Limits = std::numeric_limits<std::int64_t>;
  bool negative = false;
  for (int i = 0; i < 100; ++i) negative = negative || random.integer(Limits::min(), Limits::max()) < 0;
  EXPECT_TRUE(negative);
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.below((std::uint64_t{1} << 63) + 1), (std::uint64_t{1} << 63) + 1);
}

TEST(RandomStream, favoursNoIntegerWhereTheRangeDoesNotDivide2To64) {
  RandomStream random(6);
  int lowest_third = 0;
  for (int i = 0; i < 3000; ++i) lowest_third += random.below(std::uint64_t{3} << 62) < (std::uint64_t{1} << 62) ? 1 : 0;
  EXPECT_NEAR(lowest_third, 1000, 100);
}

TEST(RandomStream, unitsStayInsideTheirIntervals) {
  RandomStream random(2);
  double sum = 0;
  bool odd = false;
  for (int i = 0; i < 10000; ++i) {
    const double positive = random.positive_unit();
    EXPECT_GT(positive, 0);
    EXPECT_LT(positive, 1);
    const double both = random.signed_unit();
    EXPECT_LT(std::abs(both), 1);
    odd = odd || (std::abs(both) >= 0.5 && (std::bit_cast<std::uint64_t>(both) & 1) != 0);
    sum += both;
  }
  EXPECT_LT(std::abs(sum), 300);
  EXPECT_TRUE(odd);
}

TEST(RandomStream, normalHasMeanZeroAndVarianceOne) {
  RandomStream random(3);
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    beyond_two += std::abs(x) > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  EXPECT_NEAR(squares / 100000, 1, 0.03);
  EXPECT_NEAR(beyond_two / 100000.0, 0.0455, 0.005);
}

TEST(RandomStream, portableFunctionsAreAccurateAndPinned) {
  for (int i = -7000; i <= 7000; ++i) EXPECT_LT(ulps(portable_exp(i * 0.1), std::exp(i * 0.1)), 2000) << i;
  for (int i = -300; i <= 300; ++i) EXPECT_LT(ulps(portable_exp(i * 0.001), std::exp(i * 0.001)), 4) << i;
  for (int i = 1; i <= 10000; ++i)
    EXPECT_LT(std::abs(portable_log(i * 0.01) - std::log(i * 0.01)), 1e-15 * std::max(1.0, std::log(i))) << i;
  EXPECT_EQ(portable_exp(1e9), portable_exp(700));
  EXPECT_EQ(portable_exp(-1e9), portable_exp(-700));
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(1), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(portable_log(10), 0x1.26bb1bbb55515p+1);
  RandomStream random(4);
  EXPECT_EQ(random.normal(), -0x1.14ad8886655d1p-1);
}

}  // namespace
}  // namespace ozbound::random_stream_test
