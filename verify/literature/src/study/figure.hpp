// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ozbound/verify/literature/study.hpp"

namespace ozbound::study {

/// The error to draw, relative to |c|, over all entries.
enum class Measure { average, largest };

inline double error_of(const StudyMeasurement& one, Measure measure) {
  return measure == Measure::average ? one.average_relative : one.max_relative;
}
inline double bound_of(const StudyClaim& claim, Measure measure) {
  return measure == Measure::average ? claim.average_relative : claim.max_relative;
}

using Wanted = std::function<bool(const StudyMeasurement&)>;
using Name = std::function<std::string(const StudyMeasurement&)>;
using Coordinate = std::function<double(const StudyMeasurement&)>;

inline std::string method_of(const StudyMeasurement& one) { return one.method; }

/// The axes that the series of a figure share.
struct Axes {
  std::string x_axis;
  bool log_x;
  Coordinate x;
  Measure measure;
};

Axes over_inner_dimension(Measure measure);
Axes over_slices(Measure measure);
Axes over_phi(Measure measure);

/// Draws the plots of a study from its measurements.
class Figure {
 public:
  Figure(Study& study, Axes axes) : study_(study), axes_(std::move(axes)) {}

  /// Adds one line for each name among the wanted measurements, in the order of measurement.
  void add_methods(const std::string& plot, const Wanted& wanted, const Name& name = method_of);

  /// Adds the wanted measurements as one line, and each of their bounds as another. Labels mark estimates.
  void add_bounds(const std::string& plot, const Wanted& wanted);

 private:
  void add(const std::string& plot, const std::string& label, std::vector<std::pair<double, double>> points, bool bound);
  void add_claims(const std::string& plot, const std::vector<const StudyMeasurement*>& measured);
  [[nodiscard]] std::vector<const StudyMeasurement*> all(const Wanted& wanted) const;

  Study& study_;
  Axes axes_;
};

}  // namespace ozbound::study
