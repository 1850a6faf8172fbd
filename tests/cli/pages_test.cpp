// SPDX-License-Identifier: BSD-3-Clause
// Man pages and completions have every option of --help.

#include "pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>

#include "cli/command.hpp"
#include "cli/documented.hpp"
#include "command_line.hpp"

namespace ozbound::cli::test::pages_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Pages : public testing::Test {
 protected:
  Pages() { add_commands(app_, action_); }

  Action action_;
  CLI::App app_;
};

std::string in_troff(std::string text) {
  for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

TEST_F(Pages, TheManPageOfASubcommandHasEveryOption) {
  const auto pages = man_pages(app_);
  const auto subcommands = subcommands_in_help();
  EXPECT_EQ(pages.size(), subcommands.size() + 1);
  for (const auto& subcommand : subcommands) {
    const auto& page = pages.at("ozbound-" + subcommand + ".1");
    for (const auto& option : options_in_help(subcommand))
      EXPECT_THAT(page, HasSubstr("\\fB" + in_troff(option) + "\\fR")) << subcommand;
    EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n"));
    EXPECT_THAT(pages.at("ozbound.1"), HasSubstr("\\fB" + subcommand + "\\fR"));
  }
  EXPECT_THAT(pages.at("ozbound-gemm.1"), HasSubstr("\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR"));
  EXPECT_THAT(pages.at("ozbound-gemm.1"), HasSubstr(".SH TARGETS\n"));
}

/// The completions that bash offers for a line with an unfinished last word.
std::vector<std::string> completed_by_bash(const std::filesystem::path& script, const std::vector<std::string>& words) {
  std::string line = "source '" + script.string() + "'; COMP_WORDS=(";
  for (const auto& word : words) line += "'" + word + "' ";
  line += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; _ozbound; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const auto command = "bash -c \"$OZBOUND_LINE\"";
  setenv("OZBOUND_LINE", line.c_str(), 1);
  FILE* const pipe = popen(command, "r");
  std::string out;
  std::array<char, 4096> part{};
  while (pipe != nullptr && fgets(part.data(), part.size(), pipe) != nullptr) out += part.data();
  EXPECT_EQ(pclose(pipe), 0);
  std::vector<std::string> found;
  std::istringstream lines(out);
  for (std::string one; std::getline(lines, one);) found.push_back(one);
  return found;
}

TEST_F(Pages, BashCompletesEveryOption) {
  const TemporaryDirectory directory;
  const auto script = directory / "ozbound";
  write_bytes(script, bash_completion(app_));
  const auto subcommands = subcommands_in_help();
  EXPECT_THAT(completed_by_bash(script, {"ozbound", ""}), testing::IsSupersetOf(subcommands));
  for (const auto& subcommand : subcommands)
    EXPECT_THAT(completed_by_bash(script, {"ozbound", subcommand, "--"}), testing::IsSupersetOf(options_in_help(subcommand)))
        << subcommand;
  EXPECT_THAT(completed_by_bash(script, {"ozbound", "gemm", "--engine", "c"}), testing::ElementsAre("cpu", "cuda"));
  EXPECT_THAT(completed_by_bash(script, {"ozbound", "gemm", "--target", "dg"}), testing::ElementsAre("dgemm", "dgemm-typical"));
  EXPECT_THAT(completed_by_bash(script, {"ozbound", "ge"}), testing::ElementsAre("gemm", "generate"));
}

TEST_F(Pages, ZshAndFishKnowEveryOption) {
  const auto zsh = zsh_completion(app_), fish = fish_completion(app_);
  for (const auto& subcommand : subcommands_in_help()) {
    const auto begin = zsh.find("\n        " + subcommand + ")\n");
    ASSERT_NE(begin, std::string::npos) << subcommand;
    const auto of_zsh = zsh.substr(begin, zsh.find(";;", begin) - begin);
    for (const auto& option : options_in_help(subcommand)) {
      EXPECT_THAT(of_zsh, HasSubstr("'" + option + "[")) << subcommand;
      EXPECT_THAT(fish,
                  testing::ContainsRegex("__fish_seen_subcommand_from " + subcommand + "'[^\n]* -l " + option.substr(2) + " "));
    }
  }
}

}  // namespace
}  // namespace ozbound::cli::test::pages_test
