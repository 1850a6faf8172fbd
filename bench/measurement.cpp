#include "measurement.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ozbound::bench {
namespace {

std::vector<double> column(const Samples& samples, std::size_t subject) {
  std::vector<double> values;
  for (const auto& seconds : samples.repetitions) values.push_back(seconds[subject]);
  return values;
}

void fill(Measurement& measurement, const Figure& figure, const Samples& samples) {
  std::vector<double> ratios;
  for (const auto& seconds : samples.repetitions) ratios.push_back(figure.ratio(seconds));
  measurement.ratio = quartiles(std::move(ratios));
  measurement.seconds = quartiles(column(samples, figure.subject)).median;
  measurement.baseline_seconds = quartiles(column(samples, figure.base)).median;
  measurement.operations_per_second = figure.operations / measurement.seconds;
}

/// While it lives, OpenMP, and with it OpenBLAS, uses that many threads.
class Threads {
 public:
  explicit Threads(int threads) { omp_set_num_threads(threads); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

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

std::string to_string(const Shape& shape) { return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k); }

bool Measurement::same_place(const Measurement& other) const {
  return name == other.name && baseline == other.baseline && shape == other.shape && threads == other.threads &&
         kernel == other.kernel;
}

nlohmann::ordered_json to_json(const Measurement& x) {
  return {{"name", x.name},
          {"baseline", x.baseline},
          {"kind", x.kind == Kind::speed ? "speed" : "share"},
          {"m", x.shape.m},
          {"n", x.shape.n},
          {"k", x.shape.k},
          {"threads", x.threads},
          {"kernel", x.kernel},
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
          .note = text(json, "note"),
          .repetitions = static_cast<int>(integer(json, "repetitions")),
          .ratio = {number(json, "lower_quartile"), number(json, "median"), number(json, "upper_quartile")},
          .seconds = number(json, "seconds"),
          .baseline_seconds = number(json, "baseline_seconds"),
          .operations_per_second = number(json, "operations_per_second")};
}

std::vector<Measurement> measure(const SeriesEntry& entry, const Effort& effort) {
  const Threads threads(entry.threads);
  const auto series = entry.prepare();
  const auto samples = sample(series.subjects, effort);
  std::vector<Measurement> measurements;
  for (const auto& figure : series.figures) {
    auto& measurement = measurements.emplace_back();
    measurement.name = figure.name;
    measurement.baseline = figure.baseline;
    measurement.kind = figure.kind;
    measurement.shape = entry.shape;
    measurement.threads = entry.threads;
    measurement.kernel = entry.kernel;
    measurement.note = figure.note;
    measurement.repetitions = static_cast<int>(samples.repetitions.size());
    if (measurement.repetitions > 0)
      fill(measurement, figure, samples);
    else
      measurement.note = fmt::format("left out: one repetition would take {:.0f} s", samples.expected_seconds);
  }
  return measurements;
}

}  // namespace ozbound::bench
