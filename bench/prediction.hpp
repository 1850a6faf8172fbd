// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "goals.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::bench {

/// A way of computing C that certifies the target of a case.
struct TimedWay {
  std::string way;  ///< a plan, `native` or `exact`
  double predicted = 0;
  double measured = 0;  ///< seconds, median
  bool chosen = false;
};

/// One held-out product and target: the cheapest plan that certifies it, native DGEMM and the superaccumulator.
struct PredictionCase {
  Shape shape;
  std::string target;
  int threads = 1;
  std::vector<TimedWay> ways;

  /// |predicted / measured - 1| of each way.
  [[nodiscard]] std::vector<double> errors() const;
  /// Measured time of the chosen way over the fastest.
  [[nodiscard]] double regret() const;
};

/// Decides and times the held-out products. No calibration measures these products.
std::vector<PredictionCase> predict(const CpuEngine& engine, const NativeGemm* native, const CostModel& costs, bool quick);

/// Judges the median error, at most 25 %, and the choices, at least 90 % within 10 % of the fastest. @pre cases is not empty.
std::vector<Goal> judge_predictions(std::span<const PredictionCase> cases);

nlohmann::ordered_json to_json(const PredictionCase& one);

std::string prediction_table(std::span<const PredictionCase> cases);

}  // namespace ozbound::bench
