// SPDX-License-Identifier: BSD-3-Clause
#include "measurement.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <utility>

#include "blis.hpp"
#include "openblas.hpp"

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

/// Makes OpenMP, and with it OpenBLAS, use that many threads during its lifetime.
class Threads {
 public:
  explicit Threads(int threads) { omp_set_num_threads(threads); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k); }

bool Measurement::same_place(const Measurement& other) const {
  return name == other.name && baseline == other.baseline && shape == other.shape && threads == other.threads &&
         kernel == other.kernel && (library.empty() || other.library.empty() || library == other.library);
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
    measurement.library = figure.baseline == "OpenBLAS" ? openblas_core() : figure.baseline == "BLIS" ? blis_core() : "";
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
