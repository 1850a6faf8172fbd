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
  bool bound = false;  ///< claimed, not measured: drawn as a dashed line without marks
};

/// Groups the series by plot. Plots are in the order of their first series.
std::vector<std::vector<Series>> group_by_plot(const std::vector<Series>& series);

/// One plot as a `figure` element of an HTML page whose style contains plot_style(): an SVG with ticks and axis titles, and a
/// legend. The first series determines the axes. Points without a place on an axis (NaN, infinities, non-positive values on a
/// logarithmic axis) are listed below the plot.
std::string plot_figure(const std::vector<Series>& series);

/// CSS for plot_figure, for light and dark pages. The colours are those of Okabe and Ito, distinct to the colour-blind.
std::string plot_style();

/// The same plots as a self-contained SVG file: two plots side by side, each with its legend, on a background of its own.
/// @throws std::invalid_argument if there are no series.
std::string svg(const std::vector<Series>& series);

}  // namespace ozbound
