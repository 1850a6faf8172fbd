// SPDX-License-Identifier: BSD-3-Clause
#include "run_cpu.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu_series.hpp"
#include "engines.hpp"
#include "openblas.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/measuring.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/files/standard_streams.hpp"
#include "ozbound/native.hpp"
#include "report.hpp"

namespace ozbound::bench {
namespace {

constexpr Effort full_effort{};
constexpr Effort quick_effort{.sample_seconds = 2e-4,
                              .longest_sample_seconds = 2e-4,
                              .seconds = 0.01,
                              .least_repetitions = 3,
                              .most_repetitions = 5,
                              .longest_repetition_seconds = 60};

std::vector<SeriesEntry> chosen_series(const CpuArguments& arguments) {
  auto all = cpu_series(arguments.quick);
  if (arguments.filter.empty()) return all;
  const auto wrong = [&](const char* what) {
    return std::invalid_argument(fmt::format("--filter {}: '{}'", what, arguments.filter));
  };
  try {
    const std::regex filter(arguments.filter);
    std::erase_if(all, [&](const auto& entry) { return !std::regex_search(entry.name, filter); });
  } catch (const std::regex_error&) {
    throw wrong("is not a regular expression");
  }
  if (all.empty()) throw wrong("leaves no series (see --list)");
  return all;
}

/// Prints the measurements of a series as one line of JSON, as soon as they are made.
class LineReporter final : public benchmark::BenchmarkReporter {
 public:
  explicit LineReporter(std::vector<Measurement>& measurements) : measurements_(measurements) {}

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {
    auto line = nlohmann::ordered_json::array();
    for (const auto& measurement : measurements_) line.push_back(to_json(measurement));
    measurements_.clear();
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    std::fflush(stdout);
  }

 private:
  std::vector<Measurement>& measurements_;
};

/// Series that share OpenBLAS's kernels, and those kernels.
struct Measured {
  std::vector<SeriesEntry> entries;
  std::vector<files::OpenBlasCore> cores;  ///< the fastest first; empty without OpenBLAS
};

/// The engine's kernels without AVX-512 stand beside OpenBLAS's without it; series without a kernel do not.
bool beside_avx512(const std::string& kernel) { return kernel.empty() || has_avx512(kernel); }

std::vector<std::string> self(const std::string& command) {
  return {std::filesystem::read_symlink("/proc/self/exe").string(), command};
}

/// The series in one or two parts, each with its OpenBLAS.
std::vector<Measured> parts_of(std::vector<SeriesEntry> entries) {
  std::vector<Measured> parts(2);
  for (auto& entry : entries) parts[beside_avx512(entry.kernel) ? 0 : 1].entries.push_back(std::move(entry));
  std::erase_if(parts, [](const auto& part) { return part.entries.empty(); });
  if (have_openblas())
    for (auto& part : parts) part.cores = files::measure_cores(self("openblas"), beside_avx512(part.entries.front().kernel));
  return parts;
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", 1e3 * seconds); }

/// Says which of OpenBLAS's kernels is the baseline, and what it would have been here otherwise.
void print_baseline(const Measured& part) {
  if (part.cores.empty()) return;
  const auto& best = part.cores.front();
  fmt::print("OpenBLAS: {}, {} for one DGEMM of n = 1024 on one thread", best.library, milliseconds(best.seconds));
  for (const auto& core : part.cores)
    if (core.core.empty() && core.library != best.library)
      fmt::print("; its own choice is {}, {}", core.library, milliseconds(core.seconds));
  fmt::print("\n");
}

/// Measures the series in a child with the best of OpenBLAS's kernels and none of the variables that change what is measured.
void measure_part(const Measured& part, const CpuArguments& arguments,
                  const std::function<void(std::vector<Measurement>)>& done) {
  auto child = self("series");
  if (arguments.quick) child.emplace_back("--quick");
  std::vector<files::Variable> variables{{"OMP_NUM_THREADS", std::to_string(omp_get_max_threads())}};
  if (!part.cores.empty() && !part.cores.front().core.empty())
    variables.push_back({"OPENBLAS_CORETYPE", part.cores.front().core});
  std::string names;
  for (const auto& entry : part.entries) names += entry.name + "\n";
  std::size_t answered = 0;
  const int code = files::run_to_measure(child, variables, names, [&](std::string_view line) {
    ++answered;
    std::vector<Measurement> measurements;
    for (const auto& one : nlohmann::json::parse(line)) measurements.push_back(measurement_from_json(one));
    done(std::move(measurements));
  });
  if (code != 0 || answered != part.entries.size())
    throw std::runtime_error(fmt::format("the program that measures ended with {}", code));
}

}  // namespace

void run_cpu(const CpuArguments& arguments) {
  const auto entries = chosen_series(arguments);
  if (arguments.list) {
    for (const auto& entry : entries) fmt::print("{}\n", entry.name);
    return;
  }
  std::optional<Record> before;
  if (!arguments.compare.empty()) before = read_record(arguments.compare);
  if (!arguments.json.empty()) files::AtomicFile{arguments.json};  // refuses now what could not be written later

  Surroundings surroundings{
      .kernel = default_kernel_name(), .quick = arguments.quick, .unset = files::measuring_variables(), .cores = {}};
  if (!surroundings.unset.empty()) fmt::print("Unset while measuring: {}\n", files::to_string(surroundings.unset));
  const auto parts = parts_of(entries);
  Record now{processor_name(), {}};
  const auto write = [&](bool complete) {
    if (arguments.json.empty() || (!complete && files::is_stream(arguments.json))) return;
    surroundings.complete = complete;
    files::AtomicFile file(arguments.json);
    file.write(record_text(now.measurements, judge_goals(now.measurements, surroundings.kernel), surroundings));
    file.commit();
  };
  files::Progress progress("measuring");
  double series = 0;
  for (const auto& part : parts) {
    if (surroundings.cores.empty()) surroundings.cores = part.cores;
    print_baseline(part);
    fmt::print("\n{}", measurement_heading());
    measure_part(part, arguments, [&](std::vector<Measurement> measurements) {
      for (auto& measurement : measurements) {
        fmt::print("{}", measurement_line(measurement));
        now.measurements.push_back(std::move(measurement));
      }
      std::fflush(stdout);
      write(false);
      progress(++series / static_cast<double>(entries.size()));
    });
    fmt::print("\n");
  }
  fmt::print("{}", goal_table(judge_goals(now.measurements, surroundings.kernel)));
  if (before) fmt::print("\n{}", comparison_table(now, *before));
  write(true);
}

void run_openblas() {
  const auto* const native = native_gemm();
  if (native == nullptr) throw std::runtime_error("this build has no OpenBLAS");
  fmt::print("{}\n", files::core_line(*native));
}

void run_named_series(bool quick) {
  const auto all = cpu_series(quick);
  std::vector<Measurement> measurements;
  const auto effort = quick ? quick_effort : full_effort;
  for (std::string name; std::getline(std::cin, name);) {
    const auto entry = std::ranges::find(all, name, &SeriesEntry::name);
    if (entry == all.end()) throw std::invalid_argument("there is no series " + name);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&measurements, &effort, entry](benchmark::State& state) {
                                   for ([[maybe_unused]] auto _ : state) {
                                     measurements = measure(*entry, effort);
                                     state.SetIterationTime(measurements.empty() ? 0 : measurements.front().seconds);
                                   }
                                 })
        ->Iterations(1)
        ->UseManualTime();
  }
  LineReporter reporter(measurements);
  benchmark::RunSpecifiedBenchmarks(&reporter, "all");
}

}  // namespace ozbound::bench
