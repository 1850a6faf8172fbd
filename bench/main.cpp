// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/text.hpp"
#include "run_cpu.hpp"
#include "run_prediction.hpp"

namespace ozbound::bench {
namespace {

void finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "standard output cannot be written");
}

void add_cpu(CLI::App& app, CpuArguments& arguments) {
  auto* command = app.add_subcommand("cpu", "The CPU engine: ratios to baselines timed beside it (docs/benchmarks.md)");
  command->add_flag("--quick", arguments.quick, "The same on sizes that take seconds together, to see that it runs");
  command->add_flag("--list", arguments.list, "Only list the series");
  command->add_option("--filter", arguments.filter, "Only the series whose names this regular expression finds");
  command->add_option("--json", arguments.json, "Write all of it to this file")->type_name("FILE");
  command->add_option("--compare", arguments.compare, "Compare with a run that --json saved")->type_name("FILE");
}

CLI::App* add_prediction(CLI::App& app, PredictionArguments& arguments) {
  auto* command =
      app.add_subcommand("prediction", "Predicted times after a calibration, and measured ones (docs/benchmarks.md)");
  command->add_flag("--quick", arguments.quick, "Seconds, to see that it runs");
  command->add_option("--json", arguments.json, "Write all of it to this file")->type_name("FILE");
  return command;
}

int run(int argc, const char* const* argv) {
  CpuArguments cpu;
  PredictionArguments prediction;
  CLI::App app("Measurements of Ozbound, each a ratio to a baseline timed beside it", "ozbound-bench");
  app.require_subcommand(1);
  add_cpu(app, cpu);
  bool quick_series = false;
  auto* openblas = app.add_subcommand("openblas", "Time one DGEMM of OpenBLAS; `cpu` starts this")->group("");
  auto* series = app.add_subcommand("series", "Measure the series that standard input names; `cpu` starts this")->group("");
  series->add_flag("--quick", quick_series);
  auto* predicts = add_prediction(app, prediction);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    finish_output();
    return 0;
  }
  if (predicts->parsed())
    run_prediction(prediction);
  else if (openblas->parsed())
    run_openblas();
  else if (series->parsed())
    run_named_series(quick_series);
  else
    run_cpu(cpu);
  finish_output();
  return 0;
}

}  // namespace
}  // namespace ozbound::bench

int main(int argc, char** argv) {
  ozbound::files::remove_temporaries_on_signals();
  try {
    return ozbound::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "ozbound-bench: {}\n", ozbound::files::one_line(error.what()));
    return 2;
  }
}
