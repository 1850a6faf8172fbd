// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/scheme.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace ozbound::scheme_test {
namespace {

std::string spelling(const char* name, int slices_a, int slices_b, Index k) {
  return to_string(find_scheme(name).plan(slices_a, slices_b, k));
}

TEST(SchemeTest, NamesAreFoundAndDistinct) {
  std::set<std::string> names;
  for (const auto& scheme : all_schemes()) {
    EXPECT_EQ(&find_scheme(scheme.name), &scheme);
    EXPECT_TRUE(names.insert(scheme.name).second) << scheme.name;
    EXPECT_FALSE(scheme.source.empty());
    EXPECT_FALSE(scheme.statement.empty());
  }
  EXPECT_THAT([] { find_scheme("ozIMMU"); },
              testing::ThrowsMessage<std::invalid_argument>("scheme must be one of " + scheme_names() + ": 'ozIMMU'"));
}

TEST(SchemeTest, PlansOfEqualCounts) {
  EXPECT_EQ(spelling("ozimmu", 9, 9, 4096), "ozimmu7:9x9:cut=10:per_product");
  EXPECT_EQ(spelling("ozimmu-paper", 9, 9, 4096), "truncated7:9x9:cut=10:per_product");
  EXPECT_EQ(spelling("ozimmu-rn", 9, 9, 4096), "nearest_adaptive7:9x9:cut=10:per_product");
  EXPECT_EQ(spelling("ozimmu-ef", 9, 9, 4096), "truncated7:9x9:cut=10:per_diagonal");
  EXPECT_EQ(spelling("ozimmu-h", 9, 9, 4096), "nearest7:9x9:cut=10:per_diagonal");
  EXPECT_EQ(spelling("abdelfattah", 9, 9, 4096), "truncated7:9x9:full:per_product");
  EXPECT_EQ(spelling("adp", 7, 7, 4096), "unsigned8:7x7:cut=8:per_diagonal");
  EXPECT_EQ(spelling("gemmi", 9, 9, 4096), "truncated7:9x9:cut=10:per_product");
  EXPECT_EQ(spelling("ozbound", 7, 7, 4096), "balanced:7x7:cut=8:exact");
}

TEST(SchemeTest, UnequalCountsWhereTheSourceHasThem) {
  EXPECT_EQ(spelling("abdelfattah", 2, 5, 100), "truncated7:2x5:full:per_product");
  EXPECT_EQ(spelling("gemmi", 2, 5, 100), "truncated7:2x5:cut=6:per_product");
  EXPECT_EQ(spelling("ozbound", 5, 2, 100), "balanced:5x2:cut=6:exact");
  for (const char* name : {"ozimmu", "ozimmu-paper", "ozimmu-rn", "ozimmu-ef", "ozimmu-h", "adp"})
    EXPECT_THAT([&] { find_scheme(name).plan(2, 5, 100); },
                testing::ThrowsMessage<std::invalid_argument>("the scheme is defined for as many slices of A as of B: 2, 5"))
        << name;
}

/// Every scheme makes a valid plan for every count that it takes, and refuses counts that no plan can have.
TEST(SchemeTest, EveryPlanIsValid) {
  for (const auto& scheme : all_schemes()) {
    for (int slices = 1; slices <= max_slices; ++slices)
      for (const Index k : {Index{0}, Index{1}, Index{1} << 20, Index{1} << 40}) {
        const auto plan = scheme.plan(slices, slices, k);
        EXPECT_NO_THROW(plan.validate());
        EXPECT_EQ(plan.a.slices, slices);
        EXPECT_EQ(plan.b.slices, slices);
      }
    EXPECT_THROW(scheme.plan(0, 0, 1), std::invalid_argument) << scheme.name;
    EXPECT_THROW(scheme.plan(max_slices + 1, max_slices + 1, 1), std::invalid_argument) << scheme.name;
  }
  EXPECT_THROW(find_scheme("gemmi").plan(1, 1, -1), std::invalid_argument);
}

TEST(SchemeTest, PlansAreReadByTheNameOfAScheme) {
  EXPECT_EQ(to_string(parse_plan("ozimmu-ef:8x8", 133144)), "truncated7:8x8:cut=9:per_diagonal");
  EXPECT_EQ(to_string(parse_plan("ozimmu-ef:8x8", 133145)), "truncated6:8x8:cut=9:per_diagonal");
  EXPECT_EQ(to_string(parse_plan("gemmi:2x20", 1)), "truncated7:2x20:cut=21:per_product");
  EXPECT_EQ(to_string(parse_plan("nearest5:8x9:cut=12:per_diagonal", 133145)), "nearest5:8x9:cut=12:per_diagonal");
  const auto refuses = [](const char* text, const std::string& what) {
    EXPECT_THAT([&] { parse_plan(text, 100); }, testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(what)))
        << text;
  };
  refuses("ozimmu-ef", "must read ENCODING");
  refuses("ozimmu-ef:8x8:", "must read ENCODING");
  refuses("balanced:8x8", "scheme must be one of ozimmu, ");
  refuses("balanced:21x21", "slice counts must be 1 … 20: '21'");
  refuses("ozimmu-ef:8", "slice counts must read SAxSB");
  refuses("ozimmu-ef:8x21", "slice counts must be 1 … 20: '21'");
  refuses("ozimmu-ef:8x7", "as many slices of A as of B: 8, 7");
}

/// digit_bits changes exactly after the last k of each number of bits.
TEST(SchemeTest, DigitBitsEndWhereInt32Does) {
  const std::pair<int, Index> truncated[] = {{7, 133144},  {6, 541064},   {5, 2234634},
                                             {4, 9544371}, {3, 43826196}, {2, 238609294}};
  for (const auto& [beta, last] : truncated) {
    EXPECT_EQ(digit_bits(Encoding::truncated, last), beta);
    EXPECT_EQ(digit_bits(Encoding::ozimmu, last), beta);
    EXPECT_EQ(digit_bits(Encoding::truncated, last + 1), beta - 1);
  }
  EXPECT_EQ(digit_bits(Encoding::nearest, 524287), 7);
  EXPECT_EQ(digit_bits(Encoding::nearest, 524288), 6);
  EXPECT_EQ(digit_bits(Encoding::nearest, Index{1} << 40), 1);
  EXPECT_EQ(spelling("ozimmu-ef", 3, 3, 133145), "truncated6:3x3:cut=4:per_diagonal");
}

/// The papers' min(7, floor((31 - log2 k) / 2)) never takes more bits than fit.
TEST(SchemeTest, DigitBitsAreAtLeastThePapers) {
  for (Index k = 1; k < Index{1} << 30; k = k * 9 / 8 + 1) {
    const int printed = std::min(7, static_cast<int>(std::floor((31 - std::log2(static_cast<double>(k))) / 2)));
    EXPECT_GE(digit_bits(Encoding::truncated, k), printed) << k;
  }
}

}  // namespace
}  // namespace ozbound::scheme_test
