// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/special.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/flush_to_zero.hpp"
#include "support/generators.hpp"

namespace ozbound::special_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double values[] = {1, -1, 0.0, -0.0, inf, -inf, nan};

/// Checks a rule on small values by IEEE arithmetic: the class of x * y * z, and of sums of such terms.
void expect_rule(const SpecialSum& sum, double by_arithmetic) {
  ASSERT_EQ(sum.is_special(), !std::isfinite(by_arithmetic)) << by_arithmetic;
  if (!sum.is_special()) return;
  const auto expected = std::isnan(by_arithmetic) ? 0x7ff8000000000000 : bits_of(by_arithmetic);
  ASSERT_EQ(sum.bits(binary64), expected) << by_arithmetic;
  const auto narrow = std::isnan(by_arithmetic) ? 0x7fc00000 : bits_of(static_cast<float>(by_arithmetic));
  ASSERT_EQ(sum.bits(binary32), narrow) << by_arithmetic;
}

TEST(SpecialSumTest, TruthTableOfOneTerm) {
  for (const double x : values)
    for (const double y : values)
      for (const double z : values) {
        SpecialSum sum;
        sum.add(bits_of(x), bits_of(y), bits_of(z));
        ASSERT_NO_FATAL_FAILURE(expect_rule(sum, x * y * z)) << x << ' ' << y << ' ' << z;
      }
}

TEST(SpecialSumTest, TruthTableOfTwoTerms) {
  for (const double x : values)
    for (const double y : values)
      for (const double z : values)
        for (const double u : values)
          for (const double v : values) {
            SpecialSum sum;
            sum.add(bits_of(x), bits_of(y), bits_of(z));
            sum.add(bits_of(1.0), bits_of(u), bits_of(v));
            ASSERT_NO_FATAL_FAILURE(expect_rule(sum, x * y * z + u * v)) << x << ' ' << y << ' ' << z << ' ' << u << ' ' << v;
          }
}

TEST(SpecialSumTest, StartsFinite) { EXPECT_FALSE(SpecialSum().is_special()); }

/// Finite factors are never special, even if their product would overflow, and Inf times a tiny number is no NaN.
TEST(SpecialSumTest, FiniteNumbersNeverOverflow) {
  test::RandomBits random(1);
  const double max = std::numeric_limits<double>::max();
  SpecialSum sum;
  sum.add(bits_of(max), bits_of(max), bits_of(max));
  for (int i = 0; i < 1000; ++i)
    sum.add(bits_of(test::sample<double>(random)), bits_of(test::sample<double>(random)),
            bits_of(test::sample<double>(random)));
  EXPECT_FALSE(sum.is_special());
  sum.add(bits_of(0x1p-1074), bits_of(-0x1p-1074), bits_of(inf));
  EXPECT_EQ(sum.bits(binary64), bits_of(-inf));
}

/// Every NaN counts, signalling or with any payload, and becomes the one quiet NaN.
TEST(SpecialSumTest, EveryNanIsOne) {
  for (const std::uint64_t bits :
       {0x7ff0000000000001u, 0x7ff8000000000000u, 0xfff8000000000001u, 0xffffffffffffffffu, 0x7ff7ffffffffffffu})
    for (int place = 0; place < 3; ++place) {
      std::uint64_t factors[3] = {bits_of(1.0), bits_of(0.0), bits_of(inf)};
      factors[place] = bits;
      SpecialSum sum;
      sum.add(factors[0], factors[1], factors[2]);
      ASSERT_TRUE(sum.is_special());
      EXPECT_EQ(sum.bits(binary64), 0x7ff8000000000000u);
      EXPECT_EQ(sum.bits(binary32), 0x7fc00000u);
    }
}

RC_GTEST_PROP(SpecialSumTest, OrderDoesNotMatter, ()) {
  test::RandomBits random(*test::gen::seed());
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < 9; ++i)
    bits.push_back(random.once_in(2) ? bits_of(random.pick(values)) : bits_of(test::sample_with_specials<double>(random)));
  SpecialSum forwards;
  SpecialSum backwards;
  for (std::size_t i = 0; i < 9; i += 3) forwards.add(bits[i], bits[i + 1], bits[i + 2]);
  for (std::size_t i = 9; i > 0; i -= 3) backwards.add(bits[i - 1], bits[i - 2], bits[i - 3]);
  RC_ASSERT(forwards.is_special() == backwards.is_special());
  if (forwards.is_special()) RC_ASSERT(forwards.bits(binary64) == backwards.bits(binary64));
}

// ---- Widening.

/// Every exponent field with notable fractions, in both signs: all classes of float.
std::vector<float> notable_floats() {
  std::vector<float> floats;
  for (std::uint32_t high = 0; high < 0x10000; high += 1)
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0xffffu})
      floats.push_back(float_from_bits(high << 16 | low));
  for (std::uint32_t tiny = 0; tiny < 0x20000; ++tiny) floats.push_back(float_from_bits(tiny));
  return floats;
}

std::uint64_t widened_by_hand(float x) {
  if (std::isnan(x)) return std::signbit(x) ? 0xfff8000000000000 : 0x7ff8000000000000;
  return bits_of(static_cast<double>(x));
}

TEST(WidenTest, IsTheSameNumber) {
  for (const float x : notable_floats()) ASSERT_EQ(widen_bits(x), widened_by_hand(x)) << std::hexfloat << x;
}

TEST(WidenTest, IgnoresFlushToZero) {
  if (!test::FlushToZero::available) GTEST_SKIP();
  const auto floats = notable_floats();
  std::vector<std::uint64_t> expected;
  for (const float x : floats) expected.push_back(widened_by_hand(x));
  std::vector<std::uint64_t> flushed;
  {
    const test::FlushToZero flush;
    ASSERT_TRUE(test::flushes());
    for (const float x : floats) flushed.push_back(widen_bits(x));
  }
  EXPECT_EQ(flushed, expected);
}

}  // namespace
}  // namespace ozbound::special_test
