#pragma once

#include <functional>

#include "exit_code.hpp"

namespace CLI {
class App;
}

namespace ozbound::cli {

/// The subcommand that the arguments chose, ready to run. It throws what it cannot do; main says so.
using Action = std::function<ExitCode()>;

/// Each adds one subcommand to `app`, which stores itself in `action` when it is parsed. One file each,
/// command_NAME.cpp; a new one is also listed in main.cpp. `action` must outlive `app`.
void add_info(CLI::App& app, Action& action);

}  // namespace ozbound::cli
