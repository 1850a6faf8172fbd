// SPDX-License-Identifier: BSD-3-Clause
// docs/command.md names every option, and docs/records.md every member.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/documented.hpp"
#include "cli/gemm_files.hpp"

namespace ozbound::cli::test::documentation_test {
namespace {

using testing::HasSubstr;

std::string documentation(const std::string& name) { return read_bytes(std::filesystem::path(OZBOUND_DOCS) / name); }

/// The part of docs/command.md about one subcommand, with the parts about several.
std::string section(const std::string& subcommand) {
  const auto text = documentation("command.md");
  const auto common = text.find("## What several");
  const auto begin = text.find("\n## " + subcommand + "\n");
  EXPECT_NE(begin, std::string::npos) << subcommand;
  return text.substr(common, text.find("\n## ", common) - common) + text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

TEST(Documentation, NamesEverySubcommandAndOption) {
  const auto subcommands = subcommands_in_help();
  EXPECT_EQ(subcommands.size(), 15U);
  for (const auto& subcommand : subcommands) {
    const auto text = section(subcommand);
    const auto names = options_in_help(subcommand);
    if (subcommand != "run") {  // the output of `run` is the program's
      EXPECT_THAT(names, testing::IsSupersetOf({"--help", "--json", "--wide"})) << subcommand;
    }
    for (const auto& name : names)
      if (name != "--help" && name != "--json" && name != "--wide") {
        EXPECT_THAT(text, HasSubstr(name)) << subcommand;
      }
  }
}

TEST(Documentation, NamesEveryMember) {
  const auto text = documentation("records.md");
  const GemmFiles files({.family = Family::uniform, .m = 3, .n = 4, .k = 5, .seed = 1});
  expect_documented(files.report({"--verify", "exact"}), text);
  expect_documented(json::parse(ozbound(files.plan({"--measure", "--json"})).out), text);
  expect_documented(json::parse(ozbound({"calibrate", "--show", "--json"}).out), text);
  expect_documented(json::parse(ozbound({"verify", files.a_path(), files.b_path(), files.c_path(), "--json"}).out), text);
  ASSERT_EQ(ozbound(files.gemm({"--report", files.path("C.json")})).code, 0);
  expect_documented(json::parse(ozbound({"verify", files.a_path(), files.b_path(), files.c_path(), "--certificate",
                                         files.path("C.json"), "--json"})
                                    .out),
                    text);
  expect_documented(json::parse(ozbound({"bounds", files.path("C.json"), "-o", files.path("E.npy"), "--json"}).out), text);
  expect_documented(json::parse(ozbound({"survey", "--n", "2", "--k", "2", "--json"}).out), text);
  expect_documented(json::parse(ozbound({"compare", "uniform", "--n", "2", "--k", "2", "--target", "dgemm", "--json"}).out),
                    text);
  expect_documented(json::parse(ozbound({"study", "ootomo-fig4", "--json"}).out), text);
  expect_documented(json::parse(ozbound({"study", "kappa", "--scale", "0.02", "--json"}).out), text);
  ASSERT_EQ(ozbound({"run", "--min-work", "0", "--log", files.path("log"), "--", OZBOUND_COMMAND, "gemm", files.a_path(),
                     files.b_path(), "-o", files.path("N.npy"), "--engine", "native"})
                .code,
            0);
  std::istringstream log(read_bytes(files.path("log")));
  for (std::string line; std::getline(log, line);) expect_documented(json::parse(line), text);
  expect_documented(json::parse(ozbound({"audit", files.path("log"), "--json"}).out), text);
  const auto crashing = OZBOUND_BAD_BLAS "/crashes.so";
  expect_documented(
      json::parse(ozbound({"grade", crashing, "--quick", "--part", "demmel", "--part", "accuracy", "--json"}).out), text);
  const auto checked =
      ozbound({"check", "--property", "sign", "--time", "20ms", "--regressions", files.path("cases"), "--json"});
  expect_documented(json::parse(checked.out), text);
  expect_documented(json::parse(read_bytes(std::filesystem::path(OZBOUND_DOCS).parent_path() / "data/regressions/tie.json")),
                    text);
  const auto generated = ozbound(
      {"generate", "fem", "--m", "1", "--n", "1", "--k", "1", "-o", files.path("a.npy"), files.path("b.npy"), "--json"});
  expect_documented(json::parse(generated.out), text);
}

}  // namespace
}  // namespace ozbound::cli::test::documentation_test
