// SPDX-License-Identifier: BSD-3-Clause
#include "record.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "openblas.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/files/input_file.hpp"
#include "ozbound/files/json_file.hpp"

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

/// Describes whether the clock follows the load, which is a reason for spread.
std::string scaling(const benchmark::CPUInfo& processor) {
  switch (processor.scaling) {
    case benchmark::CPUInfo::ENABLED: return "enabled";
    case benchmark::CPUInfo::DISABLED: return "disabled";
    case benchmark::CPUInfo::UNKNOWN: break;
  }
  return "unknown";
}

Json machine(const Surroundings& surroundings) {
  const auto& processor = benchmark::CPUInfo::Get();
  auto unset = Json::array();
  for (const auto& [name, value] : surroundings.unset) unset.push_back({{"name", name}, {"value", value}});
  auto cores = Json::array();
  for (const auto& core : surroundings.cores)
    cores.push_back({{"core", core.core}, {"library", core.library}, {"seconds", core.seconds}});
  return {{"processor", processor_name()},
          {"cores", processor.num_cpus},
          {"threads", omp_get_max_threads()},
          {"clock_hz", processor.cycles_per_second},
          {"clock_scaling", scaling(processor)},
          {"caches", caches(processor)},
          {"load_average", processor.load_avg},
          {"unset", unset},
          {"kernel", surroundings.kernel},
          {"openblas", surroundings.cores.empty() ? openblas_name() : surroundings.cores.front().library},
          {"openblas_cores", cores},
          {"version", OZBOUND_VERSION},
          {"compiler", OZBOUND_COMPILER}};
}

const nlohmann::json& member(const nlohmann::json& json, const char* name) {
  if (!json.is_object() || !json.contains(name)) throw std::invalid_argument(fmt::format("a measurement has no '{}'", name));
  return json[name];
}

std::string text(const nlohmann::json& json, const char* name) {
  const auto& value = member(json, name);
  if (!value.is_string()) throw std::invalid_argument(fmt::format("'{}' of a measurement must be a text", name));
  return value.get<std::string>();
}

double number(const nlohmann::json& json, const char* name) {
  const auto& value = member(json, name);
  if (!value.is_number()) throw std::invalid_argument(fmt::format("'{}' of a measurement must be a number", name));
  return value.get<double>();
}

Index integer(const nlohmann::json& json, const char* name) {
  const double value = number(json, name);
  if (!(value >= 0 && value < 0x1p31) || value != std::floor(value))
    throw std::invalid_argument(fmt::format("'{}' of a measurement must be a whole number", name));
  return static_cast<Index>(value);
}

Kind parse_kind(const std::string& name) {
  if (name == "speed") return Kind::speed;
  if (name == "share") return Kind::share;
  throw std::invalid_argument("'kind' of a measurement must be 'speed' or 'share'");
}

}  // namespace

Json to_json(const Measurement& x) {
  return {{"name", x.name},
          {"baseline", x.baseline},
          {"kind", x.kind == Kind::speed ? "speed" : "share"},
          {"m", x.shape.m},
          {"n", x.shape.n},
          {"k", x.shape.k},
          {"threads", x.threads},
          {"kernel", x.kernel},
          {"library", x.library},
          {"note", x.note},
          {"repetitions", x.repetitions},
          {"median", x.ratio.median},
          {"lower_quartile", x.ratio.lower},
          {"upper_quartile", x.ratio.upper},
          {"seconds", x.seconds},
          {"baseline_seconds", x.baseline_seconds},
          {"operations_per_second", x.operations_per_second}};
}

Measurement measurement_from_json(const nlohmann::json& json) {
  return {.name = text(json, "name"),
          .baseline = text(json, "baseline"),
          .kind = parse_kind(text(json, "kind")),
          .shape = {integer(json, "m"), integer(json, "n"), integer(json, "k")},
          .threads = static_cast<int>(integer(json, "threads")),
          .kernel = text(json, "kernel"),
          .library = json.contains("library") ? text(json, "library") : "",
          .note = text(json, "note"),
          .repetitions = static_cast<int>(integer(json, "repetitions")),
          .ratio = {number(json, "lower_quartile"), number(json, "median"), number(json, "upper_quartile")},
          .seconds = number(json, "seconds"),
          .baseline_seconds = number(json, "baseline_seconds"),
          .operations_per_second = number(json, "operations_per_second")};
}

Json to_json(const Goal& goal) {
  return {{"name", goal.name},
          {"goal", goal.goal},
          {"direction", goal.at_most ? "at most" : "at least"},
          {"measured", goal.measured ? Json(*goal.measured) : Json(nullptr)},
          {"met", goal.applicable && goal.measured ? Json(goal.met()) : Json(nullptr)},
          {"status", status(goal)}};
}

Json to_json(std::span<const Measurement> measurements, std::span<const Goal> goals, const Surroundings& surroundings) {
  Json json{{"schema", schema},
            {"quick", surroundings.quick},
            {"complete", surroundings.complete},
            {"machine", machine(surroundings)}};
  json["goals"] = Json::array();
  for (const auto& goal : goals) json["goals"].push_back(to_json(goal));
  json["measurements"] = Json::array();
  for (const auto& measurement : measurements) json["measurements"].push_back(to_json(measurement));
  return json;
}

std::string record_text(std::span<const Measurement> measurements, std::span<const Goal> goals,
                        const Surroundings& surroundings) {
  return to_json(measurements, goals, surroundings).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Record record_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("schema") || json["schema"] != schema)
    throw std::invalid_argument(fmt::format("this is no record of a benchmark, schema '{}'", schema));
  if (!json.contains("measurements") || !json["measurements"].is_array())
    throw std::invalid_argument("the record has no list 'measurements'");
  if (!json.contains("machine") || !json["machine"].is_object() || !json["machine"].contains("processor") ||
      !json["machine"]["processor"].is_string())
    throw std::invalid_argument("the record has no machine with a processor");
  Record record{json["machine"]["processor"].get<std::string>(), {}};
  for (const auto& measurement : json["measurements"]) record.measurements.push_back(measurement_from_json(measurement));
  return record;
}

Record read_record(const std::string& path) {
  const files::InputFile file(path);
  try {
    return record_from_json(files::read_json(file));
  } catch (const std::invalid_argument& error) {
    throw files::InputError(file.name(), error.what());
  }
}

}  // namespace ozbound::bench
