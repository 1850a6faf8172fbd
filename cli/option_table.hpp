// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ozbound::cli {

/// An option or a positional argument, as help, man pages and completion show it.
struct OptionRow {
  std::vector<std::string> names;  ///< `-o`, `--output`; of a positional argument its name
  std::string value;               ///< `FILE`, `auto|cpu|cuda`; empty for a flag
  std::string description;
  std::vector<std::string> values;  ///< all that it can be, where that is known
  bool positional = false, required = false, repeated = false;
  bool takes_file = false;
};

/// Those of a subcommand, --help and --version included.
std::vector<OptionRow> option_rows(const CLI::App& command);

/// The subcommands by name.
std::vector<const CLI::App*> subcommands(const CLI::App& app);

}  // namespace ozbound::cli
