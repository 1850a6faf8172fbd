// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/dyadic.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "support/exact.hpp"
#include "support/generators.hpp"
#include "support/wide.hpp"

namespace ozbound::dyadic_test {
namespace {

using test::exact;
using test::Exact;

static_assert(bit_length(0) == 0);
static_assert(to_dyadic(-0x1.8p-3).negative);
static_assert(to_dyadic(0x1p-1074).magnitude == 1);
static_assert(to_dyadic(1.0).top_exponent() == 0);

TEST(BitLengthTest, IsFloorOfTheLogarithmPlusOne) {
  for (int i = 0; i < 64; ++i) {
    const auto power = std::uint64_t{1} << i;
    EXPECT_EQ(bit_length(power), i + 1);
    EXPECT_EQ(bit_length(power - 1), i);
    EXPECT_EQ(bit_length(power | 1), i + 1);
  }
  EXPECT_EQ(bit_length(~std::uint64_t{0}), 64);
}

template <class T>
class DyadicTest : public testing::Test {
 protected:
  static constexpr Format format = sizeof(T) == sizeof(double) ? binary64 : binary32;
};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(DyadicTest, Types);

TYPED_TEST(DyadicTest, IsTheNumber) {
  using T = TypeParam;
  test::RandomBits random(1);
  for (int i = 0; i < 20000; ++i) {
    const T x = test::sample<T>(random);
    const auto dyadic = to_dyadic(x);
    ASSERT_EQ(exact(dyadic), Exact(static_cast<double>(x))) << std::hexfloat << x;
    ASSERT_EQ(dyadic.negative, std::signbit(x)) << std::hexfloat << x;
    ASSERT_LT(dyadic.magnitude, std::uint64_t{1} << this->format.precision);
    ASSERT_GE(dyadic.exponent, this->format.least_exponent);
    if (x == 0) continue;
    ASSERT_EQ(dyadic.top_exponent(), std::ilogb(x)) << std::hexfloat << x;
  }
}

TYPED_TEST(DyadicTest, ReadsTheEndsOfTheFormat) {
  using L = std::numeric_limits<TypeParam>;
  for (const TypeParam x : {L::max(), L::lowest(), L::min(), L::denorm_min(), L::min() - L::denorm_min(), TypeParam{0}})
    EXPECT_EQ(exact(to_dyadic(x)), Exact(static_cast<double>(x))) << std::hexfloat << x;
  EXPECT_TRUE(to_dyadic(-TypeParam{0}).negative);
  EXPECT_EQ(to_dyadic(-TypeParam{0}).magnitude, 0u);
}

TYPED_TEST(DyadicTest, ClassifiesEveryKindOfBits) {
  using T = TypeParam;
  test::RandomBits random(2);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = bits_of(test::sample_with_specials<T>(random));
    const T x = sizeof(T) == sizeof(double) ? static_cast<T>(double_from_bits(bits)) : static_cast<T>(float_from_bits(bits));
    ASSERT_EQ(is_finite(bits, this->format), std::isfinite(x)) << std::hex << bits;
    ASSERT_EQ(is_nan(bits, this->format), std::isnan(x)) << std::hex << bits;
  }
}

TYPED_TEST(DyadicTest, ItsFormatIsThatOfTheType) {
  using L = std::numeric_limits<TypeParam>;
  EXPECT_EQ(this->format.precision, L::digits);
  EXPECT_EQ(this->format.least_exponent, L::min_exponent - L::digits);
  EXPECT_EQ(this->format.inf, bits_of(L::infinity()));
  EXPECT_EQ(this->format.nan, bits_of(L::quiet_NaN()));
  EXPECT_EQ(this->format.sign, bits_of(-TypeParam{0}));
}

TEST(BitsTest, RoundTrip) {
  EXPECT_EQ(bits_of(-2.0), 0xc000000000000000);
  EXPECT_EQ(bits_of(-2.0f), 0xc0000000);
  EXPECT_EQ(double_from_bits(0x3ff8000000000000), 1.5);
  EXPECT_EQ(float_from_bits(0x3fc00000), 1.5f);
}

}  // namespace
}  // namespace ozbound::dyadic_test
