// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/plot/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "ozbound/verify/plot/markup.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using markup::escape;
using markup::number;

// The drawing, in its own units: the frame inside, and room for ticks and titles, with more room on the left for wide labels.
constexpr double width = 640, height = 380, left = 78, right = 624, top = 14, bottom = 326;
constexpr double title_base = 17, title_room = 26, tick_gap = 7;
constexpr std::size_t colours = 8, marks = 4;
constexpr double most_ticks = 7;

// In a file: the space around a drawing, and the room for a line of text. Since the font is not known, characters are assumed
// to be wide.
constexpr double heading = 34, border = 16, line_height = 24, character = 8.6, key = 34, gap = 20;

// Lines of bounds often coincide. Their dashes begin at different places, so that each line shows in the gaps of the other.
constexpr const char* style = R"css(
.plot text { font: 16px system-ui, sans-serif; fill: #1d2125; } .plot text.title, .plot text.left-out { fill: #5b6570; }
.plot text.heading { font-weight: 600; }
.page { fill: #ffffff; }
.axes rect, .axes path { fill: none; stroke: #d8dce1; stroke-width: 1; }
.plot polyline { fill: none; stroke-width: 1.8; stroke: currentColor; }
.dashed polyline { stroke-dasharray: 5 4; } .bound polyline { stroke-dasharray: 7 14; }
.bound.c2 polyline, .bound.c5 polyline { stroke-dashoffset: 7; } )css"
                              R"css(.bound.c0 polyline, .bound.c3 polyline, .bound.c6 polyline { stroke-dashoffset: 14; }
.key.bound polyline { stroke-dasharray: 7 3; stroke-dashoffset: 0; }
.series circle, .series rect, .series path { fill: currentColor; }
.c0 { color: #0072b2; } .c1 { color: #d55e00; } .c2 { color: #00845e; } .c3 { color: #b0508c; }
.c4 { color: #9a7000; } .c5 { color: #2f8fc4; } .c6 { color: #6b6b6b; } .c7 { color: #7a4fb5; }
@media (prefers-color-scheme: dark) {
.plot text { fill: #e3e6e9; } .plot text.title, .plot text.left-out { fill: #9aa4ae; }
.page { fill: #15181b; }
.axes rect, .axes path { stroke: #363c43; }
.c0 { color: #4aa8e0; } .c1 { color: #ff8c42; } .c2 { color: #3cc79b; } .c3 { color: #e48bc4; }
.c4 { color: #e0b93c; } .c5 { color: #8fd0f5; } .c6 { color: #b0b0b0; } .c7 { color: #b795ea; } }
)css";

struct Tick {
  double place;  ///< in [0, 1]
  std::string label;
};

/// 1, 2 or 5 times a power of ten, at least x. @pre x > 0.
double round_step(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  for (const double multiple : {1.0, 2.0, 5.0})
    if (multiple * power >= x) return multiple * power;
  return 10 * power;
}

/// One axis: the places of numbers, and the round numbers to mark. Drawing needs no rigour, so this is plain arithmetic. It
/// works on halves, so that the largest numbers do not overflow.
class Axis {
 public:
  Axis(bool logarithmic, const std::vector<double>& values) : logarithmic_(logarithmic) {
    for (const double x : values)
      if (fits(x)) include(scaled(x));
    if (low_ > high_) low_ = high_ = 0;
    widen();
  }

  /// True if x has a place on the axis.
  [[nodiscard]] bool fits(double x) const { return std::isfinite(x) && (!logarithmic_ || x > 0); }

  /// The place of x, in [0, 1] for all included numbers.
  [[nodiscard]] double place(double x) const { return between(scaled(x)); }

  [[nodiscard]] std::vector<Tick> ticks() const {
    if (logarithmic_ && high_ - low_ >= most_ticks / 4) return decades();
    if (logarithmic_ && high_ - low_ >= 0.35) return multiples_of_decades();
    return steps();
  }

 private:
  [[nodiscard]] double scaled(double x) const { return logarithmic_ ? std::log10(x) / 2 : x / 2; }
  [[nodiscard]] double unscaled(double s) const { return logarithmic_ ? std::pow(10, 2 * s) : 2 * s; }
  [[nodiscard]] double between(double s) const { return (s / 2 - low_ / 2) / (high_ / 2 - low_ / 2); }

  void include(double s) {
    low_ = std::min(low_, s);
    high_ = std::max(high_, s);
  }

  /// Adds a margin. Widens a range of almost equal numbers.
  void widen() {
    const double size = std::max(std::abs(low_), std::abs(high_));
    const bool several = high_ - low_ > 1e-9 * size;
    const double margin = several ? 0.04 * (high_ - low_) : logarithmic_ ? 0.25 : std::max(0.5, size / 2);
    low_ -= margin;
    high_ += margin;
  }

  /// Ticks at powers of ten.
  [[nodiscard]] std::vector<Tick> decades() const {
    const double step = std::max(1.0, std::ceil(2 * (high_ - low_) / most_ticks));
    std::vector<Tick> ticks;
    for (double power = std::ceil(2 * low_ / step) * step; power <= 2 * high_; power += step)
      ticks.push_back({between(power / 2), fmt::format("1e{:.0f}", power + 0.0)});  // avoids -0
    return ticks;
  }

  static std::string multiple_label(double multiple, double power) {
    if (power >= 5 || power <= -5) return fmt::format("{:g}e{:g}", multiple, power);
    return fmt::format("{:g}", multiple * std::pow(10, power));
  }

  /// Ticks at 1, 2 and 5 times powers of ten.
  [[nodiscard]] std::vector<Tick> multiples_of_decades() const {
    std::vector<Tick> ticks;
    for (double power = std::floor(2 * low_); power <= 2 * high_; ++power)
      for (const double multiple : {1.0, 2.0, 5.0})
        if (const double s = (power + std::log10(multiple)) / 2; s >= low_ && s <= high_)
          ticks.push_back({between(s), multiple_label(multiple, power)});
    return ticks;
  }

  /// Ticks at multiples of a round step.
  [[nodiscard]] std::vector<Tick> steps() const {
    const double from = logarithmic_ ? unscaled(low_) / 2 : low_, to = logarithmic_ ? unscaled(high_) / 2 : high_;
    const double half_step = round_step(2 * (to - from) / most_ticks) / 2;
    std::vector<Tick> ticks;
    for (double i = std::ceil(from / half_step); i * half_step <= to; ++i) {
      const double x = 2 * i * half_step + 0.0;  // avoids -0
      ticks.push_back({place(x), number(x)});
    }
    return ticks;
  }

  bool logarithmic_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;  // scaled
};

template <class Coordinate>
std::vector<double> coordinates(const std::vector<Series>& series, Coordinate coordinate) {
  std::vector<double> all;
  for (const auto& one : series)
    for (const auto& point : one.points) all.push_back(coordinate(point));
  return all;
}

std::string mark(std::size_t index, double x, double y, const std::string& title) {
  constexpr double r = 3.6;
  const auto content = title.empty() ? "" : "<title>" + title + "</title>";
  switch (index % marks) {
    case 0: return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}">{}</circle>)", x, y, r, content);
    case 1:
      return fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{}" height="{}">{}</rect>)", x - r, y - r, 2 * r, 2 * r,
                         content);
    case 2:
      return fmt::format(R"(<path d="M{:.1f},{:.1f}l{},{}h{}z">{}</path>)", x, y - r - 1, r + 1, 2 * r + 1, -2 * (r + 1),
                         content);
    default:
      return fmt::format(R"(<path d="M{:.1f},{:.1f}l{},{}l{},{}l{},{}z">{}</path>)", x, y - r - 1, r + 1, r + 1, -(r + 1),
                         r + 1, -(r + 1), -(r + 1), content);
  }
}

std::string classes(std::size_t index, bool bound) {
  return fmt::format("series c{}{}{}", index % colours, index / colours % 2 == 1 ? " dashed" : "", bound ? " bound" : "");
}

/// The legend entry of a series: a line with its mark, 28 wide and 12 high.
std::string legend_key(std::size_t index, bool bound) {
  return fmt::format("<g class=\"{}\"><polyline points=\"1,6 27,6\"/>{}</g>", classes(index, bound) + " key",
                     bound ? "" : mark(index, 14, 6, ""));
}

/// An upper estimate of the width of a UTF-8 text, by its characters.
double text_width(const std::string& text) {
  return character * static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Places items of these widths in lines of the drawing's width.
class Flow {
 public:
  /// The x and the line at which the next item begins.
  std::pair<double, int> place(double item) {
    if (x_ > left && x_ + item > right) {
      x_ = left;
      ++line_;
    }
    const auto at = x_;
    x_ += item + gap;
    return {at, line_};
  }

  [[nodiscard]] int lines() const { return x_ > left ? line_ + 1 : line_; }

 private:
  double x_ = left;
  int line_ = 0;
};

class Plot {
 public:
  explicit Plot(const std::vector<Series>& series)
      : series_(series),
        x_(series.front().log_x, coordinates(series, [](const auto& point) { return point.first; })),
        y_(series.front().log_y, coordinates(series, [](const auto& point) { return point.second; })) {
    for (const auto& tick : y_.ticks()) frame_left_ = std::max(frame_left_, title_room + text_width(tick.label) + tick_gap);
  }

  [[nodiscard]] std::string figure() const {
    const auto title = escape(series_.front().plot);
    std::string out = fmt::format("<figure>\n<figcaption>{}</figcaption>\n", title);
    out +=
        fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                    width, height, title);
    return out + "\n" + drawing() + "</svg>\n" + legend() + left_out() + "</figure>\n";
  }

  /// The plot as a group whose upper left corner is at (x, y), and its height.
  [[nodiscard]] std::pair<std::string, double> panel(double x, double y) const {
    const auto [lines, end] = lines_below();
    std::string out = fmt::format("<g class=\"panel\" transform=\"translate({},{})\">\n", x, y);
    out += fmt::format(R"(<text class="heading" x="{}" y="20">{}</text>)", left, escape(series_.front().plot));
    out += fmt::format("\n<g transform=\"translate(0,{})\">\n{}{}</g>\n</g>\n", heading, drawing(), lines);
    return {out, heading + end};
  }

 private:
  [[nodiscard]] double x(double value) const { return frame_left_ + (right - frame_left_) * x_.place(value); }
  [[nodiscard]] double y(double value) const { return bottom - (bottom - top) * y_.place(value); }

  [[nodiscard]] std::string drawing() const {
    std::string out = axes();
    for (std::size_t i = 0; i < series_.size(); ++i) out += drawn(i);
    return out;
  }

  [[nodiscard]] std::string axes() const {
    const auto& first = series_.front();
    std::string out = fmt::format(R"(<g class="axes"><rect x="{}" y="{}" width="{}" height="{}"/>)", frame_left_, top,
                                  right - frame_left_, bottom - top);
    for (const auto& [place, label] : x_.ticks()) {
      const double at = frame_left_ + (right - frame_left_) * place;
      out += fmt::format(R"(<path d="M{0:.1f},{1}V{2}"/><text x="{0:.1f}" y="{3}" text-anchor="middle">{4}</text>)", at, top,
                         bottom, bottom + 20, escape(label));
    }
    for (const auto& [place, label] : y_.ticks()) {
      const double at = bottom - (bottom - top) * place;
      out += fmt::format(R"(<path d="M{0},{1:.1f}H{2}"/><text x="{3}" y="{4:.1f}" text-anchor="end">{5}</text>)", frame_left_,
                         at, right, frame_left_ - tick_gap, at + 5.5, escape(label));
    }
    out += fmt::format(R"(<text class="title" x="{}" y="{}" text-anchor="middle">{}</text>)", (frame_left_ + right) / 2,
                       height - 12, escape(first.x_axis));
    out += fmt::format(R"svg(<text class="title" transform="translate({},{})rotate(-90)" text-anchor="middle">{}</text>)svg",
                       title_base, (top + bottom) / 2, escape(first.y_axis));
    return out + "</g>\n";
  }

  [[nodiscard]] bool fits(const std::pair<double, double>& point) const {
    return x_.fits(point.first) && y_.fits(point.second);
  }

  [[nodiscard]] static std::string said(const Series& one, const std::pair<double, double>& point) {
    return fmt::format("{}: {}, {}", escape(one.label), number(point.first), number(point.second));
  }

  [[nodiscard]] std::string drawn(std::size_t index) const {
    const auto& one = series_[index];
    std::string line, points;
    for (const auto& point : one.points) {
      if (!fits(point)) continue;
      const double px = x(point.first), py = y(point.second);
      line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", px, py);
      if (!one.bound) points += mark(index, px, py, said(one, point));
    }
    return fmt::format("<g class=\"{}\"><polyline points=\"{}\">{}</polyline>{}</g>\n", classes(index, one.bound), line,
                       "<title>" + escape(one.label) + "</title>", points);
  }

  [[nodiscard]] std::string legend() const {
    std::string out = "<ul class=\"legend\">\n";
    for (std::size_t i = 0; i < series_.size(); ++i)
      out +=
          fmt::format(R"(<li><svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 28 12" width="28" height="12" )"
                      "aria-hidden=\"true\">{}</svg> {}</li>\n",
                      legend_key(i, series_[i].bound), escape(series_[i].label));
    return out + "</ul>\n";
  }

  /// The points without a place on an axis, in words, not escaped.
  [[nodiscard]] std::vector<std::string> without_place() const {
    std::vector<std::string> list;
    for (const auto& one : series_)
      for (const auto& point : one.points)
        if (!fits(point)) list.push_back(fmt::format("{} ({}, {})", one.label, number(point.first), number(point.second)));
    return list;
  }

  [[nodiscard]] std::string left_out() const {
    std::string list;
    for (const auto& words : without_place()) list += (list.empty() ? "" : "; ") + escape(words);
    return list.empty() ? "" : "<p class=\"left-out\">Not on these axes: " + list + "</p>\n";
  }

  /// The legend and the points without a place, in lines below the drawing; and the y at which they end.
  [[nodiscard]] std::pair<std::string, double> lines_below() const {
    const auto baseline = [](int line) { return height + line_height * (line + 0.75); };
    std::string out;
    Flow labels;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const auto [at, line] = labels.place(key + text_width(series_[i].label));
      out += fmt::format(R"svg(<g transform="translate({:.1f},{:.1f})">{}<text x="{}" y="11.5">{}</text></g>)svg", at,
                         baseline(line) - 11.5, legend_key(i, series_[i].bound), key, escape(series_[i].label));
      out += "\n";
    }
    auto rest = without_place();
    if (!rest.empty()) rest.insert(rest.begin(), "Not on these axes:");
    Flow words;
    for (const auto& one : rest) {
      const auto [at, line] = words.place(text_width(one));
      out += fmt::format(R"(<text class="left-out" x="{:.1f}" y="{:.1f}">{}</text>)", at, baseline(labels.lines() + line),
                         escape(one));
      out += "\n";
    }
    return {out, height + line_height * (labels.lines() + words.lines())};
  }

  const std::vector<Series>& series_;
  Axis x_, y_;
  double frame_left_ = left;
};

}  // namespace

std::vector<std::vector<Series>> group_by_plot(const std::vector<Series>& series) {
  std::vector<std::vector<Series>> plots;
  for (const auto& one : series) {
    auto plot = std::find_if(plots.begin(), plots.end(), [&](const auto& other) { return other.front().plot == one.plot; });
    if (plot == plots.end()) plot = plots.insert(plots.end(), std::vector<Series>());
    plot->push_back(one);
  }
  return plots;
}

std::string plot_figure(const std::vector<Series>& series) {
  const FloatEnvironment environment;
  return Plot(series).figure();
}

std::string plot_style() { return style; }

std::string svg(const std::vector<Series>& series) {
  const FloatEnvironment environment;
  if (series.empty()) throw std::invalid_argument("there is nothing to draw: no series");
  const auto plots = group_by_plot(series);
  const std::size_t columns = std::min<std::size_t>(plots.size(), 2);
  std::string panels;
  double y = border;
  for (std::size_t first = 0; first < plots.size(); first += columns) {
    double row = 0;
    for (std::size_t i = first; i < std::min(first + columns, plots.size()); ++i) {
      const auto [panel, panel_height] = Plot(plots[i]).panel(static_cast<double>(i - first) * (width + border), y);
      panels += panel;
      row = std::max(row, panel_height);
    }
    y += row + border;
  }
  const double all = static_cast<double>(columns) * (width + border);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<style>{2}</style>\n<rect class=\"page\" width=\"{0}\" height=\"{1}\"/>\n{3}</svg>\n",
      all, y, style, panels);
}

}  // namespace ozbound
