// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "commands.hpp"

namespace ozbound::cli {

/// Adds every subcommand and option to the command. Parsing, the man pages and the completion all use the result.
/// `action` must outlive `app`.
void add_commands(CLI::App& app, Action& action);

/// One line that explains the error for which `app` refused a command line, and names --help. For a mistyped word, it suggests
/// the probable one.
std::string usage_error(const CLI::App& app, const std::exception& error, int argc, const char* const* argv);

}  // namespace ozbound::cli
