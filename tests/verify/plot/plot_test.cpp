// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/plot/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/verify/plot/markup.hpp"
#include "support/xml.hpp"

// Plots in pages and as files.

namespace ozbound::plot_test {
namespace {

using test::attribute;
using test::elements;
using test::parse;
using test::ptree;
using test::text;
using test::texts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();

Series series(const std::string& label, std::vector<std::pair<double, double>> points, bool log_x = false, bool log_y = false) {
  return {.plot = "errors",
          .label = label,
          .x_axis = "n",
          .y_axis = "f",
          .log_x = log_x,
          .log_y = log_y,
          .points = std::move(points)};
}

/// The points of a line as (x, y) pairs.
std::vector<std::pair<double, double>> line(const ptree& figure, std::size_t index = 0) {
  auto all = attribute(*elements(figure, "polyline").at(index), "points");
  std::replace(all.begin(), all.end(), ',', ' ');
  std::istringstream in(all);
  std::vector<std::pair<double, double>> points;
  for (double x = 0, y = 0; in >> x >> y;) points.emplace_back(x, y);
  return points;
}

/// The labels of ticks in order: those of the axis below, those of the axis at the left, then the two titles.
std::vector<std::string> axis_texts(const ptree& figure) { return texts(figure, "text"); }

TEST(Markup, EscapesWhatXmlWouldRead) {
  EXPECT_EQ(markup::escape(R"(a<b & "c">d')"), "a&lt;b &amp; &quot;c&quot;&gt;d'");
  EXPECT_EQ(markup::escape("β ≤ 1\n\t"), "β ≤ 1\n\t");
}

TEST(Markup, ReplacesWhatXmlCannotHold) {
  EXPECT_EQ(markup::escape(std::string("a\0b\x1b[31m\x7f", 9)),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd[31m\xef\xbf\xbd");
  EXPECT_EQ(markup::escape("\xff|\xc3"), "\xef\xbf\xbd|\xef\xbf\xbd");
}

TEST(Plot, PutsPointsOnLinearAxes) {
  const auto figure = parse(plot_figure({series("one", {{0, 0}, {5, 50}, {10, 100}})}));
  const auto points = line(figure);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_NEAR(2 * points[1].first, points[0].first + points[2].first, 0.2);
  EXPECT_NEAR(2 * points[1].second, points[0].second + points[2].second, 0.2);
  EXPECT_LT(points[0].first, points[2].first);
  EXPECT_GT(points[0].second, points[2].second);  // upwards is towards 0
  EXPECT_THAT(axis_texts(figure), ElementsAre("0", "2", "4", "6", "8", "10", "0", "20", "40", "60", "80", "100", "n", "f"));
  EXPECT_THAT(texts(figure, "figcaption"), ElementsAre("errors"));
}

TEST(Plot, PutsPointsOnLogarithmicAxes) {
  const auto figure = parse(plot_figure({series("one", {{16, 1e-16}, {128, 1e-8}, {1024, 1}}, true, true)}));
  const auto points = line(figure);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_NEAR(2 * points[1].first, points[0].first + points[2].first, 0.2);
  EXPECT_NEAR(2 * points[1].second, points[0].second + points[2].second, 0.2);
  EXPECT_THAT(axis_texts(figure),
              ElementsAre("20", "50", "100", "200", "500", "1000", "1e-15", "1e-12", "1e-9", "1e-6", "1e-3", "1e0", "n", "f"));
}

TEST(Plot, OneIsNoNegativePower) {
  const auto figure = parse(plot_figure({series("one", {{0.7, 1}, {1e5, 1}}, true)}));
  EXPECT_THAT(axis_texts(figure), testing::Contains("1e0"));
}

TEST(Plot, NarrowRangesHaveTicksToo) {
  for (const auto& [low, high] : {std::pair{1.0, 1.5}, {3.0, 3.0}, {3.0, 3.0000000000001}, {1e300, 1.01e300}, {9.0, 11.0}}) {
    for (const bool log : {false, true}) {
      const auto figure = parse(plot_figure({series("one", {{low, low}, {high, high}}, log, log)}));
      EXPECT_GE(axis_texts(figure).size(), 2 * 2 + 2U) << low << " to " << high << (log ? " logarithmic" : "");
      EXPECT_LE(axis_texts(figure).size(), 2 * 9 + 2U) << low << " to " << high << (log ? " logarithmic" : "");
    }
  }
}

/// Wide labels are beside the title, which is as high as a line of text; a character is assumed to be 8.6 wide.
TEST(Plot, WideLabelsAreBesideTheTitle) {
  for (const double unit : {1.0, 1e-300, 1e7}) {
    const auto figure = parse(plot_figure({series("one", {{0, 0.123 * unit}, {1, 0.1237 * unit}})}));
    for (const auto* element : elements(figure, "text")) {
      if (element->get<std::string>("<xmlattr>.text-anchor", "") != "end") continue;
      const double label_left = std::stod(attribute(*element, "x")) - 8.6 * static_cast<double>(text(*element).size());
      EXPECT_GE(label_left, 24) << text(*element);
    }
    for (const auto& [x, y] : line(figure)) EXPECT_TRUE(x > 78 && x < 624) << x;
  }
}

TEST(Plot, TheLargestNumbersHavePlaces) {
  constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
  const auto linear = parse(plot_figure({series("one", {{-largest, 0}, {largest, 1}})}));
  const auto logarithmic = parse(plot_figure({series("one", {{smallest, 0}, {largest, 1}}, true)}));
  for (const auto* figure : {&linear, &logarithmic})
    for (const auto& [x, y] : line(*figure)) {
      EXPECT_TRUE(x > 78 && x < 624) << x;
      EXPECT_TRUE(y > 14 && y < 326) << y;
    }
}

TEST(Plot, WhatHasNoPlaceIsListed) {
  const auto figure = parse(plot_figure({series(
      "a<b", {{1, 0}, {2, infinity}, {4, 1e-3}, {8, std::numeric_limits<double>::quiet_NaN()}, {16, -2}}, true, true)}));
  EXPECT_EQ(line(figure).size(), 1U);
  EXPECT_THAT(texts(figure, "p"), ElementsAre("Not on these axes: a<b (1, 0); a<b (2, inf); a<b (8, nan); a<b (16, -2)"));
  EXPECT_EQ(elements(parse(plot_figure({series("one", {{1, 0}})})), "p").size(), 0U);
}

TEST(Plot, NothingToDraw) {
  const auto figure = parse(plot_figure({series("none", {}), series("nowhere", {{infinity, 1}})}));
  EXPECT_EQ(line(figure, 0).size(), 0U);
  EXPECT_EQ(line(figure, 1).size(), 0U);
  EXPECT_THAT(texts(figure, "li"), ElementsAre(" none", " nowhere"));
}

TEST(Plot, SeriesAreToldApart) {
  std::vector<Series> many;
  for (int i = 0; i < 9; ++i) many.push_back(series("s" + std::to_string(i), {{1, i}, {2, i}}));
  const auto figure = parse(plot_figure(many));
  std::set<std::string> classes;
  for (const auto* group : elements(figure, "g")) classes.insert(attribute(*group, "class"));
  EXPECT_EQ(classes.size(), 2 * 9 + 1U);  // series, their keys in the legend, and the axes
  EXPECT_THAT(texts(figure, "li"), ElementsAre(" s0", " s1", " s2", " s3", " s4", " s5", " s6", " s7", " s8"));
}

TEST(Plot, SeriesOfOneTitleShareAPlot) {
  auto other = series("b", {});
  other.plot = "growth";
  const auto plots = group_by_plot({series("a", {}), other, series("c", {})});
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[0].size(), 2U);
  EXPECT_EQ(plots[0][1].label, "c");
  EXPECT_EQ(plots[1][0].label, "b");
}

std::vector<Series> measured_and_bound() {
  auto claimed = series("a bound", {{1, 1e-3}, {2, 1e-2}}, false, true);
  claimed.bound = true;
  return {series("measured", {{1, 1e-4}, {2, 1e-3}}, false, true), claimed};
}

TEST(Plot, BoundsAreDashedAndBearNoMarks) {
  const auto figure = parse(plot_figure(measured_and_bound()));
  EXPECT_EQ(elements(figure, "circle").size(), 2U + 1U);  // at the points and in the legend
  EXPECT_EQ(elements(figure, "rect").size(), 1U);         // only the frame: no mark of the second series
  EXPECT_THAT(plot_figure(measured_and_bound()), HasSubstr("class=\"series c1 bound\">"));
}

TEST(Plot, AFileNeedsNothingElse) {
  const auto file = svg(measured_and_bound());
  const auto tree = parse(file);
  EXPECT_EQ(attribute(tree.get_child("svg"), "xmlns"), "http://www.w3.org/2000/svg");
  for (const auto* elsewhere : {"href", "url(", "@import", "var("}) EXPECT_THAT(file, Not(HasSubstr(elsewhere)));
  EXPECT_THAT(text(*elements(tree, "style").at(0)), HasSubstr(".c1 { color:"));
  EXPECT_EQ(attribute(*elements(tree, "rect").at(0), "class"), "page");  // a background, so that no page shines through
  EXPECT_THAT(axis_texts(tree), testing::IsSupersetOf({"errors", "n", "f", "0.001", "measured", "a bound"}));
  EXPECT_EQ(elements(tree, "figure").size(), 0U);
}

double number_of(const ptree& element, const std::string& name) { return std::stod(attribute(element, name)); }

TEST(Plot, AFileHoldsAllItsPlots) {
  std::vector<Series> many;
  for (int plot = 0; plot < 3; ++plot)
    for (int i = 0; i < 12; ++i) {
      many.push_back(series("a series with a long name, number " + std::to_string(i), {{1, i}, {2, i}, {3, infinity}}));
      many.back().plot = "plot " + std::to_string(plot);
    }
  const auto tree = parse(svg(many));
  const auto& root = tree.get_child("svg");
  std::set<std::string> places;
  double lowest = 0;
  for (const auto* group : elements(root, "g"))
    if (attribute(*group, "class", "") == "panel") places.insert(attribute(*group, "transform"));
  EXPECT_THAT(places, testing::SizeIs(3));
  for (const auto* words : elements(root, "text"))
    if (attribute(*words, "class", "") == "left-out") lowest = std::max(lowest, number_of(*words, "y"));
  EXPECT_GT(lowest, 380 + 12 * 24);                       // below the drawing and a legend of a line for each,
  EXPECT_GT(number_of(root, "height"), 2 * lowest + 30);  // in two rows, within the file
  EXPECT_EQ(number_of(root, "width"), 2 * (640 + 16));
  EXPECT_EQ(texts(tree, "text").size() % 3, 0U);
}

TEST(Plot, AFileOfNothingIsRefused) { EXPECT_THROW(svg({}), std::invalid_argument); }

}  // namespace
}  // namespace ozbound::plot_test
