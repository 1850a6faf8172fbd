// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/outward.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/classified.hpp"
#include "support/exact.hpp"

namespace ozbound::outward_test {
namespace {

using test::cpp_int;
using test::Exact;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double eta = 0x1p-1074;

/// A random x >= 0 of any class.
double magnitude(test::RandomBits& random) { return std::abs(test::sample<double>(random)); }

/// The fraction numerator / denominator.
struct Quotient {
  Exact numerator;
  Exact denominator = Exact(1.0);

  [[nodiscard]] bool below(double x) const {
    return x == inf || numerator < Exact(x) * denominator || numerator == Exact(x) * denominator;
  }
  [[nodiscard]] bool above(double x) const { return x != inf && !(numerator < Exact(x) * denominator); }
};

/// Checks that `upper` bounds the quotient from above, `lower` from below, and neither is more than two steps away.
void expect_enclosed(const Quotient& exact, double lower, double upper, double x, double y) {
  const auto context = testing::Message() << std::hexfloat << x << ", " << y << " -> " << lower << ", " << upper;
  EXPECT_TRUE(exact.below(upper)) << context;
  EXPECT_TRUE(exact.above(lower)) << context;
  EXPECT_TRUE(upper == 0 || exact.above(next_down(next_down(upper)))) << context;
  EXPECT_TRUE(lower == largest || exact.below(next_up(next_up(lower)))) << context;
  EXPECT_GE(lower, 0) << context;
}

TEST(Outward, SumsAreEnclosed) {
  test::RandomBits random(1);
  for (int t = 0; t < 20000; ++t) {
    const double x = magnitude(random);
    const double y = random.once_in(3) ? x * 0x1p-53 : magnitude(random);
    expect_enclosed({Exact(x) + Exact(y)}, add_lower(x, y), add_upper(x, y), x, y);
  }
}

TEST(Outward, ProductsAreEnclosed) {
  test::RandomBits random(2);
  for (int t = 0; t < 20000; ++t) {
    const double x = magnitude(random);
    const double y = magnitude(random);
    expect_enclosed({Exact(x) * Exact(y)}, multiply_lower(x, y), multiply_upper(x, y), x, y);
  }
}

TEST(Outward, QuotientsAreEnclosed) {
  test::RandomBits random(3);
  for (int t = 0; t < 20000; ++t) {
    const double x = magnitude(random);
    const double y = magnitude(random);
    if (y > 0) expect_enclosed({Exact(x), Exact(y)}, divide_lower(x, y), divide_upper(x, y), x, y);
  }
}

TEST(Outward, DifferencesAreBoundedFromBelow) {
  test::RandomBits random(4);
  for (int t = 0; t < 20000; ++t) {
    const double x = magnitude(random);
    const double y = random.once_in(3) ? x * (1 - 0x1p-52) : magnitude(random);
    const double lower = subtract_lower(x, y);
    const Quotient exact{Exact(x) - Exact(y)};
    EXPECT_TRUE(lower == 0 || exact.above(lower)) << std::hexfloat << x << ", " << y;
    EXPECT_TRUE(exact.below(next_up(next_up(lower)))) << std::hexfloat << x << ", " << y;
    EXPECT_GE(lower, 0);
  }
}

TEST(Outward, IntegersAreEnclosed) {
  test::RandomBits random(5);
  for (int t = 0; t < 20000; ++t) {
    const auto x = random() >> random.below(64);
    expect_enclosed({Exact(cpp_int(x), 0)}, to_double_lower(x), to_double_upper(x), static_cast<double>(x), 0);
    if (x < std::uint64_t{1} << 53) {
      EXPECT_EQ(to_double_upper(x), to_double_lower(x));
    }
  }
  const auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_GE(to_double_upper(most), 0x1p64);
  EXPECT_LT(to_double_lower(most), 0x1p64);
}

TEST(Outward, ZeroStaysExact) {
  for (const double x : {0.0, eta, 1.0, largest}) {
    EXPECT_EQ(multiply_upper(0, x), 0);
    EXPECT_EQ(multiply_upper(x, 0), 0);
    EXPECT_EQ(multiply_lower(x, 0), 0);
    EXPECT_EQ(add_upper(0, x), x);
    EXPECT_EQ(add_upper(x, 0), x);
    EXPECT_EQ(add_lower(0, x), x);
    EXPECT_EQ(subtract_lower(x, 0), x);
    EXPECT_EQ(subtract_lower(x, x), 0);
    EXPECT_EQ(divide_upper(0, 1), 0);
  }
  EXPECT_EQ(multiply_upper(0, inf), 0);  // an error of zero stays zero for any factor
}

TEST(Outward, OverflowAndUnderflowStayBounds) {
  EXPECT_EQ(add_upper(largest, largest), inf);
  EXPECT_EQ(add_lower(largest, largest), largest);
  EXPECT_EQ(multiply_upper(largest, 2), inf);
  EXPECT_EQ(multiply_lower(largest, 2), largest);
  EXPECT_EQ(divide_upper(1, eta), inf);
  EXPECT_EQ(divide_lower(largest, eta), largest);
  EXPECT_EQ(add_upper(inf, 1), inf);
  EXPECT_EQ(multiply_upper(eta, eta), eta);
  EXPECT_EQ(multiply_lower(eta, eta), 0);
  EXPECT_EQ(next_up(largest), inf);
  EXPECT_EQ(next_up(inf), inf);
  EXPECT_EQ(next_up(0), eta);
  EXPECT_EQ(next_down(eta), 0);
  EXPECT_EQ(next_down(0), 0);
  EXPECT_EQ(next_down(inf), largest);
}

}  // namespace
}  // namespace ozbound::outward_test
