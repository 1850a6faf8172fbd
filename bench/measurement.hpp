// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "sampling.hpp"

namespace ozbound::bench {

/// C is m x n, the inner dimension is k.
struct Shape {
  Index m = 0, n = 0, k = 0;

  bool operator==(const Shape&) const = default;
};

/// m x n x k: `512x512x4096`.
std::string to_string(const Shape& shape);

/// What a ratio says.
enum class Kind {
  speed,  ///< how many times as fast as the baseline: operations a second over operations a second
  share,  ///< part of the baseline's time
};

/// A ratio to a baseline that was timed beside it.
struct Measurement {
  std::string name;      ///< `gemm/balanced:7x7:cut=8:exact`
  std::string baseline;  ///< `OpenBLAS DGEMM`
  Kind kind = Kind::speed;
  Shape shape;
  int threads = 1;
  std::string kernel;     ///< of the engine; empty where none takes part
  std::string note = {};  ///< how the baseline was scaled, or why there is no ratio
  int repetitions = 0;    ///< 0: left out, and the numbers below say nothing
  Quartiles ratio;
  double seconds = 0;  ///< median, of one call; of the baseline's likewise, unscaled
  double baseline_seconds = 0;
  double operations_per_second = 0;  ///< median; 0 where they are not counted

  /// Same name, baseline, shape, threads and kernel: comparable between runs.
  [[nodiscard]] bool same_place(const Measurement& other) const;
};

/// A ratio of a series: subjects by their place.
struct Figure {
  std::string name;
  std::string baseline;
  Kind kind = Kind::speed;
  std::size_t subject = 0, base = 0;  ///< whose seconds are shown
  std::function<double(std::span<const double> seconds)> ratio;
  double operations = 0;  ///< in one call of the subject; 0: not counted
  std::string note = {};
};

/// Subjects that are timed side by side, and what is learnt from them.
struct Series {
  std::vector<Subject> subjects;
  std::vector<Figure> figures;
};

/// A series still to be prepared, so that one at a time takes memory.
struct SeriesEntry {
  std::string group;  ///< what its figures are printed under
  std::string name;   ///< group/…/shape/threads:T, what --filter sees
  Shape shape;
  int threads = 1;
  std::string kernel;
  std::function<Series()> prepare;
};

/// Prepares a series, times its subjects on that many OpenMP threads and forms its ratios, repetition by repetition.
std::vector<Measurement> measure(const SeriesEntry& entry, const Effort& effort);

}  // namespace ozbound::bench
