// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/core/scheme.hpp"
#include "ozbound/verify/literature/models/model.hpp"

namespace ozbound::cli::test {
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
  expect_refusal({"multiply"}, "'multiply' is not a subcommand or option; see ozbound --help");
  expect_refusal({"info", "--colour"}, "The following argument was not expected: --colour; see ozbound --help");
  expect_refusal({"--colour"}, "'--colour' is not a subcommand or option; see ozbound --help");
}

TEST(CommandInfo, ForPeople) {
  const auto info = ozbound({"info"});
  EXPECT_EQ(info.code, 0);
  EXPECT_THAT(info.out, testing::ContainsRegex("threads +[1-9]"));
  EXPECT_EQ(info.err, "");
}

TEST(CommandInfo, ForPrograms) {
  const auto info = ozbound({"info", "--json"});
  EXPECT_EQ(info.code, 0);
  const auto facts = nlohmann::json::parse(info.out);
  EXPECT_EQ(facts["memory_bytes"], physical_memory());
  EXPECT_GE(facts["threads"], 1);
  EXPECT_EQ(facts["processor"], processor_name());
  EXPECT_EQ(facts["kernels"].front(), kernels().front()->name);
  EXPECT_EQ(facts["kernels"].back(), "portable");
}

TEST(CommandInfo, ListsTheSchemes) {
  const auto people = ozbound({"info"}).out;
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
  const auto people = ozbound({"info"}).out;
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
  const auto people = ozbound({"info"}).out;
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
}  // namespace ozbound::cli::test
