// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/property.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <stdexcept>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/check.hpp"
#include "properties/regressions.hpp"

namespace ozbound {

void PrintTo(const Property& property, std::ostream* out) { *out << property.name; }

}  // namespace ozbound

namespace ozbound::property_test {
namespace {

class PropertyTest : public testing::TestWithParam<Property> {};

/// No stored or drawn case falsifies a property of the portable engine.
TEST_P(PropertyTest, Holds) {
  CheckOptions options;
  options.seconds = 60;
  options.cases = GetParam().domain.targets ? 60 : 200;
  options.seed = 20;
  options.replayed = {test::regressions()};
  const auto result = check(GetParam(), CpuEngine({.threads = 1}), options);
  EXPECT_TRUE(result.holds()) << result.counterexample->explanation << "\n"
                              << to_text({{result.property}, "", result.counterexample->gemm_case})
                              << result.counterexample->file;
  EXPECT_EQ(result.drawn, options.cases);
  EXPECT_GE(result.replayed, 20);
}

INSTANTIATE_TEST_SUITE_P(All, PropertyTest, testing::ValuesIn(all_properties().begin(), all_properties().end()),
                         [](const auto& tested) {
                           auto name = tested.param.name;
                           for (auto& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(Properties, AreNamedStatedAndSourced) {
  std::set<std::string> names;
  for (const auto& property : all_properties()) {
    EXPECT_THAT(property.name, testing::MatchesRegex("[a-z0-9]+(-[a-z0-9]+)*"));
    EXPECT_FALSE(property.statement.empty() || property.source.empty()) << property.name;
    EXPECT_TRUE(names.insert(property.name).second) << property.name;
    EXPECT_EQ(&find_property(property.name), &property);
  }
  EXPECT_THAT([] { find_property("sing"); }, testing::ThrowsMessage<std::invalid_argument>(
                                                 testing::AllOf(testing::HasSubstr("'sing'"), testing::HasSubstr("sign"))));
}

TEST(Properties, AnExceptionIsAnExplanation) {
  const Property throwing{
      "throwing", "never", "this test", {}, [](const GemmCase&, const Engine&) -> std::optional<std::string> {
        throw std::runtime_error("broken");
      }};
  EXPECT_THAT(judge(throwing, sample_case({}, 1), CpuEngine({.threads = 1})).value_or(""), testing::HasSubstr("broken"));
}

TEST(Properties, ACaseThatIsNoneIsRefused) {
  auto wrong = sample_case({}, 1);
  wrong.inner_repeat = 0;
  EXPECT_THAT([&] { (void)judge(find_property("sign"), wrong, CpuEngine({.threads = 1})); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("inner_repeat")));
}

}  // namespace
}  // namespace ozbound::property_test
