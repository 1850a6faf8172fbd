// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ozbound::cli {

/// An option or a positional argument, for help, man pages and completion.
struct OptionRow {
  std::vector<std::string> names;  ///< `-o`, `--output`; for a positional argument its name
  std::string value;               ///< `FILE`, `auto|cpu|cuda`; empty for a flag
  std::string description;
  std::vector<std::string> values;  ///< all possible values, if known
  bool positional = false, required = false, repeated = false;
  bool takes_file = false;
};

/// The options and arguments of a subcommand, including --help and --version.
std::vector<OptionRow> option_rows(const CLI::App& command);

/// The subcommands, sorted by name.
std::vector<const CLI::App*> subcommands(const CLI::App& app);

}  // namespace ozbound::cli
