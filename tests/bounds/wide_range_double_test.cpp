// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/detail/wide_range_double.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/classified.hpp"
#include "support/exact.hpp"

namespace ozbound::scaled_test {
namespace {

using test::Exact;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double eta = 0x1p-1074;

Exact exact(const WideRangeDouble& x) { return Exact(x.significand).times_power_of_two(static_cast<int>(x.exponent)); }

bool at_most(const Exact& x, double y) { return y == inf || !(Exact(y) < x); }
bool at_least(const Exact& x, double y) { return !(x < Exact(y)); }

WideRangeDouble sample_scaled(test::RandomBits& random) {
  const auto x = WideRangeDouble::magnitude(test::sample<double>(random));
  return x.times_power_of_two(random.once_in(2) ? random.between(-1200, 1200) : random.between(-8000, 8000));
}

TEST(WideRangeDouble, MagnitudeIsExact) {
  test::RandomBits random(1);
  for (int t = 0; t < 5000; ++t) {
    const double x = test::sample<double>(random);
    EXPECT_EQ(exact(WideRangeDouble::magnitude(x)), Exact(x).magnitude()) << std::hexfloat << x;
  }
  EXPECT_EQ(WideRangeDouble::magnitude(-0.0).significand, 0);
}

TEST(WideRangeDouble, ProductsAreEnclosed) {
  test::RandomBits random(2);
  for (int t = 0; t < 10000; ++t) {
    const auto x = sample_scaled(random);
    const auto y = sample_scaled(random);
    const auto product = exact(x) * exact(y);
    const auto upper = exact(WideRangeDouble::product_upper(x, y));
    const auto lower = exact(WideRangeDouble::product_lower(x, y));
    EXPECT_FALSE(upper < product);
    EXPECT_FALSE(product < lower);
    EXPECT_EQ(upper.is_zero(), product.is_zero());
    EXPECT_FALSE((product + product.times_power_of_two(-40)) < upper) << "loose";
    EXPECT_FALSE(lower < (product - product.times_power_of_two(-40))) << "loose";
  }
}

TEST(WideRangeDouble, BecomesABoundAsADouble) {
  test::RandomBits random(3);
  for (int t = 0; t < 20000; ++t) {
    const auto x = sample_scaled(random);
    const auto value = exact(x);
    EXPECT_TRUE(at_most(value, x.upper())) << std::hexfloat << x.significand << " e " << x.exponent;
    EXPECT_TRUE(at_least(value, x.lower())) << std::hexfloat << x.significand << " e " << x.exponent;
    EXPECT_EQ(x.upper() == 0, value.is_zero());
    if (at_most(Exact(0x1p-1000), x.lower()) && x.upper() < inf) {
      EXPECT_EQ(x.upper(), x.lower()) << "a number in range is exact";
    }
  }
}

TEST(WideRangeDouble, EveryExponentOfADouble) {
  for (const double significand : {1.0, 0x1.0000000000001p0, 0x1.8p0, 0x1.fffffffffffffp0, 0x1p-52, 0x1.8p-40})
    for (int e = -1200; e <= 1100; ++e) {
      const WideRangeDouble x{significand, e};
      const auto value = exact(x);
      ASSERT_TRUE(at_most(value, x.upper())) << significand << " * 2^" << e;
      ASSERT_TRUE(at_least(value, x.lower())) << significand << " * 2^" << e;
      ASSERT_TRUE(x.upper() == inf || x.upper() <= 2 * eta ||
                  at_least(value + value.times_power_of_two(-40) + Exact(2 * eta), x.upper()));
    }
  EXPECT_EQ((WideRangeDouble{0x1.fffffffffffffp0, 1023}.upper()), largest);
  EXPECT_EQ((WideRangeDouble{0x1.fffffffffffffp0, 1023}.lower()), largest);
  EXPECT_EQ((WideRangeDouble{1, 1024}.upper()), inf);
  EXPECT_EQ((WideRangeDouble{1, 1024}.lower()), largest);
}

TEST(WideRangeDouble, FarBeyondADouble) {
  for (const std::int64_t far : {std::int64_t{3000}, std::int64_t{1} << 31, std::int64_t{1} << 40}) {
    EXPECT_EQ((WideRangeDouble{1, far}.upper()), inf);
    EXPECT_EQ((WideRangeDouble{1, far}.lower()), largest);
    EXPECT_EQ((WideRangeDouble{1, -far}.upper()), eta);
    EXPECT_EQ((WideRangeDouble{1, -far}.lower()), 0);
    EXPECT_EQ((WideRangeDouble{0, far}.upper()), 0);
    EXPECT_EQ((WideRangeDouble{0, far}.lower()), 0);
  }
}

}  // namespace
}  // namespace ozbound::scaled_test
