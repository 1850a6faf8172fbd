// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace ozbound::cli::test {

/// Checks that a text contains `name` for every member of an object and of the objects within.
inline void expect_documented(const nlohmann::json& value, const std::string& text) {
  if (value.is_array())
    for (const auto& element : value) expect_documented(element, text);
  if (!value.is_object()) return;
  for (const auto& [name, element] : value.items()) {
    EXPECT_THAT(text, testing::HasSubstr("`" + name + "`"));
    expect_documented(element, text);
  }
}

/// The long options listed in a subcommand's help, each at the start of a line or after a short option.
inline std::vector<std::string> options_in_help(const std::string& subcommand) {
  std::istringstream help(ozbound({subcommand, "--help"}).out);
  std::vector<std::string> names;
  for (std::string line; std::getline(help, line);) {
    const auto begin = line.find("--");
    if (begin != std::string::npos && begin < 6) names.push_back(line.substr(begin, line.find(' ', begin) - begin));
  }
  return names;
}

/// The subcommands that the command's help lists.
inline std::vector<std::string> subcommands_in_help() {
  std::istringstream help(ozbound({"--help"}).out);
  std::vector<std::string> names;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (listed && !line.starts_with("  ")) break;
    if (listed && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
    listed = listed || line == "Subcommands:";
  }
  return names;
}

}  // namespace ozbound::cli::test
