// SPDX-License-Identifier: BSD-3-Clause
#include "support/generators.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "support/exact.hpp"

// The tools of the tests: samples match and cover their classes, and the oracle rounds like the processor.

namespace ozbound::test::generators_test {
namespace {

/// The class that a number actually has: -1 for zero, else the coarse class of its exponent.
template <class T>
std::string place(T x) {
  using A = Anatomy<T>;
  if (x == 0) return "zero";
  const int e = std::ilogb(x);
  if (e < A::least + 3) return "least";
  if (e < A::least_normal - 2) return "subnormal";
  if (e <= A::least_normal + 1) return "boundary";
  if (e <= A::least_normal + (A::largest > 500 ? 60 : 30)) return "tiny";
  if (std::abs(e) <= 8) return "near one";
  if (std::abs(e) <= (A::largest > 500 ? 63 : 31)) return "moderate";
  if (e >= A::largest - 1) return "largest";
  return "wide";
}

template <class T>
class SamplesTest : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(SamplesTest, Types);

TYPED_TEST(SamplesTest, CoverEveryPlaceAndEveryPairOfClasses) {
  using T = TypeParam;
  RandomBits random(1);
  std::map<std::string, int> places;
  std::map<bool, int> signs;
  for (const auto exponent : exponent_classes)
    for (const auto significand : significand_classes)
      for (int i = 0; i < 200; ++i) {
        const T x = sample<T>(exponent, significand, random.once_in(2), random);
        ASSERT_TRUE(std::isfinite(x));
        ++places[place(x)];
        ++signs[std::signbit(x)];
      }
  for (const char* where : {"zero", "least", "subnormal", "boundary", "tiny", "near one", "moderate", "largest", "wide"})
    EXPECT_GE(places[where], 500) << where;
  EXPECT_GT(signs[true], 5000);
  EXPECT_GT(signs[false], 5000);
}

TYPED_TEST(SamplesTest, StayInTheirExponentClass) {
  using T = TypeParam;
  using A = Anatomy<T>;
  RandomBits random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto of = [&](ExponentClass kind) { return std::abs(sample<T>(kind, SignificandClass::uniform, false, random)); };
    ASSERT_EQ(of(ExponentClass::zero), 0);
    ASSERT_LE(std::abs(std::ilogb(of(ExponentClass::near_one))), 8);
    ASSERT_LT(of(ExponentClass::subnormal), std::numeric_limits<T>::min());
    ASSERT_GT(of(ExponentClass::subnormal), 0);
    ASSERT_GE(of(ExponentClass::tiny), std::numeric_limits<T>::min());
    ASSERT_LT(of(ExponentClass::least), 8 * std::numeric_limits<T>::denorm_min());
    ASSERT_GE(std::ilogb(of(ExponentClass::largest)), A::largest - 1);
  }
}

/// Numbers drawn through rapidcheck cover every pair of classes and both signs, with different values.
TEST(GeneratorsTest, NumbersCoverTheirClasses) {
  std::map<std::pair<ExponentClass, SignificandClass>, int> pairs;
  std::set<double> values;
  const auto numbers =
      rc::gen::container<std::vector<Number<double>>>(20000, gen::number<double>())(rc::Random(7), rc::kNominalSize).value();
  for (const auto& number : numbers) {
    ++pairs[{number.exponent, number.significand}];
    values.insert(number.value);
  }
  EXPECT_EQ(pairs.size(), std::size(exponent_classes) * std::size(significand_classes));
  for (const auto& [pair, count] : pairs) EXPECT_GT(count, 100);
  EXPECT_GT(values.size(), 7000u);
}

TEST(GeneratorsTest, RowsCoverTheirClasses) {
  RandomBits random(3);
  std::map<RowClass, int> far, subnormal, zero;
  for (const auto kind : row_classes)
    for (int i = 0; i < 1000; ++i) {
      const auto row = sample_row(kind, 4, random);
      const double top = row.top();
      ASSERT_GT(top, 0);
      for (const double x : row.values) {
        if (x == 0)
          ++zero[kind];
        else if (std::ilogb(top) - std::ilogb(x) > 100)
          ++far[kind];
        if (x != 0 && std::abs(x) < std::numeric_limits<double>::min() && top >= std::numeric_limits<double>::min())
          ++subnormal[kind];
      }
    }
  EXPECT_GT(far[RowClass::dominated], 300);
  EXPECT_GT(zero[RowClass::dominated], 300);
  EXPECT_GT(subnormal[RowClass::dominated], 10);
  EXPECT_GT(far[RowClass::any], 300);
  EXPECT_EQ(far[RowClass::alike] + far[RowClass::spread], 0);
}

TEST(GeneratorsTest, SpecialsAreOfEveryKind) {
  RandomBits random(4);
  std::map<std::string, int> kinds;
  for (int i = 0; i < 10000; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(sample_with_specials<double>(random));
    const auto fraction = bits & 0xfffffffffffff;
    const std::string sign = (bits >> 63) != 0 ? "-" : "+";
    if ((bits >> 52 & 0x7ff) != 0x7ff)
      ++kinds["finite"];
    else
      ++kinds[sign + (fraction == 0 ? "inf" : fraction >> 51 != 0 ? "quiet" : "signalling")];
  }
  for (const char* kind : {"finite", "+inf", "-inf", "+quiet", "-quiet", "+signalling", "-signalling"})
    EXPECT_GT(kinds[kind], 200) << kind;
}

/// Sums and products of two doubles, rounded by the oracle, equal the processor's.
RC_GTEST_PROP(ExactTest, RoundsAsTheProcessorDoes, ()) {
  RandomBits random(*gen::seed());
  for (int i = 0; i < 200; ++i) {
    const double x = sample<double>(random);
    const double y = sample<double>(random);
    const volatile double sum = x + y;
    const volatile double product = x * y;
    if (x + y != 0)
      RC_ASSERT(rounded_bits<double>(Exact(x) + Exact(y)) == std::bit_cast<std::uint64_t>(static_cast<double>(sum)));
    if (x != 0 && y != 0)
      RC_ASSERT(rounded_bits<double>(Exact(x) * Exact(y)) == std::bit_cast<std::uint64_t>(static_cast<double>(product)));
    if (x != 0) RC_ASSERT(rounded_bits<float>(Exact(x)) == std::bit_cast<std::uint32_t>(static_cast<float>(x)));
  }
}

/// A move by less than the distance to the boundary keeps the bits; a move by slightly more, one way or the other, changes
/// them.
RC_GTEST_PROP(ExactTest, BoundariesAreWhereTheBitsChange, ()) {
  RandomBits random(*gen::seed());
  const auto check = [&]<class T>(const Exact& x) {
    const auto distance = distance_to_boundary<T>(x);
    if (distance.is_zero()) return;
    const auto bits = rounded_bits<T>(x);
    const auto below = Exact{distance.integer * 1023, distance.exponent - 10};
    const auto above = Exact{distance.integer * 1025, distance.exponent - 10};
    RC_ASSERT(rounded_bits<T>(x + below) == bits);
    RC_ASSERT(rounded_bits<T>(x - below) == bits);
    RC_ASSERT(rounded_bits<T>(x + above) != bits || rounded_bits<T>(x - above) != bits);
  };
  for (int i = 0; i < 40; ++i) {
    const auto x = Exact(sample<double>(random)) * Exact(sample<double>(random)) + Exact(sample<double>(random));
    if (x.is_zero()) continue;
    check.operator()<double>(x);
    check.operator()<float>(x);
  }
}

}  // namespace
}  // namespace ozbound::test::generators_test
