// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/exact_sum.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/exact.hpp"
#include "support/generators.hpp"
#include "support/wide.hpp"

namespace ozbound::exact_sum_test {
namespace {

using test::cpp_int;
using test::exact;
using test::Exact;
using test::RandomBits;

template <class T>
constexpr Format format_of() {
  return sizeof(T) == sizeof(double) ? binary64 : binary32;
}

/// The value integer * 2^exponent.
template <int Limbs = 2>
WideDyadic<Limbs> wide(std::int64_t integer, int exponent) {
  WideDyadic<Limbs> result;
  result.magnitude.add(static_cast<std::uint64_t>(integer < 0 ? -integer : integer), 0);
  result.exponent = exponent;
  result.negative = integer < 0;
  return result;
}

template <int Limbs>
WideDyadic<Limbs> sample_dyadic(int top, RandomBits& random) {
  WideDyadic<Limbs> result{test::sample_wide<Limbs>(random), 0, random.once_in(2)};
  result.exponent = top - result.magnitude.bits();
  return result;
}

/// A number at, or next to, a midpoint of two neighbours of T (or a neighbour itself) in any binade, subnormal ones included.
template <class T, int Limbs>
WideDyadic<Limbs> sample_near_boundary(RandomBits& random) {
  using A = test::Anatomy<T>;
  const int e = test::sample_exponent(random.pick(test::exponent_classes), A::least - 1, A::least_normal, A::largest, random);
  const int last = std::max(e - A::precision + 1, A::least);
  const auto significand = test::sample_significand(random.pick(test::significand_classes), A::precision, random) >>
                           std::min(63, last - (e - A::precision + 1));
  const int extra = random.between(1, 64 * Limbs - 60);
  WideDyadic<Limbs> result;
  result.magnitude.add(2 * significand | (random.once_in(8) ? 0 : 1), extra - 1);
  result.exponent = last - extra;
  result.negative = random.once_in(2);
  if (random.once_in(2) || extra == 1) return result;
  WideInteger<Limbs> step;
  step.add(1, random.below(extra - 1));
  if (random.once_in(2) || result.magnitude.less_than(step))
    result.magnitude.add(step);
  else
    result.magnitude.subtract(step);
  return result;
}

/// Two terms: arbitrary ones, a boundary and a term far below it, or two that cancel.
template <class T, int Limbs>
std::pair<WideDyadic<Limbs>, WideDyadic<Limbs>> sample_terms(RandomBits& random) {
  const int range = 2 * test::Anatomy<T>::largest;
  auto x =
      random.once_in(2) ? sample_near_boundary<T, Limbs>(random) : sample_dyadic<Limbs>(random.between(-range, range), random);
  const int top = x.exponent + x.magnitude.bits();
  WideDyadic<Limbs> y;
  switch (random.below(5)) {
    case 0: break;
    case 1: y = sample_dyadic<Limbs>(random.between(-range, range), random); break;
    case 2: y = sample_dyadic<Limbs>(top - random.between(-2, 64 * Limbs + 140), random); break;
    case 3: y = wide<Limbs>(random.once_in(2) ? 1 : -1, top - random.between(0, 5000)); break;
    default:
      y = x;
      y.negative = !x.negative;
      if (random.once_in(2)) y.magnitude.limb[0] ^= 1;
      break;
  }
  if (random.once_in(2)) std::swap(x, y);
  return {x, y};
}

/// Checks the sign, and that |X + Y| is the magnitude or, with the sticky bit set, strictly between it and the next magnitude.
template <int Limbs>
void expect_enclosed(const GridSum<Limbs>& sum, const Exact& value) {
  const auto floor = Exact{exact(sum.magnitude), sum.exponent};
  const auto next = Exact{exact(sum.magnitude) + 1, sum.exponent};
  if (sum.sticky) {
    ASSERT_LT(floor, value.magnitude());
    ASSERT_LT(value.magnitude(), next);
    ASSERT_GE(sum.magnitude.bits(), 61);
  } else {
    ASSERT_EQ(floor, value.magnitude());
  }
  ASSERT_TRUE(value.is_zero() || sum.negative == (value.integer < 0));
}

template <class T, int Limbs>
void check_sums(int rounds, std::uint64_t seed) {
  RandomBits random(seed);
  int sticky = 0;
  int zero = 0;
  int subnormal = 0;
  int infinite = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto [x, y] = sample_terms<T, Limbs - 1>(random);
    const auto sum = GridSum<Limbs>::of(x, y);
    const auto value = exact(x) + exact(y);
    ASSERT_NO_FATAL_FAILURE(expect_enclosed(sum, value)) << exact(x) << " + " << exact(y);
    const auto expected = test::rounded<T>(value);
    ASSERT_EQ(sum.round(format_of<T>()), bits_of(expected))
        << exact(x) << " + " << exact(y) << " gives " << std::hexfloat << expected;
    sticky += sum.sticky ? 1 : 0;
    zero += value.is_zero() ? 1 : 0;
    infinite += std::isinf(expected) ? 1 : 0;
    subnormal += expected != 0 && std::abs(expected) < std::numeric_limits<T>::min() ? 1 : 0;
  }
  for (const int count : {sticky, zero, subnormal, infinite}) EXPECT_GT(count, rounds / 100);
}

TEST(GridSumTest, RoundsExactSumsToBinary64) {
  check_sums<double, 2>(10000, 1);
  check_sums<double, 3>(10000, 2);
  check_sums<double, 8>(10000, 3);
}

TEST(GridSumTest, RoundsExactSumsToBinary32) {
  check_sums<float, 2>(10000, 4);
  check_sums<float, 8>(10000, 5);
}

RC_GTEST_PROP(GridSumTest, AddsTwoNumbersAsTheProcessorDoes, ()) {
  const double x = (*test::gen::number<double>()).value;
  const double y = (*test::gen::number<double>()).value;
  const auto as_wide = [](double number) {
    const auto dyadic = to_dyadic(number);
    return WideDyadic<1>{{{dyadic.magnitude}}, dyadic.exponent, dyadic.negative};
  };
  const double sum = x + y;
  RC_ASSERT(GridSum<2>::of(as_wide(x), as_wide(y)).round(binary64) == (sum == 0 ? 0 : bits_of(sum)));
}

TEST(GridSumTest, RoundsOnceIntoTheSubnormals) {
  // (2^60 + 2^52 + 1) * 2^-1127: rounding before scaling would give 0x80 * 2^-1074.
  const auto x = wide((std::int64_t{1} << 60) + (std::int64_t{1} << 52) + 1, -1127);
  EXPECT_EQ(GridSum<3>::of(x, WideDyadic<2>{}).round(binary64), 0x81u);
  const auto y = wide(-((std::int64_t{1} << 60) + (std::int64_t{1} << 52)), -1127);
  EXPECT_EQ(GridSum<3>::of(y, WideDyadic<2>{}).round(binary64), 0x80u | binary64.sign);
}

TEST(GridSumTest, SumsFromTermsThatOverflow) {
  // 2^1024 - 2^1023 and similar sums have no intermediate overflow.
  EXPECT_EQ(GridSum<3>::of(wide(1, 1024), wide(-1, 1023)).round(binary64), bits_of(0x1p1023));
  EXPECT_EQ(GridSum<3>::of(wide(1, 5000), wide(-1, 5000)).round(binary64), 0u);
}

TEST(GridSumTest, OverflowThreshold) {
  const auto all_ones = wide((std::int64_t{1} << 53) - 1, 971);  // the largest double
  const auto round = [&](const WideDyadic<2>& x, const WideDyadic<2>& y) { return GridSum<3>::of(x, y).round(binary64); };
  EXPECT_EQ(round(all_ones, {}), bits_of(std::numeric_limits<double>::max()));
  EXPECT_EQ(round(all_ones, wide(1, 970)), binary64.inf);
  EXPECT_EQ(round(wide(1, 1024), wide(-1, 970)), binary64.inf);
  EXPECT_EQ(round(wide(1, 1024), wide((std::int64_t{-1} << 60) - 1, 910)), bits_of(std::numeric_limits<double>::max()));
  auto negative = all_ones;
  negative.negative = true;
  EXPECT_EQ(round(negative, wide(-1, 970)), binary64.inf | binary64.sign);
  // A sticky bit far below decides: the threshold minus the least number.
  WideDyadic<2> threshold = wide((std::int64_t{1} << 54) - 1, 970);
  EXPECT_EQ(round(threshold, wide(1, -5000)), binary64.inf);
  EXPECT_EQ(round(threshold, wide(-1, -5000)), bits_of(std::numeric_limits<double>::max()));
  EXPECT_EQ(GridSum<3>::of(wide((1 << 25) - 1, 103), WideDyadic<2>{}).round(binary32), binary32.inf);
  EXPECT_EQ(GridSum<3>::of(wide((1 << 25) - 1, 103), wide(-1, -5000)).round(binary32),
            bits_of(std::numeric_limits<float>::max()));
  for (int e = 1024; e < 10000; ++e)
    ASSERT_EQ(round(wide(1, e), {}), binary64.inf) << e;  // for any exponent, also if its field would wrap
  for (int e = 128; e < 10000; ++e) ASSERT_EQ(GridSum<3>::of(wide(1, e), WideDyadic<2>{}).round(binary32), binary32.inf) << e;
}

TEST(GridSumTest, TiesAreBrokenByWhatLiesFarBelow) {
  for (const int gap : {1, 53, 60, 64, 130, 1000, 20000})
    for (const int sign : {1, -1}) {
      const auto even_tie = wide((std::int64_t{1} << 53) + 1, 0);  // between 2^53 and 2^53 + 2: to even, down
      const auto odd_tie = wide((std::int64_t{1} << 53) + 3, 0);   // between 2^53 + 2 and 2^53 + 4: to even, up
      const auto dust = wide(sign, -gap);
      EXPECT_EQ(GridSum<3>::of(even_tie, dust).round(binary64), bits_of(sign > 0 ? 0x1p53 + 2 : 0x1p53)) << gap;
      EXPECT_EQ(GridSum<3>::of(dust, odd_tie).round(binary64), bits_of(sign > 0 ? 0x1p53 + 4 : 0x1p53 + 2)) << gap;
    }
  EXPECT_EQ(GridSum<3>::of(wide((std::int64_t{1} << 53) + 1, 0), WideDyadic<2>{}).round(binary64), bits_of(0x1p53));
  EXPECT_EQ(GridSum<3>::of(wide((std::int64_t{1} << 53) + 3, 0), WideDyadic<2>{}).round(binary64), bits_of(0x1p53 + 4));
}

TEST(GridSumTest, SignsOfZero) {
  const auto round = [](const WideDyadic<2>& x, const WideDyadic<2>& y) { return GridSum<3>::of(x, y).round(binary64); };
  auto minus_zero = WideDyadic<2>{};
  minus_zero.negative = true;
  EXPECT_EQ(round({}, {}), 0u);
  EXPECT_EQ(round(minus_zero, {}), 0u);
  EXPECT_EQ(round(minus_zero, minus_zero), 0u);
  EXPECT_EQ(round(wide(3, 7), wide(-3, 7)), 0u);
  EXPECT_EQ(round(wide(-3, 7), wide(3, 7)), 0u);
  EXPECT_EQ(round(wide(-6, 6), wide(3, 7)), 0u);
  EXPECT_EQ(round(wide(1, -1076), {}), 0u);
  EXPECT_EQ(round(wide(-1, -1076), {}), binary64.sign);
  EXPECT_EQ(round(wide(-1, -1075), {}), binary64.sign);  // a tie: to even
  EXPECT_EQ(round(wide(1, -1075), wide(1, -4000)), 1u);
  EXPECT_EQ(round(wide(-1, -1075), wide(-1, -4000)), binary64.sign | 1u);
  EXPECT_EQ(round(wide(-1, -5000), {}), binary64.sign);
  EXPECT_EQ(GridSum<3>::of(wide(-1, -151), WideDyadic<2>{}).round(binary32), binary32.sign);
}

TEST(GridSumTest, CancelsToTheLastBit) {
  RandomBits random(6);
  for (int i = 0; i < 2000; ++i) {
    auto x = sample_dyadic<7>(random.between(-900, 900), random);
    if (x.magnitude.bits() < 2) continue;
    auto y = x;
    y.negative = !x.negative;
    WideInteger<7> one;
    one.add(1, 0);
    y.magnitude.subtract(one);
    const auto expected = exact(x) + exact(y);
    ASSERT_EQ(GridSum<8>::of(x, y).round(binary64), test::rounded_bits<double>(expected)) << exact(x);
  }
}

// ---- Ziv's test.

/// True if sum - error and sum + error both round to these bits.
template <class T>
bool ends_agree(const Exact& value, const Exact& error, std::uint64_t bits) {
  return test::rounded_bits<T>(value - error) == bits && test::rounded_bits<T>(value + error) == bits;
}

/// A bound of a size that can matter for this value.
template <class T>
WideDyadic<2> sample_error(const Exact& value, RandomBits& random) {
  const auto distance = test::distance_to_boundary<T>(value);
  const int top =
      distance.is_zero() || random.once_in(4) ? (value.is_zero() ? 0 : value.top_exponent()) : distance.top_exponent();
  auto error = sample_dyadic<2>(top + 1 + random.between(-8, 4), random);
  error.negative = false;
  return error;
}

template <class T, int Limbs>
void check_enclosures(int rounds, std::uint64_t seed) {
  RandomBits random(seed);
  int decided = 0;
  int undecided = 0;
  int owed = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto terms = sample_terms<T, Limbs - 1>(random);
    const auto& x = terms.first;
    const auto& y = terms.second;
    const auto sum = GridSum<Limbs>::of(x, y);
    const auto value = exact(x) + exact(y);
    const auto error = sample_error<T>(value, random);
    const auto result = sum.round_enclosed(error, format_of<T>());
    const auto describe = [&] {
      std::ostringstream text;
      text << exact(x) << " + " << exact(y) << " +- " << exact(error);
      return text.str();
    };
    ASSERT_EQ(result.bits, test::rounded_bits<T>(value)) << describe();
    ASSERT_TRUE(!result.decided || ends_agree<T>(value, exact(error), result.bits)) << describe();
    const auto distance = test::distance_to_boundary<T>(value);
    // The grid can separate values several of its units apart. An error of a quarter of such a distance must be decided.
    if (exact(error) < distance.times_power_of_two(-2) && distance >= Exact{16, sum.exponent}) {
      ASSERT_TRUE(result.decided) << describe() << ", distance " << distance;
      ++owed;
    }
    ASSERT_TRUE(result.decided || !error.magnitude.is_zero());
    ++(result.decided ? decided : undecided);
  }
  EXPECT_GT(decided, rounds / 8);
  EXPECT_GT(undecided, rounds / 8);
  EXPECT_GT(owed, rounds / 8);
}

