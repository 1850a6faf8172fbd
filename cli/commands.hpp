// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "exit_code.hpp"

namespace CLI {
class App;
}

namespace ozbound::cli {

/// The subcommand that the arguments chose, ready to run. Takes the command line, for the record. Throws if it cannot continue;
/// main then prints the reason.
using Action = std::function<ExitCode(const std::string& command_line)>;

/// Each function adds one subcommand to `app`. The subcommand stores itself in `action` when it is parsed. Each has its own
/// file, command_NAME.cpp; a new one must also be listed in main.cpp. `action` must outlive `app`.
void add_audit(CLI::App& app, Action& action);
void add_bounds(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_gemm(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_grade(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_study(CLI::App& app, Action& action);
void add_survey(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);

}  // namespace ozbound::cli
