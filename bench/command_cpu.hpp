#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace ozbound::bench {

/// Adds the subcommand `cpu`, which stores itself in `action` when it is parsed. `action` must outlive `app`.
void add_cpu(CLI::App& app, std::function<void()>& action);

}  // namespace ozbound::bench
