#pragma once

#include <string>
#include <vector>

#include "ozbound/verify/grade.hpp"

namespace ozbound {

/// A `figure` element: an SVG plot of these series with ticks, axis titles and a legend. The first series says what the axes
/// are. Points that have no place on an axis (NaN, infinities, what is not positive on a logarithmic one) are listed below it.
/// Colours are the classes c0 to c7 of the page's style.
std::string plot_figure(const std::vector<Series>& series);

/// The series by plot, each plot where its first series stands.
std::vector<std::vector<Series>> group_by_plot(const std::vector<Series>& series);

}  // namespace ozbound
