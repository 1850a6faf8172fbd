// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/gemm_files.hpp"
#include "ozbound/bounds/published/selector.hpp"

namespace ozbound::cli::test::command_compare_test {
namespace {

using testing::HasSubstr;

std::vector<std::string> small(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"compare", "uniform", "fem", "--n", "4", "--k", "16", "--phi", "3", "--target", "dgemm"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CommandCompare, RecordsEveryCaseAndSelector) {
  const auto finished = ozbound(small({"--json", "--seed", "3"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  const auto record = json::parse(finished.out);
  EXPECT_EQ(record["schema"], "ozbound-compare-1");
  EXPECT_EQ(record["n"], 4);
  EXPECT_EQ(record["seed"], 3);
  EXPECT_THAT(record["command"].get<std::string>(), HasSubstr("compare uniform fem --n 4"));
  ASSERT_EQ(record["cases"].size(), 2u);
  ASSERT_EQ(record["summary"].size(), 2 * all_selectors().size());
  for (const auto& one : record["cases"]) {
    EXPECT_EQ(one["target"], "dgemm");
    EXPECT_EQ(one["k"], 16);
    ASSERT_EQ(one["outcomes"].size(), all_selectors().size());
    EXPECT_TRUE(one["outcomes"][0]["certified"]);
    EXPECT_LE(one["outcomes"][0]["ratio"], 1);
  }
  for (const std::size_t t : {std::size_t{0}, all_selectors().size()}) {
    const auto& summary = record["summary"][t];
    EXPECT_EQ(summary["families"], t == 0 ? "dense" : "hard");
    EXPECT_EQ(summary["selector"], "ozbound");
    EXPECT_EQ(summary["cases"], 1);
    EXPECT_EQ(summary["missed"], 0);
  }
}

TEST(CommandCompare, ForPeople) {
  const auto finished = ozbound(small({"--selector", "ozbound,mantissa-loss-1", "--selector", "ozbound", "--cases", "--wide"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, testing::ContainsRegex("\nuniform +- +16 +dgemm +[0-9]+ +ozbound +balanced:[^ ]+ +[0-9]+ +yes "));
  EXPECT_THAT(finished.out, testing::ContainsRegex("\nfem +3 .* mantissa-loss-1 .* MISSED"));
  EXPECT_THAT(finished.out, HasSubstr("Dense families"));
  EXPECT_THAT(finished.out, HasSubstr("Hard families"));
  EXPECT_THAT(finished.out, testing::ContainsRegex("\nmantissa-loss-1 +no +1/1 +0 +1 "));
  EXPECT_THAT(finished.out, testing::Not(HasSubstr("esc")));
}

TEST(CommandCompare, WritesPageAndPlots) {
  const TemporaryDirectory directory;
  const auto page = directory / "selectors.md", plot = directory / "selectors.svg";
  ASSERT_EQ(ozbound(small({"--markdown", page, "--svg", plot})).code, 0);
  const auto text = read_bytes(page);
  for (const auto& selector : all_selectors()) {
    EXPECT_THAT(text, HasSubstr("\n### " + selector.name + "\n\n" + selector.source + "."));
    EXPECT_THAT(text, HasSubstr(selector.caution));
    EXPECT_THAT(read_bytes(plot), HasSubstr(selector.name));
  }
  EXPECT_THAT(text, HasSubstr("- Unsafe: missed 1 of 2 targets, worst fem, phi = 3, k = 16, dgemm ("));
  EXPECT_THAT(text, HasSubstr("- Unsafe: missed no target here."));
  EXPECT_THAT(text, testing::ContainsRegex("\n\\| uniform \\| [0-9]+ % \\|"));
}

TEST(CommandCompare, WrongArgumentsAreRefused) {
  const auto family = ozbound({"compare", "unknown"});
  EXPECT_EQ(family.code, 2);
  EXPECT_THAT(family.err, testing::MatchesRegex("ozbound: family must be one of uniform, .*: 'unknown'\n"));
  expect_usage_error({"compare", "--n", "0"}, "--n: '0' is not between 1 and 4096");
  expect_refusal({"compare", "--k", "8,none"}, "--k: 'none' is not an integer");
  expect_refusal({"compare", "--phi", "-1"}, "--phi must be finite and not negative: '-1'");
  expect_refusal({"compare", "--target", "cr"}, "--target must be dgemm, dgemm-typical or componentwise here: 'cr'");
  expect_usage_error({"compare", "--seed", "x"}, "--seed: 'x' is not an integer from 0 to 2^64 - 1");
  const auto selector = ozbound({"compare", "--selector", "guess"});
  EXPECT_EQ(selector.code, 2);
  EXPECT_THAT(selector.err, HasSubstr("selector 'guess' is none of ozbound, ozbound-residues, kappa"));
  expect_refusal({"compare", "--svg", "here", "--markdown", "./here"}, "--svg and --markdown cannot be the same file: 'here'");
  EXPECT_EQ(ozbound({"compare", "--k", "4", "uniform", "--n", "2", "--target", "dgemm", "--selector", "esc", "integers"}).code,
            0);
  expect_refusal({"compare", "cancellation", "--k", "300"}, "nothing to compare: cancellation is left out where k > 256");
}

}  // namespace
}  // namespace ozbound::cli::test::command_compare_test
