// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ozbound {

/// Points of a plot.
struct Series {
  std::string plot;  ///< series of one plot share this title
  std::string label;
  std::string x_axis, y_axis;
  bool log_x = false, log_y = false;
  std::vector<std::pair<double, double>> points;
  bool bound = false;  ///< not measured but claimed: drawn as a dashed line without marks
};

/// The series by plot, each plot where its first series stands.
std::vector<std::vector<Series>> group_by_plot(const std::vector<Series>& series);

/// One plot as a `figure` element of an HTML page whose style contains plot_style(): an SVG with ticks and axis titles, and a
/// legend. The first series says what the axes are. Points that have no place on an axis (NaN, infinities, what is not positive
/// on a logarithmic one) are listed below it.
std::string plot_figure(const std::vector<Series>& series);

/// CSS of what plot_figure draws: colours are those of Okabe and Ito, distinct to the colour-blind, for light and dark pages.
std::string plot_style();

/// The same plots as an SVG file that needs nothing else: two plots beside each other, each with its legend, on a background of
/// its own.
/// @throws std::invalid_argument if there are no series.
std::string svg(const std::vector<Series>& series);

}  // namespace ozbound
