// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cfenv>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "commands.hpp"
#include "interruption.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::cli {
namespace {

ExitCode complain(std::string_view wrong, ExitCode code = ExitCode::bad_input) {
  fmt::print(stderr, "ozbound: {}\n", one_line(wrong));
  return code;
}

void finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "standard output cannot be written");
}

/// CLI11 only says that a subcommand is missing; this says which word is none.
std::string wrong_arguments(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const bool unknown = argc > 1 && app.get_subcommands().empty();
  return (unknown ? quote(argv[1]) + " is not a subcommand or option" : error.what()) + std::string("; see ozbound --help");
}

ExitCode run(int argc, const char* const* argv) {
  Action action;
  CLI::App app("Products of FP64 matrices on integer units, with proven error bounds", "ozbound");
  app.set_version_flag("--version", OZBOUND_VERSION);
  app.require_subcommand(1);
  for (auto* const add : {add_bounds, add_calibrate, add_check, add_compare, add_demo, add_gemm, add_generate, add_grade,
                          add_plan, add_study, add_survey, add_verify, add_info})
    add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    finish_output();
    return ExitCode::success;
  } catch (const CLI::ParseError& error) {
    return complain(wrong_arguments(app, error, argc, argv));
  }
  const auto code = action(shell_command({argv, argv + argc}));
  finish_output();
  return code;
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
  std::fesetenv(FE_DFL_ENV);  // whatever a library made of it that was loaded before
  ozbound::cli::remove_temporaries_on_signals();
  return static_cast<int>(ozbound::cli::run_or_complain(argc, argv));
}
