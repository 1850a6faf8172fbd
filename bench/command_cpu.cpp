#include "command_cpu.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "atomic_file.hpp"
#include "cpu_series.hpp"
#include "input_file.hpp"
#include "json_file.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace ozbound::bench {
namespace {

struct Arguments {
  bool quick = false, list = false;
  std::string json, compare, filter;
};

constexpr Effort full_effort{};
constexpr Effort quick_effort{
    .sample_seconds = 2e-4, .seconds = 0.01, .least_repetitions = 3, .most_repetitions = 5, .longest_repetition_seconds = 60};

std::vector<SeriesEntry> chosen_series(const Arguments& arguments) {
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

std::optional<Record> saved_run(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const cli::InputFile file(path);
  try {
    return run_from_json(cli::read_json(file));
  } catch (const std::invalid_argument& error) {
    throw cli::InputError(file.name(), error.what());
  }
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

/// Every series as one benchmark of one iteration: it pairs its samples itself, as docs/benchmarks.md says.
std::vector<Measurement> run_series(const std::vector<SeriesEntry>& entries, const Effort& effort) {
  std::vector<Measurement> measurements;
  cli::Progress progress("measuring");
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

void run(const Arguments& arguments) {
  const auto entries = chosen_series(arguments);
  if (arguments.list) {
    for (const auto& entry : entries) fmt::print("{}\n", entry.name);
    return;
  }
  const auto before = saved_run(arguments.compare);
  std::optional<cli::AtomicFile> file;
  if (!arguments.json.empty()) file.emplace(arguments.json);
  const Record now{machine(default_kernel_name()), run_series(entries, arguments.quick ? quick_effort : full_effort)};
  const auto goals = judge_goals(now.measurements, default_kernel_name());
  fmt::print("{}", goal_table(goals));
  if (before) fmt::print("\n{}", comparison_table(now, *before));
  if (!file) return;
  file->write(to_json(now, goals, arguments.quick).dump(2) + "\n");
  file->commit();
}

}  // namespace

void add_cpu(CLI::App& app, std::function<void()>& action) {
  auto* command = app.add_subcommand("cpu", "The CPU engine: ratios to baselines timed beside it (docs/benchmarks.md)");
  auto arguments = std::make_shared<Arguments>();
  command->add_flag("--quick", arguments->quick, "The same on sizes that take seconds together, to see that it runs");
  command->add_flag("--list", arguments->list, "Only list the series");
  command->add_option("--filter", arguments->filter, "Only the series whose names this regular expression finds");
  command->add_option("--json", arguments->json, "Write all of it to this file")->type_name("FILE");
  command->add_option("--compare", arguments->compare, "Compare with a run that --json saved")->type_name("FILE");
  command->callback([&action, arguments] { action = [arguments] { run(*arguments); }; });
}

}  // namespace ozbound::bench
