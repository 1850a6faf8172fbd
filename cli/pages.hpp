// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

namespace CLI {
class App;
}

namespace ozbound::cli {

/// The man pages of the command and of each subcommand, by the names of their files: `ozbound.1`, `ozbound-gemm.1`, …
std::map<std::string, std::string> man_pages(const CLI::App& app);

/// A script for bash that completes subcommands, options and their values.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace ozbound::cli
