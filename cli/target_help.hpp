// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace ozbound::cli {

/// Ends a subcommand's --help with what every target says of C.
void add_target_help(CLI::App& command);

}  // namespace ozbound::cli
