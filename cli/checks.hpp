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

/// The engine whose products are checked.
enum class CheckedEngine { cpu, cuda };

/// @throws std::invalid_argument naming the option.
CheckedEngine parse_checked_engine(const std::string& text);

/// An engine with one thread, because products of this size end before other threads start. `any-engine` compares it with every
/// way of working.
/// @throws std::invalid_argument if the engine is not available.
std::shared_ptr<const Engine> make_checked_engine(CheckedEngine engine);

struct CheckArguments {
  CheckedEngine engine = CheckedEngine::cpu;
  std::vector<std::string> properties;  ///< if empty, all
  double seconds = 60;                  ///< shared among the properties
  std::uint64_t seed = 0;
  std::filesystem::path regressions = "ozbound-regressions";
  std::optional<std::filesystem::path> replay;  ///< if given, only this file
  bool json = false;
};

/// Checks the properties. Prints a line for each as it ends, an explanation of each falsified property, and the command that
/// reproduces it.
/// @throws std::invalid_argument, before any case is judged, for an unknown property, an invalid case file, a case file for an
/// unknown property, and a folder that cannot be written.
ExitCode run_checks(const CheckArguments& arguments, const Engine& engine);

/// Prints names, statements and sources on standard output.
void list_properties(bool json);

}  // namespace ozbound::cli
