// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cfenv>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "command_line.hpp"
#include "interruption.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::cli {
namespace {

ExitCode complain(std::string_view wrong, ExitCode code = ExitCode::bad_input) {
  fmt::print(stderr, "ozbound: {}\n", files::one_line(wrong));
  return code;
}

void finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "standard output cannot be written");
}

ExitCode run(int argc, const char* const* argv) {
  Action action;
  CLI::App app;
  add_commands(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    finish_output();
    return ExitCode::success;
  } catch (const CLI::ParseError& error) {
    return complain(usage_error(app, error, argc, argv));
  } catch (const std::invalid_argument& error) {  // a wrong value of an option
    return complain(usage_error(app, error, argc, argv));
  }
  try {
    const auto code = action(files::shell_command({argv, argv + argc}));
    finish_output();
    return code;
  } catch (const std::invalid_argument& error) {
    if (!std::string_view(error.what()).starts_with("--")) throw;
    return complain(usage_error(app, error, argc, argv));  // an option that does not fit the others, the operands or the build
  }
}

ExitCode run_or_complain(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const Interrupted& signal) {
    complain(signal.what());
    signal.end_process();
  } catch (const CannotCertify& error) {
    return complain(error.what(), ExitCode::not_certified);
  } catch (const std::bad_alloc&) {
    return complain("there is not enough memory");
  } catch (const std::exception& error) {
    return complain(error.what());
  } catch (...) {
    return complain("an unknown error");
  }
}

}  // namespace
}  // namespace ozbound::cli

int main(int argc, char** argv) {
  std::fesetenv(FE_DFL_ENV);  // undoes changes by libraries loaded earlier
  ozbound::files::remove_temporaries_on_signals();
  return static_cast<int>(ozbound::cli::run_or_complain(argc, argv));
}
