// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/target.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bounds/hostile_environment.hpp"
#include "ozbound/core/detail/wide_integer.hpp"
#include "ozbound/core/dyadic.hpp"
#include "support/generators.hpp"

namespace ozbound::target_test {
namespace {

using Kind = Target::Kind;

TEST(Target, ReadsEverySpelling) {
  EXPECT_EQ(parse_target("cr"), Target::correctly_rounded());
  EXPECT_EQ(parse_target("dgemm"), Target::dgemm());
  EXPECT_EQ(parse_target("dgemm-typical"), Target::dgemm_typical());
  EXPECT_EQ(parse_target("componentwise:1e-14"), Target::componentwise(1e-14));
  EXPECT_EQ(parse_target("rowcol:0x1p-46"), Target::rowcol(0x1p-46));
  EXPECT_EQ(parse_target("normwise:0X1.8P-30"), Target::normwise(0x1.8p-30));
  EXPECT_EQ(parse_target("relative:4.9406564584124654e-324"), Target::relative(0x1p-1074));
  EXPECT_EQ(parse_target("componentwise:3").tau, 3);
}

TEST(Target, PrintsTheCanonicalSpelling) {
  EXPECT_EQ(to_string(Target::correctly_rounded()), "cr");
  EXPECT_EQ(to_string(Target::dgemm()), "dgemm");
  EXPECT_EQ(to_string(Target::dgemm_typical()), "dgemm-typical");
  EXPECT_EQ(to_string(Target::componentwise(1e-12)), "componentwise:1e-12");
  EXPECT_EQ(to_string(Target::rowcol(0.5)), "rowcol:0.5");
  EXPECT_THROW((void)to_string(Target{static_cast<Kind>(17), 1}), std::invalid_argument);
}

RC_GTEST_PROP(Target, RoundTripsBitForBit, ()) {
  const double tau = std::abs((*test::gen::number<double>()).value);
  RC_PRE(tau > 0);
  for (const auto& target : {Target::componentwise(tau), Target::rowcol(tau), Target::normwise(tau), Target::relative(tau)})
    RC_ASSERT(parse_target(to_string(target)) == target);
}

TEST(Target, RoundTripsInAnyEnvironment) {
  const test::HostileEnvironment hostile;
  for (const double tau : {0x1.23456789abcdep-40, 0x1.fffffffffffffp1023, 1.0 / 3, 1e-14})
    EXPECT_EQ(parse_target(to_string(Target::relative(tau))), Target::relative(tau));
}

TEST(Target, RefusesOtherSpellings) {
  for (const char* text : {"",
                           "CR",
                           "cr:",
                           "cr:1",
                           "dgemm:1",
                           "dgemm ",
                           "dgemm-typical:1",
                           "dgemm-typical ",
                           "dgemm-",
                           "dgemm_typical",
                           " dgemm",
                           "componentwise",
                           "componentwise:",
                           "componentwise:x",
                           "componentwise:1e-14 ",
                           "componentwise: 1",
                           "componentwise:1e-14x",
                           "componentwise:0x",
                           "componentwise:0xp3",
                           "componentwise:1,5",
                           "componentwise:+1",
                           "componentwise:1:2",
                           "max:1e-3",
                           "componentwise:1e400",
                           "componentwise:1e-400",
                           "componentwise:--1",
                           "relative:0x-1p3"})
    EXPECT_THROW((void)parse_target(text), std::invalid_argument) << "'" << text << "'";
}

TEST(Target, RefusesATauThatIsNotPositiveAndFinite) {
  for (const char* tau : {"0", "-0", "-1e-14", "nan", "inf", "-inf", "0x0p0", "infinity"})
    for (const char* kind : {"componentwise:", "rowcol:", "normwise:", "relative:"})
      EXPECT_THROW((void)parse_target(std::string(kind) + tau), std::invalid_argument) << kind << tau;
  for (const double tau : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)Target::componentwise(tau), std::invalid_argument);
    EXPECT_THROW((void)Target::rowcol(tau), std::invalid_argument);
    EXPECT_THROW((void)Target::normwise(tau), std::invalid_argument);
    EXPECT_THROW((void)Target::relative(tau), std::invalid_argument);
  }
}

TEST(Target, EverySpellingIsListedAndRead) {
  EXPECT_EQ(target_spellings(), "cr, dgemm, dgemm-typical, componentwise:TAU, rowcol:TAU, normwise:TAU or relative:TAU");
  for (const char* text : {"cr", "dgemm", "dgemm-typical"}) EXPECT_FALSE(parse_target(text).has_tau()) << text;
  for (const char* text : {"componentwise:1", "rowcol:1", "normwise:1", "relative:1"})
    EXPECT_TRUE(parse_target(text).has_tau()) << text;
  EXPECT_THROW((void)(Target{static_cast<Kind>(17), 1}.has_tau()), std::invalid_argument);
}

// tau is exact or the next double below.

