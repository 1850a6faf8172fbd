// SPDX-License-Identifier: BSD-3-Clause
#include "run_cpu.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu_series.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/progress.hpp"
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

/// Prints the figures of a group when the next one begins.
class GroupReporter final : public benchmark::BenchmarkReporter {
 public:
  explicit GroupReporter(const std::vector<Measurement>& measurements) : measurements_(measurements) {}

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {
    if (last_ > printed_ && last_ < measurements_.size() && group_of(measurements_[last_]) != group_of(measurements_[printed_]))
      print(last_);
    last_ = measurements_.size();
  }
  void Finalize() override { print(last_); }

 private:
  static std::string group_of(const Measurement& measurement) { return measurement.name.substr(0, measurement.name.find('/')); }

  void print(std::size_t end) {
    fmt::print("{}\n", measurement_table({measurements_.data() + printed_, end - printed_}));
    std::fflush(stdout);
    printed_ = end;
  }

  const std::vector<Measurement>& measurements_;
  std::size_t printed_ = 0, last_ = 0;
};

/// Runs every series as one benchmark of one iteration. A series pairs its samples itself, as docs/benchmarks.md says.
std::vector<Measurement> run_series(const std::vector<SeriesEntry>& entries, const Effort& effort) {
  std::vector<Measurement> measurements;
  files::Progress progress("measuring");
  double done = 0;
  for (const auto& entry : entries)
    benchmark::RegisterBenchmark(entry.name.c_str(),
                                 [&](benchmark::State& state) {
                                   for ([[maybe_unused]] auto _ : state) {
                                     const auto figures = measure(entry, effort);
                                     measurements.insert(measurements.end(), figures.begin(), figures.end());
                                     state.SetIterationTime(figures.empty() ? 0 : figures.front().seconds);
                                   }
                                   progress(++done / static_cast<double>(entries.size()));
                                 })
        ->Iterations(1)
        ->UseManualTime();
  GroupReporter reporter(measurements);
  benchmark::RunSpecifiedBenchmarks(&reporter, "all");
  return measurements;
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
  std::optional<files::AtomicFile> file;
  if (!arguments.json.empty()) file.emplace(arguments.json);

  const auto kernel = default_kernel_name();
  const Record now{processor_name(), run_series(entries, arguments.quick ? quick_effort : full_effort)};
  const auto goals = judge_goals(now.measurements, kernel);
  fmt::print("{}", goal_table(goals));
  if (before) fmt::print("\n{}", comparison_table(now, *before));
  if (!file) return;
  file->write(record_text(now.measurements, goals, kernel, arguments.quick));
  file->commit();
}

}  // namespace ozbound::bench
