// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound::bench {

/// Arguments of `ozbound-bench prediction` (docs/benchmarks.md).
struct PredictionArguments {
  bool quick = false;
  std::string json;  ///< a file; empty: none
};

/// Calibrates, and compares predicted with measured times. Prints a table on standard output and writes the record to a file,
/// which it opens first.
void run_prediction(const PredictionArguments& arguments);

}  // namespace ozbound::bench
