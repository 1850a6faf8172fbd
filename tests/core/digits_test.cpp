// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/digits.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "properties/sliced_pair.hpp"
#include "support/exact.hpp"
#include "support/generators.hpp"

namespace ozbound::digits_test {
namespace {

using Kind = Encoding::Kind;
using test::cpp_int;
using test::Exact;

using DigitArray = std::array<std::int8_t, max_slices>;

DigitArray split_with(double x, Slicing slicing, int scale) {
  DigitArray digits{};
  split(to_dyadic(x), slicing, scale, digits.data());
  return digits;
}

std::vector<int> digits_by_definition(double x, Slicing slicing, int scale) {
  return properties::digits_by_definition(Exact(x), slicing, scale);
}

std::string describe(double x, Slicing slicing, int scale) {
  std::ostringstream text;
  text << std::hexfloat << x << ", scale 2^" << scale << ", " << to_string(slicing.encoding) << " x " << slicing.slices;
  return text.str();
}

/// Success if |x - sum of the digits| is within the residual column of the table.
testing::AssertionResult residual_is_small(const Exact& residual, Slicing slicing, int scale) {
  const bool cut = properties::cuts_bits(slicing.encoding) || slicing.encoding.kind == Kind::unsigned8;
  const auto unit = Exact{1, scale + properties::weight_exponent(slicing.encoding, slicing.slices) - (cut ? 0 : 1)};
  const auto magnitude = residual.magnitude();
  const bool small = cut ? magnitude < unit : magnitude <= unit;
  return small ? testing::AssertionSuccess() : testing::AssertionFailure() << "residual " << residual << " against " << unit;
}

/// Checks everything promised of one number in one slicing: digits, range, residual, and the intermediate remainders.
testing::AssertionResult splits_rightly(double x, Slicing slicing, int scale) {
  const auto bytes = split_with(x, slicing, scale);
  const auto expected = digits_by_definition(x, slicing, scale);
  const int limit = slicing.encoding.digit_magnitude();
  Exact rest(x);
  Remainder remainder(to_dyadic(x));
  for (int p = 1; p <= slicing.slices; ++p) {
    const int digit = slicing.encoding.digit(p, bytes[static_cast<std::size_t>(p - 1)]);
    const int low = scale + properties::weight_exponent(slicing.encoding, p);
    if (digit != expected[static_cast<std::size_t>(p - 1)])
      return testing::AssertionFailure() << "digit " << p << " is " << digit << ", not "
                                         << expected[static_cast<std::size_t>(p - 1)];
    if (slicing.encoding.kind == Kind::unsigned8
            ? (p == 1 ? digit > 127 : digit < 0)
            : digit < -limit || digit > (slicing.encoding.kind == Kind::balanced ? 127 : limit))
      return testing::AssertionFailure() << "digit " << p << " out of range: " << digit;
    rest = rest - Exact{digit, low};
    if (slicing.encoding.kind == Kind::unsigned8) {
      for (const int fraction : {0, 1, 16, 40, 62})
        if (const auto tail = floor_tail_upper(to_dyadic(x), low, fraction);
            tail != -test::floor_in_units(-rest, low - fraction))
          return testing::AssertionFailure() << "tail after digit " << p << " in units of 2^-" << fraction << " is " << tail;
      continue;
    }
    remainder.take(digit, low);
    if (Exact{remainder.rest, remainder.exponent} != rest)
      return testing::AssertionFailure() << "remainder after digit " << p << " is " << remainder.rest << ", not " << rest;
    if (std::abs(remainder.rest) > std::int64_t{1} << 54)
      return testing::AssertionFailure() << "remainder after digit " << p << " is too large: " << remainder.rest;
    for (const int unit : {low, low - 1, low - 30, low + 40}) {
      const auto ceiling = -test::floor_in_units(-rest.magnitude(), unit);
      if (remainder.magnitude_upper(unit) != ceiling)
        return testing::AssertionFailure() << "ceiling after digit " << p << " in units of 2^" << unit << " is "
                                           << remainder.magnitude_upper(unit) << ", not " << ceiling;
    }
  }
  return residual_is_small(rest, slicing, scale);
}

void expect_split(double x, double top, const Slicing& slicing) {
  const int scale = slicing.encoding.scale_exponent(to_dyadic(top));
  ASSERT_TRUE(splits_rightly(x, slicing, scale)) << describe(x, slicing, scale) << ", row maximum " << std::hexfloat << top;
}

/// Rows of every kind are split rightly in every encoding with 1 … 20 slices.
RC_GTEST_PROP(SplitTest, RowsOfEveryKind, ()) {
  const auto row = *test::gen::row();
  for (const auto& encoding : all_encodings()) {
    const int slices = *rc::gen::inRange(1, max_slices + 1);
    const int scale = encoding.scale_exponent(to_dyadic(row.top()));
    for (const double x : row.values) {
      const auto result = splits_rightly(x, {encoding, slices}, scale);
      if (!result) RC_FAIL(describe(x, {encoding, slices}, scale) + ": " + result.message());
    }
  }
}

/// All slicings are right for notable maxima: powers of two, near the balanced limit and every carry, subnormal and largest.
TEST(SplitTest, NotableMaximaInEverySlicing) {
  const double tops[] = {1.0,
                         0x1.0000000000001p0,
                         0x1.fffffffffffffp0,
                         0x1.fcfffffffffffp0,
                         0x1.fdp0,
                         0x1.fd00000000001p0,
                         0x1.fcp0,
                         0x1.fefefefefefefp0,
                         0x1.010101010101p0,
                         0x1.8080808080808p0,
                         0x1.7f7f7f7f7f7f7p0,
                         0x1.aaaaaaaaaaaaap0,
                         0x1p-1074,
                         0x3p-1074,
                         0x1FDp-1074,
                         0x0.fffffffffffffp-1022,
                         0x1p-1022,
                         0x1p1023,
                         std::numeric_limits<double>::max(),
                         0x1.fdp1023,
                         0x1.fcfffffffffffp1023};
  for (const double top : tops)
    for (const auto& encoding : all_encodings())
      for (int slices = 1; slices <= max_slices; ++slices) {
        expect_split(top, top, {encoding, slices});
        expect_split(-top, top, {encoding, slices});
        expect_split(-std::nextafter(top, 0), top, {encoding, slices});
      }
}

/// Elements far below the maximum are split rightly at every distance at which a bit can meet a digit's end, and beyond.
TEST(SplitTest, MembersFarBelowTheMaximum) {
  test::RandomBits random(4);
  for (const int top_exponent : {0, 1023, -900})
    for (int depth = 0; depth <= 190; ++depth) {
      const double top = std::ldexp(random.once_in(2) ? 1.0 : 0x1.fep0, top_exponent);
      for (const auto& encoding :
           {Encoding::balanced(), Encoding::unsigned8(), Encoding::truncated(7), Encoding::nearest(7), Encoding::nearest(1)}) {
        const double x = test::sample_below<double>(top_exponent - 1, depth, random);
        expect_split(x, top, {encoding, random.between(1, max_slices)});
        expect_split(x, top, {encoding, max_slices});
      }
    }
  for (const auto& encoding : all_encodings())
    for (const double x : {0x1p-1074, -0x1p-1074, 0x1.fffffffffffffp-1000, -0.0, 0.0})
      expect_split(x, std::numeric_limits<double>::max(), {encoding, max_slices});
}

TEST(SplitTest, ManyNumbersInEveryEncoding) {
  test::RandomBits random(5);
  for (int i = 0; i < 400; ++i) {
    const auto row = test::sample_row(random.pick(test::row_classes), 2, random);
    for (const auto& encoding : all_encodings()) {
      const int slices = random.between(1, max_slices);
      for (const double x : row.values) expect_split(x, row.top(), {encoding, slices});
    }
  }
}

/// Half-way cases of the last digit go to even.
TEST(SplitTest, TiesGoToEven) {
  for (const auto& encoding : {Encoding::balanced(), Encoding::nearest(7), Encoding::nearest(3)})
    for (int slices = 1; slices <= 6; ++slices) {
      const int low = 2 + encoding.weight_exponent(slices);
      for (int n = -9; n <= 9; ++n) {
        const double x = std::ldexp(2 * n + 1, low - 1);
        if (std::abs(x) <= 3.0) expect_split(x, 3.0, {encoding, slices});
      }
    }
}

/// The D of the INT32 limit is attained, so it cannot be smaller; so are both ends of a balanced digit.
TEST(SplitTest, DigitsReachTheirMagnitude) {
  for (const auto& encoding : all_encodings()) {
    int least = 0;
    int most = 0;
    for (const double x : {1.0, 0x1.fffffffffffffp-1, 0x1.fcfffffffffffp-1, 0x1p-8})  // 2^-8 is the digits 1, -128 below 1
      for (const double signed_x : {x, -x})
        for (int p = 0;
             const auto byte : split_with(signed_x, {encoding, 6}, encoding.scale_exponent(to_dyadic(std::max(x, 0.5))))) {
          least = std::min(least, encoding.digit(++p, byte));
          most = std::max(most, encoding.digit(p, byte));
        }
    EXPECT_EQ(least, encoding.kind == Kind::unsigned8 ? -128 : -encoding.digit_magnitude()) << to_string(encoding);
    EXPECT_EQ(most, encoding.kind == Kind::balanced ? 127 : encoding.digit_magnitude()) << to_string(encoding);
  }
}

/// The residual of the table is (almost) attained, so it cannot be smaller.
TEST(SplitTest, ResidualsReachTheirBound) {
  for (const auto& encoding : all_encodings())
    for (int slices = 1; slices <= 4; ++slices) {
      const int scale = encoding.scale_exponent(to_dyadic(1.0));
      const int unit = scale - encoding.beta * slices;
      const double x = encoding.kind == Kind::truncated ? std::ldexp(1 - 0x1p-20, unit) : std::ldexp(1.0, unit);
      const auto digits = split_with(x, {encoding, slices}, scale);
      for (const int digit : digits) EXPECT_EQ(digit, 0) << to_string(encoding);
    }
}

/// Up to eight slices, the bytes of (N + 0x80…80) xor 0x80…80 are the balanced digits.
RC_GTEST_PROP(SplitTest, BalancedDigitsAreTheBytesOfOneInteger, ()) {
  const auto row = *test::gen::row();
  const int scale = Encoding::balanced().scale_exponent(to_dyadic(row.top()));
  for (int slices = 1; slices <= 8; ++slices)
    for (const double x : row.values) {
      const auto n = test::nearest_in_units(Exact(x), scale + 1 - 8 * slices);
      const auto bytes =
          ((static_cast<std::uint64_t>(static_cast<std::int64_t>(n)) + 0x8080808080808080u) ^ 0x8080808080808080u);
      const auto digits = split_with(x, {Encoding::balanced(), slices}, scale);
      for (int p = 1; p <= slices; ++p)
        RC_ASSERT(digits[static_cast<std::size_t>(p - 1)] == static_cast<std::int8_t>(bytes >> (8 * (slices - p))));
    }
}

/// A few digits hold a number with few bits exactly, and the later digits are zero.
TEST(SplitTest, ShortNumbersLeaveNothing) {
  for (const auto& encoding : all_encodings())
    for (int n = -100; n <= 100; ++n) {
      const int scale = encoding.scale_exponent(to_dyadic(100.0));
      const auto digits = split_with(n, {encoding, max_slices}, scale);
      Remainder remainder(to_dyadic(double(n)));
      for (int p = 1; p <= max_slices; ++p) {
        EXPECT_TRUE(scale + properties::weight_exponent(encoding, p - 1) > 0 || digits[static_cast<std::size_t>(p - 1)] == 0)
            << describe(n, {encoding, p}, scale);
        remainder.take(digits[static_cast<std::size_t>(p - 1)], scale + encoding.weight_exponent(p));
      }
      EXPECT_EQ(remainder.rest, 0);
    }
}

TEST(SplitTest, ZerosHaveNoDigits) {
  for (const auto& encoding : all_encodings())
    for (const double zero : {0.0, -0.0})
      for (const int scale : {-1074, 0, 1025}) EXPECT_EQ(split_with(zero, {encoding, max_slices}, scale), DigitArray{});
}

/// Unsigned digits are the bytes of floor(x / w_s) in two's complement, for up to eight bytes.
RC_GTEST_PROP(SplitTest, UnsignedDigitsAreTheBytesOfTheFloor, ()) {
  const auto row = *test::gen::row();
  const int scale = Encoding::unsigned8().scale_exponent(to_dyadic(row.top()));
  for (int slices = 1; slices <= 8; ++slices)
    for (const double x : row.values) {
      const auto floor = static_cast<std::int64_t>(test::floor_in_units(Exact(x), scale + 1 - 8 * slices));
      const auto digits = split_with(x, {Encoding::unsigned8(), slices}, scale);
      for (int p = 1; p <= slices; ++p)
        RC_ASSERT(digits[static_cast<std::size_t>(p - 1)] == static_cast<std::int8_t>(floor >> (8 * (slices - p))));
    }
}

/// The tail of a tiny negative number is nearly a whole weight.
TEST(FloorTailTest, AtItsEnds) {
  EXPECT_EQ(floor_tail_upper(to_dyadic(-0x1p-1074), 1024, 16), 0x10000u);
  EXPECT_EQ(floor_tail_upper(to_dyadic(0x1p-1074), 1024, 16), 1u);
  EXPECT_EQ(floor_tail_upper(to_dyadic(-1.0), 0, 16), 0u);
  EXPECT_EQ(floor_tail_upper(to_dyadic(-0x1.8p0), 0, 16), 0x8000u);
  EXPECT_EQ(floor_tail_upper(to_dyadic(-0x1p-17), 0, 16), 0x10000u);
  EXPECT_EQ(floor_tail_upper(to_dyadic(-0x1p-16), 0, 16), 0xffffu);
  EXPECT_EQ(floor_tail_upper(to_dyadic(0.0), 0, 16), 0u);
}

TEST(SplitTest, WritesNoMoreThanItsDigits) {
  for (const auto& encoding : all_encodings())
    for (int slices = 1; slices < max_slices; ++slices) {
      DigitArray digits;
      digits.fill(99);
      split(to_dyadic(0x1.8181818181818p0), {encoding, slices}, encoding.scale_exponent(to_dyadic(0x1.8181818181818p0)),
            digits.data());
      for (int p = slices; p < max_slices; ++p) ASSERT_EQ(digits[static_cast<std::size_t>(p)], 99) << to_string(encoding);
    }
}

/// If the rounding is symmetric, digit(x) = -digit(-x).
RC_GTEST_PROP(SplitTest, TruncatedAndNearestAreOdd, ()) {
  const auto row = *test::gen::row();
  for (const auto& encoding : all_encodings()) {
    if (encoding.beta == 8) continue;
    const int scale = encoding.scale_exponent(to_dyadic(row.top()));
    for (const double x : row.values) {
      const auto plus = split_with(x, {encoding, max_slices}, scale);
      const auto minus = split_with(-x, {encoding, max_slices}, scale);
      for (std::size_t p = 0; p < plus.size(); ++p) RC_ASSERT(plus[p] == -minus[p]);
    }
  }
}

TEST(TruncatedDigitTest, IsAnyWindowOfBits) {
  test::RandomBits random(6);
  for (int i = 0; i < 5000; ++i) {
    const double x = test::sample<double>(random);
    const int width = random.between(1, 7);
    const int low = random.once_in(4) ? random.between(-1200, 1100) : to_dyadic(x).exponent + random.between(-10, 60);
    auto expected = test::floor_in_units(Exact(x).magnitude(), low) % (1 << width);
    if (x < 0) expected = -expected;
    ASSERT_EQ(truncated_digit(to_dyadic(x), low, width), expected) << std::hexfloat << x << ' ' << low << ' ' << width;
  }
}

TEST(ShiftRightToNearestTest, IsTheRoundedQuotient) {
  test::RandomBits random(7);
  for (int i = 0; i < 5000; ++i) {
    const auto magnitude = test::sample_significand(random.pick(test::significand_classes), random.between(9, 54), random) - 1;
    const int shift = random.between(1, 70);
    ASSERT_EQ(shift_right_to_nearest(magnitude, shift), test::nearest_in_units(Exact{magnitude, 0}, shift))
        << magnitude << ' ' << shift;
  }
  EXPECT_EQ(shift_right_to_nearest((std::uint64_t{1} << 54) - 1, 54), 1u);
  EXPECT_EQ(shift_right_to_nearest(std::uint64_t{1} << 53, 54), 0u);
  EXPECT_EQ(shift_right_to_nearest((std::uint64_t{1} << 53) + 1, 54), 1u);
}

TEST(RemainderTest, CeilingAtItsEnds) {
  const auto of = [](double x, int unit) { return Remainder(to_dyadic(x)).magnitude_upper(unit); };
  EXPECT_EQ(of(0.0, -2000), 0u);
  EXPECT_EQ(of(0.0, 2000), 0u);
  EXPECT_EQ(of(-1.0, 0), 1u);
  EXPECT_EQ(of(1.0, -61), std::uint64_t{1} << 61);
  EXPECT_EQ(of(0x1p-1074, 1000), 1u);
  EXPECT_EQ(of(-0x1.0000000000001p0, 0), 2u);
  for (int unit = 0; unit < 80; ++unit) EXPECT_EQ(of(0x1.fffffffffffffp0, unit), unit == 0 ? 2u : 1u) << unit;
}

}  // namespace
}  // namespace ozbound::digits_test