/// Checks that tau / u is the largest double whose square is at most max(k, 1), in integers: root^2 <= k 2^(2 shift) < (root +
/// 1)^2.
void expect_root(Index k, const Format& format, double u) {
  const double tau = target_tau(Target::dgemm_typical(), k, format, false);
  const int shift = 52 - std::ilogb(tau / u);
  const auto root = static_cast<std::uint64_t>(std::ldexp(tau / u, shift));
  ASSERT_EQ(std::ldexp(static_cast<double>(root), -shift) * u, tau) << k;
  ASSERT_EQ(root >> 52, 1u) << k;
  const auto square = uint128{static_cast<std::uint64_t>(std::max<Index>(k, 1))} << (2 * shift);
  EXPECT_TRUE(uint128{root} * root <= square) << k << std::hexfloat << " " << tau;
  EXPECT_TRUE(square < uint128{root + 1} * (root + 1)) << k << std::hexfloat << " " << tau;
}

void expect_root(Index k) {
  expect_root(k, binary64, 0x1p-53);
  expect_root(k, binary32, 0x1p-24);
}

/// Values of k where a rounding may show: small ones, powers of two, squares and their neighbours, and the largest.
std::vector<Index> inner_dimensions() {
  std::vector<Index> all;
  for (Index k = 0; k <= 300; ++k) all.push_back(k);
  for (int bit = 9; bit < 63; ++bit)
    for (const Index beside : {-1, 0, 1}) all.push_back((Index{1} << bit) + beside);
  for (const Index root : std::initializer_list<Index>{4097, 46341, 94906265, 94906266, 94906267, 3037000499})
    for (const Index beside : {-1, 0, 1}) all.push_back(root * root + beside);
  all.push_back(std::numeric_limits<Index>::max());
  return all;
}

TEST(Target, TypicalTauIsTheRootRoundedDown) {
  for (const Index k : inner_dimensions()) expect_root(k);
  const test::HostileEnvironment hostile;
  for (const Index k : inner_dimensions()) expect_root(k);
}

RC_GTEST_PROP(Target, TypicalTauIsTheRootOfAnyInnerDimension, ()) {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  expect_root(static_cast<Index>(bits >> (1 + bits % 63)));
}

TEST(Target, TypicalTauIsExactAtSquares) {
  for (const Index root : std::initializer_list<Index>{1, 2, 3, 5, 64, 46340, 94906267, 3037000499}) {
    const auto exact = static_cast<double>(root);
    EXPECT_EQ(target_tau(Target::dgemm_typical(), root * root, binary64, false), exact * 0x1p-53) << root;
    EXPECT_EQ(target_tau(Target::dgemm_typical(), root * root, binary32, false), exact * 0x1p-24) << root;
  }
  EXPECT_EQ(target_tau(Target::dgemm_typical(), 0, binary64, false), 0x1p-53);
}

TEST(Target, TauOfTheOtherKinds) {
  EXPECT_EQ(target_tau(Target::correctly_rounded(), 7, binary64, false), 0);
  EXPECT_EQ(target_tau(Target::dgemm(), 0, binary64, false), 0x1p-53);
  EXPECT_EQ(target_tau(Target::dgemm(), 7, binary32, false), 7 * 0x1p-24);
  EXPECT_EQ(target_tau(Target::dgemm(), (Index{1} << 53) + 1, binary64, false), 1 - 0x1p-53);  // rounded down, twice
  for (const auto make : {Target::componentwise, Target::rowcol, Target::normwise, Target::relative})
    EXPECT_EQ(target_tau(make(0.3), 7, binary64, false), 0.3);
}

/// The tau of scaled products is gamma_n = n / (2^53 - n) or at most two doubles below, judged in integers.
TEST(Target, TauOfProductsWithScalarsIsGamma) {
  EXPECT_FALSE(has_scalars(1, 0) || has_scalars(-1, -0.0));
  EXPECT_TRUE(has_scalars(2, 0) && has_scalars(1, 1) && has_scalars(0, 0) && has_scalars(1, 0x1p-1074));
  for (const Index k : std::initializer_list<Index>{0, 1, 7, 1000, 123456789, (Index{1} << 50) + 1, (Index{1} << 52) - 3}) {
    const double tau = target_tau(Target::dgemm(), k, binary64, true);
    const int shift = 52 - std::ilogb(tau);
    const auto significand = static_cast<std::uint64_t>(std::ldexp(tau, shift)), n = static_cast<std::uint64_t>(k) + 3;
    const auto rest = uint128{(std::uint64_t{1} << 53) - n}, scaled = uint128{n} << shift;
    EXPECT_TRUE(significand * rest <= scaled) << k;
    EXPECT_TRUE(scaled < (significand + 2) * rest) << k;
  }
  EXPECT_EQ(target_tau(Target::dgemm(), (1 << 24) - 3, binary32, true), 2) << "not infinite: 2 n u";
  EXPECT_EQ(target_tau(Target::dgemm_typical(), 1, binary64, true), 2 * 0x1p-53) << "3 more roundings";
  EXPECT_EQ(target_tau(Target::componentwise(0.3), 7, binary64, true), 0.3);
}

TEST(Target, SaysWhatIsWrong) {
  try {
    (void)parse_target("exactly");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("'exactly'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("target"), std::string::npos) << e.what();
  }
  try {
    (void)parse_target("relative:two");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("tau"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace ozbound::target_test
