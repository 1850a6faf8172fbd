// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "cuda.hpp"
#include "decision_arguments.hpp"
#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/files/columns.hpp"
#include "ozbound/files/measuring.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/text.hpp"
#include "report.hpp"

namespace ozbound::cli {
namespace command_calibrate {
namespace {

constexpr double full_seconds = 50, quick_seconds = 6;  ///< for all thread counts together

struct Arguments {
  int threads = 0;
  EngineChoice engine = EngineChoice::cpu;
  std::string output;
  bool quick = false;
  bool show = false;
  bool json = false;
  bool one_dgemm = false;
  std::string core;  ///< OPENBLAS_CORETYPE, or `best`; empty: the environment's
};

EngineChoice parse_measured_engine(const std::string& text) {
  if (text == "cpu") return EngineChoice::cpu;
  if (text == "cuda") return EngineChoice::cuda;
  throw std::invalid_argument("--engine: " + files::quote(text) + " is not one of cpu, cuda");
}

/// The file for the calibration. Creates the cache's folder.
std::filesystem::path output_path(const Arguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  auto path = calibration_path();
  if (path.empty()) throw std::invalid_argument("neither XDG_CACHE_HOME nor HOME is an absolute path; --output names a file");
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw std::invalid_argument(path.parent_path().string() + ": cannot be created: " + error.message());
  return path;
}

/// The calibrations on file; empty if the file holds none.
nlohmann::json existing(const std::filesystem::path& path) {
  try {
    return read_calibration_file(path);
  } catch (const std::invalid_argument&) {
    return to_json(std::vector<Calibration>{});
  }
}

/// Measures the device, with all threads of the host.
Calibration measure_device(const Arguments& arguments) {
  const int threads = make_engine(arguments.threads).threads();
  files::Progress progress("calibrating");
  return measure_cuda(threads, arguments.quick ? quick_seconds : full_seconds, [&](double done) { progress.update(done); });
}

Calibration measure(const Arguments& arguments) {
  if (arguments.engine == EngineChoice::cuda) return measure_device(arguments);
  const int all = make_engine(arguments.threads).threads();
  const std::vector<int> counts = all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
  files::Progress progress("calibrating");
  std::optional<Calibration> calibration;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    const auto engine = make_engine(counts[t]);
    if (!calibration) calibration = this_machine(engine, native_gemm(EngineChoice::automatic));
    const double share = 1 / static_cast<double>(counts.size());
    const CalibrationOptions options{share * (arguments.quick ? quick_seconds : full_seconds),
                                     [&](double done) { progress.update(share * (static_cast<double>(t) + done)); }};
    calibration->rates.push_back(measure_rates(engine, native_gemm(EngineChoice::automatic), options));
  }
  return *calibration;
}

/// OpenBLAS's kernels here, the fastest first: those that stand beside the engine's, with AVX-512 or without. Empty without
/// OpenBLAS.
std::vector<files::OpenBlasCore> measured_cores() {
  if (native_gemm(EngineChoice::automatic) == nullptr) return {};
  const std::string kernel(default_kernel().name);
  return files::measure_cores({std::filesystem::read_symlink("/proc/self/exe").string(), "calibrate", "--one-dgemm"},
                              kernel == "amx" || kernel.starts_with("avx512"));
}

/// Calibrates in a child that has these kernels of OpenBLAS, and none of the variables that change what is measured.
ExitCode calibrate_with_core(const Arguments& arguments) {
  auto core = arguments.core;
  if (core == "best") {
    const auto cores = measured_cores();
    if (cores.empty()) throw std::invalid_argument("--openblas-core: this build has no OpenBLAS");
    core = cores.front().core;
  }
  std::vector<std::string> child{std::filesystem::read_symlink("/proc/self/exe").string(), "calibrate"};
  if (arguments.threads > 0) child.insert(child.end(), {"--threads", std::to_string(arguments.threads)});
  if (!arguments.output.empty()) child.insert(child.end(), {"--output", arguments.output});
  if (arguments.quick) child.emplace_back("--quick");
  if (arguments.json) child.emplace_back("--json");
  std::vector<files::Variable> variables;
  if (!core.empty()) variables.push_back({"OPENBLAS_CORETYPE", core});
  return static_cast<ExitCode>(
      files::run_to_measure(child, variables, "", [](std::string_view line) { print_text(std::string(line) + "\n"); }));
}

/// Variables of the environment that change what was measured, and faster kernels of OpenBLAS.
Table surroundings(const Calibration& calibration) {
  Table about;
  if (const auto variables = files::measuring_variables(); !variables.empty())
    about.emplace_back("environment", files::to_string(variables));
  if (calibration.engine != "cpu" || calibration.blas.empty()) return about;
  const auto cores = measured_cores();
  const auto here = std::ranges::find(cores, calibration.blas, &files::OpenBlasCore::library);
  if (cores.empty() || here == cores.begin()) return about;
  const auto times = here == cores.end()
                         ? std::string()
                         : fmt::format(", {:.2f} times as fast as these", here->seconds / cores.front().seconds);
  about.emplace_back("fastest kernels", cores.front().library + times);
  return about;
}

std::string rate(double operations, double seconds) {
  return seconds > 0 ? fmt::format("{:.4g}", operations / seconds * 1e-9) : "-";
}

/// Prints the rates for each number of threads. They are limits for long rows and columns.
void print_for_people(const Calibration& calibration, Table about) {
  about.insert(about.begin(),
               {{"engine", calibration.engine}, {"processor", calibration.processor}, {"kernel", calibration.kernel}});
  if (!calibration.blas.empty()) about.insert(about.begin() + 3, {"BLAS", calibration.blas});
  print_table(about);
  std::vector<files::Cells> rows{
      {"threads", "INT8 GOP/s", "DGEMM GFLOP/s", "exact GFLOP/s", "call of slices", "call of DGEMM"}};
  for (const auto& rates : calibration.rates) {
    const auto& native = rates.native;
    rows.push_back({std::to_string(rates.threads), rate(2, rates.slices[3]), native ? rate(2, (*native)[4]) : "-",
                    rate(2, rates.exact[3]), fmt::format("{:.1f} us", 1e6 * rates.slices[0]),
                    native ? fmt::format("{:.1f} us", 1e6 * (*native)[0]) : "-"});
  }
  print_text("\n");
  print_columns(rows);
}

Table joined(Table first, const Table& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

CalibratedCosts costs_in_force(const Arguments& arguments) {
  const auto engine = make_engine(arguments.threads);
  if (arguments.engine != EngineChoice::cuda) return machine_costs(engine, native_gemm(EngineChoice::automatic));
  if (auto costs = cuda_costs(engine.threads())) return *std::move(costs);
  throw std::invalid_argument(cuda_name() + " has no calibration: products are counted");
}

ExitCode show(const Arguments& arguments) {
  const auto costs = costs_in_force(arguments);
  const auto origin = costs.origin();
  if (arguments.json) {
    auto record = nlohmann::ordered_json(to_json(std::vector{costs.calibration()}));
    record["model"] = origin.model;
    record["note"] = origin.note;
    print_json(record);
    return ExitCode::success;
  }
  Table about{{"costs", origin.model}};
  if (!origin.note.empty()) about.emplace_back("because", origin.note);
  print_for_people(costs.calibration(), about);
  return ExitCode::success;
}

ExitCode run(const Arguments& arguments) {
  if (const auto obstacle = cuda_obstacle(); arguments.engine == EngineChoice::cuda && !obstacle.empty())
    throw std::invalid_argument("--engine: " + obstacle);
  if (arguments.show) return show(arguments);
  if (arguments.one_dgemm) {
    const auto* const native = native_gemm(EngineChoice::automatic);
    if (native == nullptr) throw std::invalid_argument("this build has no OpenBLAS");
    print_text(files::core_line(*native) + "\n");
    return ExitCode::success;
  }
  if (!arguments.core.empty() && arguments.engine == EngineChoice::cuda)
    throw std::invalid_argument("--openblas-core: the device does not use OpenBLAS");
  if (!arguments.core.empty()) return calibrate_with_core(arguments);
  const auto path = output_path(arguments);
  files::AtomicFile file(path);
  const auto calibration = measure(arguments);
  write_json(file, nlohmann::ordered_json(with_calibration(existing(path), calibration)));
  file.commit();
  if (arguments.json)
    print_json(nlohmann::ordered_json(to_json(std::vector{calibration})));
  else
    print_for_people(calibration, joined(surroundings(calibration), {{"saved in", path.string()}}));
  return ExitCode::success;
}

}  // namespace
}  // namespace command_calibrate

void add_calibrate(CLI::App& app, Action& action) {
  using namespace command_calibrate;
  auto* command =
      app.add_subcommand("calibrate", "Measure what ways of computing a product cost here, for gemm and plan to choose by");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option_function<std::string>(
          "--engine", [arguments](const std::string& text) { arguments->engine = parse_measured_engine(text); },
          "What is measured; cpu if not given")
      ->type_name("cpu|cuda");
  add_threads_option(*command, arguments->threads);
  auto* quick = command->add_flag("--quick", arguments->quick, "Seconds instead of most of a minute, and less exact");
  auto* output =
      command->add_option("-o,--output", arguments->output, "Another file than that of the cache")->type_name("FILE");
  command->add_flag("--show", arguments->show, "Measure nothing: show what is in force")->excludes(quick)->excludes(output);
  command
      ->add_option(
          "--openblas-core", arguments->core,
          "Measure with these kernels of OpenBLAS, as OPENBLAS_CORETYPE names them, or with the fastest; if not given, "
          "those that programs get here")
      ->type_name("best|NAME")
      ->excludes("--show");
  command->add_flag("--one-dgemm", arguments->one_dgemm)->group("");  // what measured_cores starts
  add_output_options(*command, arguments->json, "a table");
  command->callback([&action, arguments] { action = [arguments](const std::string&) { return run(*arguments); }; });
}

}  // namespace ozbound::cli
