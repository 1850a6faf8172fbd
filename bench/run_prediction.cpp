// SPDX-License-Identifier: BSD-3-Clause
#include "run_prediction.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/files/atomic_file.hpp"
#include "ozbound/files/progress.hpp"
#include "ozbound/native.hpp"
#include "prediction.hpp"
#include "report.hpp"

namespace ozbound::bench {
namespace {

/// Calibrates with that many threads, and tests the predictions.
std::vector<PredictionCase> calibrate_and_predict(int threads, bool quick) {
  omp_set_num_threads(threads);
  const CpuEngine engine({.threads = threads});
  auto calibration = this_machine(engine, native_gemm());
  {
    files::Progress progress("calibrating");
    const CalibrationOptions options{quick ? 2.0 : 25.0, [&progress](double done) { progress(done); }};
    calibration.rates.push_back(measure_rates(engine, native_gemm(), options));
  }
  const files::Progress progress("measuring");
  return predict(engine, native_gemm(), CalibratedCosts(calibration, threads, {}), quick);
}

nlohmann::ordered_json record(const std::vector<PredictionCase>& cases, const std::vector<Goal>& goals, bool quick) {
  nlohmann::ordered_json json{{"schema", "ozbound-bench-prediction-1"},   {"processor", this_machine(CpuEngine()).processor},
                              {"kernel", default_kernel().name},          {"quick", quick},
                              {"goals", nlohmann::ordered_json::array()}, {"cases", nlohmann::ordered_json::array()}};
  for (const auto& goal : goals) json["goals"].push_back(to_json(goal));
  for (const auto& one : cases) json["cases"].push_back(to_json(one));
  return json;
}

}  // namespace

void run_prediction(const PredictionArguments& arguments) {
  std::optional<files::AtomicFile> file;
  if (!arguments.json.empty()) file.emplace(arguments.json);
  std::vector<PredictionCase> cases;
  for (const int threads : std::set{1, omp_get_max_threads()}) {
    const auto some = calibrate_and_predict(threads, arguments.quick);
    cases.insert(cases.end(), some.begin(), some.end());
  }
  const auto goals = judge_predictions(cases);
  fmt::print("{}\n{}", prediction_table(cases), goal_table(goals));
  if (!file) return;
  file->write(record(cases, goals, arguments.quick).dump(2) + "\n");
  file->commit();
}

}  // namespace ozbound::bench
