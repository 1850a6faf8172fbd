// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound::grade_findings_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Findings example() {
  Findings found;
  found.findings.push_back({.test = "special.nan",
                            .statement = "|C^ - C| \xe2\x89\xa4 u",
                            .source = "a standard",
                            .outcome = Outcome::differs,
                            .detail = "line\n\"two\"",
                            .values = {{"z", 0.1}, {"a", -inf}, {"a", std::nan("")}, {"", 0x1p-1074}}});
  found.series.push_back({"plot", "label", "x", "y", true, false, {{1, inf}, {-0.0, 0x1.fffffffffffffp1023}}});
  return found;
}

TEST(Findings, surviveJsonWithoutLoss) {
  const auto json = nlohmann::json::parse(to_json(example()).dump());
  const auto read = findings_from_json(json);
  EXPECT_EQ(to_json(read), to_json(example()));
  ASSERT_EQ(read.findings.size(), 1U);
  const auto& finding = read.findings[0];
  EXPECT_EQ(finding.test, "special.nan");
  EXPECT_EQ(finding.outcome, Outcome::differs);
  EXPECT_EQ(finding.detail, "line\n\"two\"");
  ASSERT_EQ(finding.values.size(), 4U);
  EXPECT_EQ(finding.values[0], (std::pair<std::string, double>("z", 0.1)));
  EXPECT_EQ(finding.values[1].second, -inf);
  EXPECT_TRUE(std::isnan(finding.values[2].second));
  EXPECT_EQ(finding.values[3].second, 0x1p-1074);
  ASSERT_EQ(read.series.size(), 1U);
  EXPECT_TRUE(read.series[0].log_x);
  EXPECT_FALSE(read.series[0].log_y);
  EXPECT_EQ(read.series[0].points[0], (std::pair<double, double>(1, inf)));
  EXPECT_TRUE(std::signbit(read.series[0].points[1].first));
}

/// The message that refuses the example with one change.
std::string refusal(const char* pointer, const nlohmann::json& value) {
  auto json = to_json(example());
  json[nlohmann::json::json_pointer(pointer)] = value;
  try {
    findings_from_json(json);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Findings, aBadMemberIsNamed) {
  EXPECT_EQ(refusal("/findings", 3), "findings: 'findings' must be an array");
  EXPECT_EQ(refusal("/findings/0", 3), "findings: 'findings[0]' must be an object");
  EXPECT_EQ(refusal("/findings/0/test", 3), "findings: 'findings[0].test' must be a string");
  EXPECT_EQ(refusal("/findings/0/outcome", "good"),
            "findings: 'findings[0].outcome' must be pass, fail, differs, measured, skipped, crashed or hung");
  EXPECT_EQ(refusal("/findings/0/values/2/value", "infinity"),
            "findings: 'findings[0].values[2].value' must be a number, \"inf\", \"-inf\" or \"nan\"");
  EXPECT_EQ(refusal("/series/0/log_x", 1), "findings: 'series[0].log_x' must be true or false");
  EXPECT_EQ(refusal("/series/0/points/1", {1, 2, 3}), "findings: 'series[0].points[1]' must be two numbers");
  auto json = to_json(example());
  json["findings"][0].erase("detail");
  try {
    findings_from_json(json);
    ADD_FAILURE() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "findings: 'findings[0].detail' is missing");
  }
}

TEST(Findings, everyOutcomeHasAName) {
  std::set<std::string_view> names;
  for (int t = 0; t < 7; ++t) names.insert(to_string(static_cast<Outcome>(t)));
  EXPECT_EQ(names.size(), 7U);
  EXPECT_EQ(to_string(Outcome::differs), "differs");
  EXPECT_THROW(to_string(static_cast<Outcome>(7)), std::invalid_argument);
}

TEST(GradeParts, haveDistinctNamesAndTitles) {
  std::set<std::string> names, titles;
  for (const auto& part : grade_parts()) {
    names.insert(part.name);
    titles.insert(part.title);
    EXPECT_TRUE(part.run);
  }
  EXPECT_EQ(names.size(), grade_parts().size());
  EXPECT_EQ(titles.size(), grade_parts().size());
}

}  // namespace
}  // namespace ozbound::grade_findings_test
