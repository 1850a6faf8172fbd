// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/core/scheme.hpp"
#include "ozbound/verify/literature/models/model.hpp"

namespace ozbound::cli::test::command_info_test {
namespace {

TEST(Command, Help) {
  const auto help = ozbound({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, testing::HasSubstr("Usage: ozbound"));
  EXPECT_EQ(help.err, "");
}

TEST(Command, Version) {
  const auto version = ozbound({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Command, WrongArgumentsAreRefusedInOneLine) {
  expect_refusal({}, "A subcommand is required; see ozbound --help");
  expect_refusal({"multiply"}, "'multiply' is not a subcommand; see ozbound --help");
  expect_refusal({"--colour"}, "'--colour' is not an option; see ozbound --help");
  expect_usage_error({"info", "--colour"}, "'--colour' is not an option of info");
  expect_usage_error({"info", "more"}, "'more' is an argument too many");
}

TEST(Command, MistypedWordsGetASuggestion) {
  expect_refusal({"gem"}, "'gem' is not a subcommand: did you mean gemm? See ozbound --help");
  expect_refusal({"--verison"}, "'--verison' is not an option: did you mean --version? See ozbound --help");
  expect_refusal({"info", "--jsno"}, "'--jsno' is not an option of info: did you mean --json? See ozbound info --help");
  expect_refusal({"gemm", "a", "b", "-o", "c.npy", "--traget", "dgemm"},
                 "'--traget' is not an option of gemm: did you mean --target? See ozbound gemm --help");
  expect_refusal({"gemm", "a", "b", "-o", "c.npy", "--traget=dgemm"},
                 "'--traget' is not an option of gemm: did you mean --target? See ozbound gemm --help");
  expect_refusal({"gemm", "a", "b", "--outptu", "c.npy"},
                 "'--outptu' is not an option of gemm: did you mean --output? See ozbound gemm --help");
  expect_refusal({"verify", "a", "b", "c", "-target", "cr"},
                 "'-target' is not an option of verify: did you mean --target? See ozbound verify --help");
}

TEST(Command, HelpListsTargetsAndExitCodes) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"gemm", "--help"}, {"plan", "--help"}, {"verify", "--help"}}) {
    const auto help = ozbound(arguments).out;
    for (const auto* const word : {"cr ", "dgemm ", "dgemm-typical", "componentwise:TAU", "rowcol:TAU", "relative:TAU",
                                   "normwise:TAU", "Exit codes", "\n  0 ", "\n  1 ", "\n  2 ", "\n  3 "})
      EXPECT_THAT(help, testing::HasSubstr(word)) << arguments.front();
  }
  EXPECT_THAT(ozbound({"info", "--help"}).out, testing::HasSubstr("Exit codes"));
}

TEST(CommandInfo, ForPeople) {
  const auto info = ozbound({"info"});
  EXPECT_EQ(info.code, 0);
  EXPECT_THAT(info.out, testing::ContainsRegex("threads +[1-9][0-9]* used, of [1-9][0-9]* processors\n"));
  EXPECT_EQ(info.err, "");
}

TEST(CommandInfo, ForPrograms) {
  const auto info = ozbound({"info", "--json"});
  EXPECT_EQ(info.code, 0);
  const auto facts = nlohmann::json::parse(info.out);
  EXPECT_EQ(facts["memory_bytes"], files::physical_memory());
  EXPECT_EQ(facts["threads"], CpuEngine().threads());
  EXPECT_GE(facts["processors"], 1);
  EXPECT_EQ(facts["processor"], processor_name());
  EXPECT_EQ(facts["kernels"].front(), kernels().front()->name);
  EXPECT_EQ(facts["kernels"].back(), "portable");
}

TEST(CommandInfo, SaysTheThreadsThatAreUsed) {
  setenv("OMP_NUM_THREADS", "3", 1);
  const auto facts = nlohmann::json::parse(ozbound({"info", "--json"}).out);
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(facts["threads"], 3);
}

TEST(CommandInfo, ListsTheEncodings) {
  const auto people = ozbound({"info", "--wide"}).out;
  std::set<std::string> names;
  const auto facts = nlohmann::json::parse(ozbound({"info", "--json"}).out);
  for (const auto& encoding : facts["encodings"]) {
    names.insert(encoding["name"]);
    EXPECT_THAT(people,
                testing::HasSubstr(encoding["name"].get<std::string>() + ": " + encoding["statement"].get<std::string>()));
  }
  for (const auto& encoding : all_encodings()) {
    auto name = to_string(encoding);
    if (encoding.beta < 8) name.back() = 'N';
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(names.size(), 6U);
}

TEST(CommandInfo, ListsTheSchemes) {
  const auto people = ozbound({"info", "--wide"}).out;
  const auto listed = nlohmann::json::parse(ozbound({"info", "--json"}).out)["schemes"];
  ASSERT_EQ(listed.size(), all_schemes().size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto& scheme = all_schemes()[i];
    EXPECT_EQ(listed[i]["name"], scheme.name);
    EXPECT_EQ(listed[i]["source"], scheme.source);
    EXPECT_THAT(people, testing::HasSubstr(scheme.name + ": " + scheme.source));
  }
}

TEST(CommandInfo, ListsTheBounds) {
  const auto people = ozbound({"info", "--wide"}).out;
  const auto listed = nlohmann::json::parse(ozbound({"info", "--json"}).out)["bounds"];
  ASSERT_EQ(listed.size(), all_bounds().size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto& bound = all_bounds()[i];
    EXPECT_EQ(listed[i]["name"], bound.name);
    EXPECT_EQ(listed[i]["source"], bound.source);
    EXPECT_EQ(listed[i]["bounds"], to_string(bound.bounded));
    EXPECT_EQ(listed[i]["rigorous"], bound.rigorous);
    EXPECT_THAT(people, testing::HasSubstr(bound.name + ": " + bound.source));
  }
}

TEST(CommandInfo, ListsTheModels) {
  const auto people = ozbound({"info", "--wide"}).out;
  const auto listed = nlohmann::json::parse(ozbound({"info", "--json"}).out)["models"];
  ASSERT_EQ(listed.size(), all_models().size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto& model = all_models()[i];
    EXPECT_EQ(listed[i]["name"], model.name);
    EXPECT_EQ(listed[i]["source"], model.source);
    EXPECT_THAT(people, testing::HasSubstr(std::string(model.name) + ": " + std::string(model.source)));
  }
}

}  // namespace
}  // namespace ozbound::cli::test::command_info_test
