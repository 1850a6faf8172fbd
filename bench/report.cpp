#include "report.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "columns.hpp"
#include "machine.hpp"
#include "openblas.hpp"

namespace ozbound::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "ozbound-bench-1";

Json caches(const benchmark::CPUInfo& processor) {
  auto list = Json::array();
  for (const auto& cache : processor.caches)
    list.push_back({{"type", cache.type}, {"level", cache.level}, {"bytes", cache.size}, {"cores", cache.num_sharing}});
  return list;
}

/// Whether the clock follows the load: a reason for spread.
std::string scaling(const benchmark::CPUInfo& processor) {
  switch (processor.scaling) {
    case benchmark::CPUInfo::ENABLED: return "enabled";
    case benchmark::CPUInfo::DISABLED: return "disabled";
    case benchmark::CPUInfo::UNKNOWN: break;
  }
  return "unknown";
}

std::string ratio_text(double ratio) { return ratio < 1000 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.0f}", ratio); }

std::string seconds_text(double seconds) { return fmt::format("{:.3g}", seconds * 1e3); }

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string shape_text(const Shape& shape) { return shape == Shape{} ? "-" : to_string(shape); }

cli::Cells cells(const Measurement& x) {
  cli::Cells row{x.name, x.baseline, shape_text(x.shape), fmt::format("{}", x.threads), or_dash(x.kernel)};
  if (x.repetitions == 0)
    row.insert(row.end(), 6, "-");
  else
    row.insert(row.end(), {ratio_text(x.ratio.median), ratio_text(x.ratio.lower), ratio_text(x.ratio.upper),
                           fmt::format("{}", x.repetitions), seconds_text(x.seconds),
                           x.operations_per_second > 0 ? fmt::format("{:.1f}", x.operations_per_second / 1e9) : "-"});
  row.push_back(x.note);
  return row;
}

bool measured(const Measurement& x) { return x.repetitions > 0; }

const Measurement* counterpart(const Measurement& x, const Record& run) {
  const auto found = std::ranges::find_if(run.measurements, [&](const auto& y) { return measured(y) && y.same_place(x); });
  return found == run.measurements.end() ? nullptr : &*found;
}

cli::Cells compared(const Measurement& now, const Measurement& before) {
  return {now.name,
          now.baseline,
          shape_text(now.shape),
          fmt::format("{}", now.threads),
          or_dash(now.kernel),
          ratio_text(now.ratio.median),
          ratio_text(before.ratio.median),
          ratio_text(now.ratio.median / before.ratio.median),
          change(now, before)};
}

std::string processor_of(const Record& run) {
  return run.machine.contains("processor") ? run.machine["processor"].dump() : "an unknown processor";
}

/// What tells the reader how far to trust a comparison.
std::string remarks(const Record& now, const Record& before, std::size_t both) {
  const auto count = [](const Record& run) {
    return static_cast<std::size_t>(std::ranges::count_if(run.measurements, measured));
  };
  std::string text;
  if (processor_of(now) != processor_of(before))
    text += fmt::format("The saved run is of another processor: {}.\n", processor_of(before));
  if (count(now) > both) text += fmt::format("{} measurements are only in this run.\n", count(now) - both);
  if (count(before) > both) text += fmt::format("{} measurements are only in the saved run.\n", count(before) - both);
  return text;
}

}  // namespace

Json machine(const std::string& kernel) {
  const auto& processor = benchmark::CPUInfo::Get();
  const char* const wait_policy = std::getenv("OMP_WAIT_POLICY");  // NOLINT(concurrency-mt-unsafe): no thread changes it
  return {{"processor", cli::processor_name()},
          {"instructions", cli::dot_product_instructions()},
          {"cores", processor.num_cpus},
          {"threads", omp_get_max_threads()},
          {"clock_hz", processor.cycles_per_second},
          {"clock_scaling", scaling(processor)},
          {"caches", caches(processor)},
          {"load_average", processor.load_avg},
          {"omp_wait_policy", wait_policy == nullptr ? "" : wait_policy},
          {"kernel", kernel},
          {"openblas", openblas_name()},
          {"version", OZBOUND_VERSION},
          {"compiler", OZBOUND_COMPILER}};
}

Json to_json(const Record& run, std::span<const Goal> goals, bool quick) {
  Json json{{"schema", schema}, {"quick", quick}, {"machine", run.machine}};
  json["goals"] = Json::array();
  for (const auto& goal : goals) json["goals"].push_back(to_json(goal));
  json["measurements"] = Json::array();
  for (const auto& measurement : run.measurements) json["measurements"].push_back(to_json(measurement));
  return json;
}

Record run_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("schema") || json["schema"] != schema)
    throw std::invalid_argument(fmt::format("this is no record of a benchmark, schema '{}'", schema));
  if (!json.contains("measurements") || !json["measurements"].is_array())
    throw std::invalid_argument("the record has no list 'measurements'");
  if (!json.contains("machine") || !json["machine"].is_object())
    throw std::invalid_argument("the record has no object 'machine'");
  Record run{json["machine"], {}};
  for (const auto& measurement : json["measurements"]) run.measurements.push_back(measurement_from_json(measurement));
  return run;
}

std::string measurement_table(std::span<const Measurement> measurements) {
  std::vector<cli::Cells> rows{
      {"name", "over", "m x n x k", "threads", "kernel", "ratio", "lower", "upper", "samples", "ms", "Gop/s", "note"}};
  for (const auto& measurement : measurements) rows.push_back(cells(measurement));
  return cli::format_columns(rows);
}

std::string goal_table(std::span<const Goal> goals) {
  std::vector<cli::Cells> rows{{"goal", "", "limit", "measured", "status"}};
  for (const auto& goal : goals)
    rows.push_back({goal.name, goal.at_most ? "at most" : "at least", ratio_text(goal.goal),
                    goal.measured ? ratio_text(*goal.measured) : "-", status(goal)});
  return cli::format_columns(rows);
}

std::string change(const Measurement& now, const Measurement& before) {
  const bool speed = now.kind == Kind::speed;
  if (now.ratio.lower > before.ratio.upper) return speed ? "faster" : "more";
  if (now.ratio.upper < before.ratio.lower) return speed ? "slower" : "less";
  return "";
}

std::string comparison_table(const Record& now, const Record& before) {
  std::vector<cli::Cells> rows{
      {"name", "over", "m x n x k", "threads", "kernel", "now", "saved", "now/saved", "beyond the spread"}};
  for (const auto& measurement : now.measurements)
    if (const auto* const saved = counterpart(measurement, before); saved != nullptr && measured(measurement))
      rows.push_back(compared(measurement, *saved));
  return cli::format_columns(rows) + remarks(now, before, rows.size() - 1);
}

}  // namespace ozbound::bench
