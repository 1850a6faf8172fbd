// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/gemm_files.hpp"

namespace ozbound::cli::test::command_survey_test {
namespace {

TEST(CommandSurvey, EveryFamilyMeetsEveryTarget) {
  const auto finished = ozbound({"survey", "--n", "6", "--k", "7", "--seed", "2", "--json"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  const auto record = json::parse(finished.out);
  EXPECT_EQ(record["schema"], "ozbound-survey-1");
  EXPECT_EQ(record["n"], 6);
  EXPECT_EQ(record["k"], 7);
  EXPECT_EQ(record["seed"], 2);
  std::set<std::string> families;
  for (const auto& one : record["cases"]) {
    families.insert(one["family"]);
    EXPECT_TRUE(one["holds"]) << one;
    EXPECT_LE(one["ratio"], 1) << one;
    EXPECT_LE(one["verdict_ratio"], 1) << one;
    EXPECT_EQ(one["products"] == 0, one["plans"].empty()) << one;
    EXPECT_EQ(one.contains("enumerated_plan"), one["method"] == "exact" || one["method"] == "correctly_rounded") << one;
  }
  EXPECT_EQ(families.size(), all_families().size());
  const auto& summary = record["summary"];
  EXPECT_EQ(summary["cases"], record["cases"].size());
  EXPECT_EQ(summary["met"], summary["cases"]);
  EXPECT_EQ(summary["refused"], 0);
  EXPECT_LT(summary["share"], 0.05);
  EXPECT_GT(summary["fell_through"], 0);  // full-range; otherwise nothing was searched
}

TEST(CommandSurvey, ForPeople) {
  const auto finished = ozbound({"survey", "--n", "3", "--k", "3", "--engine", "auto", "--wide"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, testing::ContainsRegex("\nwide-exponents +3 +dgemm +[a-z_]+ "));
  EXPECT_THAT(finished.out, testing::ContainsRegex("\nuniform +- +componentwise:1e-08 +residues "));
  EXPECT_THAT(finished.out, testing::ContainsRegex("\n([0-9]+) of ([0-9]+) cases met, 0 refused\\. "));
}

TEST(CommandSurvey, WrongArgumentsAreRefused) {
  expect_usage_error({"survey", "--n", "0"}, "--n: '0' is not between 1 and 4096");
  expect_usage_error({"survey", "--k", "many"}, "--k: 'many' is not an integer");
  expect_usage_error({"survey", "--seed", "-1"}, "--seed: '-1' is not an integer from 0 to 2^64 - 1");
  expect_refusal({"survey", "--engine", "native"},
                 "--engine: native DGEMM alone cannot meet every target here; auto, cpu or cuda");
}

}  // namespace
}  // namespace ozbound::cli::test::command_survey_test
