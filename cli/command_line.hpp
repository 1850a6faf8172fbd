// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "commands.hpp"

namespace ozbound::cli {

/// The command with every subcommand and option: what is parsed, and what the man pages and the completion are made of.
/// `action` must outlive `app`.
void add_commands(CLI::App& app, Action& action);

/// What is wrong with a command line that `app` refused by `error`, in a line that names --help; of a mistyped word, what was
/// probably meant.
std::string usage_error(const CLI::App& app, const std::exception& error, int argc, const char* const* argv);

}  // namespace ozbound::cli
