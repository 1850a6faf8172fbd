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

/// The meaning of a ratio.
enum class Kind {
  speed,  ///< how many times as fast as the baseline: operations a second over operations a second
  share,  ///< a part of the baseline's time
};

/// A ratio to a baseline that was timed in turns with the subject.
struct Measurement {
  std::string name;      ///< `gemm/balanced:7x7:cut=8:exact`
  std::string baseline;  ///< `OpenBLAS`
  Kind kind = Kind::speed;
  Shape shape;
  int threads = 1;
  std::string kernel;        ///< of the engine; empty if no kernel takes part
  std::string library = {};  ///< version and kernels of the library that is the baseline: `OpenBLAS 0.3.21 Haswell`
  std::string note = {};     ///< how the baseline was scaled, or why there is no ratio
  int repetitions = 0;       ///< 0: left out, and the numbers below mean nothing
  Quartiles ratio;
  double seconds = 0;  ///< median of one call; baseline_seconds likewise, unscaled
  double baseline_seconds = 0;
  double operations_per_second = 0;  ///< median; 0 if operations are not counted

  /// True if name, baseline, library, shape, threads and kernel agree, so that the measurements are comparable between runs.
  /// Runs of before libraries were recorded agree with any.
  [[nodiscard]] bool same_place(const Measurement& other) const;
};

/// A ratio of a series. Subjects are given by their index.
struct Figure {
  std::string name;
  std::string baseline;
  Kind kind = Kind::speed;
  std::size_t subject = 0, base = 0;  ///< the subjects whose seconds are shown
  std::function<double(std::span<const double> seconds)> ratio;
  double operations = 0;  ///< in one call of the subject; 0: not counted
  std::string note = {};
};

/// Subjects to time side by side, and the ratios to compute from their times.
struct Series {
  std::vector<Subject> subjects;
  std::vector<Figure> figures;
};

/// A series that is not prepared yet. Series are prepared one at a time to save memory.
struct SeriesEntry {
  std::string group;  ///< the heading under which its figures are printed
  std::string name;   ///< group/…/shape/threads:T, matched by --filter
  Shape shape;
  int threads = 1;
  std::string kernel;
  std::function<Series()> prepare;
};

/// Prepares a series, times its subjects on that many OpenMP threads and forms its ratios, repetition by repetition.
std::vector<Measurement> measure(const SeriesEntry& entry, const Effort& effort);

}  // namespace ozbound::bench
