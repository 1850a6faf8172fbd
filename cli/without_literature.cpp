// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <stdexcept>

#include "commands.hpp"
#include "literature.hpp"

namespace ozbound::cli {
namespace {

constexpr const char* obstacle = "it is not in this build, which has no literature (OZBOUND_BUILD_LITERATURE)";

/// Adds a subcommand that takes any arguments and refuses to run.
void add_absent(CLI::App& app, Action& action, const std::string& name, const std::string& purpose) {
  auto* command = app.add_subcommand(name, purpose + "; not in this build, which has no literature");
  command->allow_extras();
  command->callback([&action, name] {
    action = [name](const std::string&) -> ExitCode { throw std::invalid_argument(name + ": " + obstacle); };
  });
}

}  // namespace

void add_compare(CLI::App& app, Action& action) { add_absent(app, action, "compare", "Compare the selectors of slice counts"); }

void add_study(CLI::App& app, Action& action) { add_absent(app, action, "study", "Measure a figure of a paper again"); }

std::vector<ListedModel> listed_models() { return {}; }

Formula parse_formula(const std::string&) { throw std::invalid_argument(std::string("--claims: ") + obstacle); }

}  // namespace ozbound::cli
