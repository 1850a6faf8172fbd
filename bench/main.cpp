#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <functional>
#include <system_error>

#include "atomic_file.hpp"
#include "command_cpu.hpp"
#include "text.hpp"

namespace ozbound::bench {
namespace {

void finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "standard output cannot be written");
}

int run(int argc, const char* const* argv) {
  std::function<void()> action;
  CLI::App app("Measurements of Ozbound, each a ratio to a baseline timed beside it", "ozbound-bench");
  app.require_subcommand(1);
  add_cpu(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    finish_output();
    return 0;
  }
  action();
  finish_output();
  return 0;
}

}  // namespace
}  // namespace ozbound::bench

int main(int argc, char** argv) {
  ozbound::cli::remove_temporaries_on_signals();
  try {
    return ozbound::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "ozbound-bench: {}\n", ozbound::cli::one_line(error.what()));
    return 2;
  }
}
