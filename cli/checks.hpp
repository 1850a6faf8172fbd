// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "ozbound/verify/check.hpp"

namespace ozbound::cli {

/// Whose products are checked.
enum class CheckedEngine { cpu, cuda };

/// @throws std::invalid_argument naming the option.
CheckedEngine parse_checked_engine(const std::string& text);

/// @throws std::invalid_argument where it is not here. With one thread: products of this size are over before others start.
/// `any-engine` compares it with every way of working.
std::shared_ptr<const Engine> make_checked_engine(CheckedEngine engine);

struct CheckArguments {
  CheckedEngine engine = CheckedEngine::cpu;
  std::vector<std::string> properties;  ///< all, if none is named
  double seconds = 60;                  ///< shared among the properties
  std::uint64_t seed = 0;
  std::filesystem::path regressions = "ozbound-regressions";
  std::optional<std::filesystem::path> replay;  ///< this file alone
  bool json = false;
};

/// Checks the properties and prints a line for each as it comes, an explanation of what is falsified, and what reproduces it.
/// @throws std::invalid_argument, before any case is judged, for a property or a case file that is none, a case file for a
/// property that is none, and a folder that cannot be written.
ExitCode run_checks(const CheckArguments& arguments, const Engine& engine);

/// Names, statements and sources on standard output.
void list_properties(bool json);

}  // namespace ozbound::cli