TEST(EnclosureTest, IsSoundAndDecidesWhatItCanInBinary64) {
  check_enclosures<double, 3>(15000, 7);
  check_enclosures<double, 8>(10000, 8);
}

TEST(EnclosureTest, IsSoundAndDecidesWhatItCanInBinary32) { check_enclosures<float, 4>(15000, 9); }

TEST(EnclosureTest, SmallestBoundsThatMatter) {
  const auto tie = wide((std::int64_t{1} << 54) + 1, -1);  // just above 2^53: a bound of one half reaches the tie at ... + 1
  const auto decided = [](const WideDyadic<2>& x, const WideDyadic<2>& y, const WideDyadic<2>& error) {
    return GridSum<3>::of(x, y).round_enclosed(error, binary64).decided;
  };
  EXPECT_TRUE(decided(tie, {}, wide(1, -2)));
  EXPECT_FALSE(decided(tie, {}, wide(3, -2)));
  EXPECT_TRUE(decided(wide((std::int64_t{1} << 53) + 1, 0), {}, {}));               // a tie, known exactly
  EXPECT_FALSE(decided(wide((std::int64_t{1} << 53) + 1, 0), {}, wide(1, -9000)));  // a tie with any non-zero bound
  EXPECT_FALSE(decided({}, {}, wide(1, -9000)));                                    // +0 or -0
  EXPECT_TRUE(decided({}, {}, {}));
  EXPECT_FALSE(decided(wide(1, 0), {}, wide(1, 0)));
  EXPECT_FALSE(decided(wide(1, 0), {}, wide(1, 9000)));
  EXPECT_TRUE(decided(wide(1, -2000), {}, wide(1, -2001)));   // both ends are +0
  EXPECT_FALSE(decided(wide(1, -2000), {}, wide(3, -2001)));  // +0 or -0
  EXPECT_TRUE(decided(wide(1, 2000), {}, wide(1, 1998)));     // both ends are +Inf
  // The sticky part counts: 1 - 2^-9000 lies below 1, where the next midpoint is 2^-54 away.
  EXPECT_TRUE(decided(wide(1, 0), wide(-1, -9000), wide(1, -55)));
  EXPECT_FALSE(decided(wide(1, 0), wide(-1, -9000), wide(1, -54)));
}

/// The upper end does not wrap around if the terms fill the grid to its last bit and the bound would carry out of it.
TEST(EnclosureTest, UpperEndHasRoom) {
  RandomBits random(10);
  for (int i = 0; i < 20000; ++i) {
    const int top = -1075 + random.between(-3, 3);
    auto x = wide<1>(static_cast<std::int64_t>(random() >> 1 | std::uint64_t{1} << 62), top - 63);
    auto y = wide<1>(static_cast<std::int64_t>(random() >> 1 | std::uint64_t{1} << 62), top - 63);
    auto error = wide<1>(static_cast<std::int64_t>(random() >> 1), top - 63 - random.below(4));
    const auto value = exact(x) + exact(y);
    const auto result = GridSum<2>::of(x, y).round_enclosed(error, binary64);
    ASSERT_EQ(result.bits, test::rounded_bits<double>(value));
    ASSERT_TRUE(!result.decided || ends_agree<double>(value, exact(error), result.bits))
        << exact(x) << " + " << exact(y) << " +- " << exact(error);
  }
}

}  // namespace
}  // namespace ozbound::exact_sum_test
