// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound::bench {

/// `ozbound-bench prediction` (docs/benchmarks.md).
struct PredictionArguments {
  bool quick = false;
  std::string json;  ///< a file; empty: none
};

/// Calibrates and compares predicted with measured times: a table on standard output, the record in a file, opened before.
void run_prediction(const PredictionArguments& arguments);

}  // namespace ozbound::bench
