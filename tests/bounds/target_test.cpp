#include "ozbound/bounds/target.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "bounds/hostile_environment.hpp"
#include "support/generators.hpp"

namespace ozbound {
namespace {

using Kind = Target::Kind;

TEST(Target, ReadsEverySpelling) {
  EXPECT_EQ(parse_target("cr"), Target::correctly_rounded());
  EXPECT_EQ(parse_target("dgemm"), Target::dgemm());
  EXPECT_EQ(parse_target("componentwise:1e-14"), Target::componentwise(1e-14));
  EXPECT_EQ(parse_target("rowcol:0x1p-46"), Target::rowcol(0x1p-46));
  EXPECT_EQ(parse_target("normwise:0X1.8P-30"), Target::normwise(0x1.8p-30));
  EXPECT_EQ(parse_target("relative:4.9406564584124654e-324"), Target::relative(0x1p-1074));
  EXPECT_EQ(parse_target("componentwise:3").tau, 3);
}

TEST(Target, PrintsTheCanonicalSpelling) {
  EXPECT_EQ(to_string(Target::correctly_rounded()), "cr");
  EXPECT_EQ(to_string(Target::dgemm()), "dgemm");
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
}  // namespace ozbound
