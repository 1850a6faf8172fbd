// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ozbound/verify/literature/selector_comparison.hpp"
#include "ozbound/verify/plot/plot.hpp"

namespace ozbound::cli {

/// A comparison of selectors: the request and the results.
struct Comparison {
  ComparisonGrid grid;
  std::vector<Selector> selectors;
  std::vector<ComparedCase> cases;
  std::string command;  ///< the command that reproduces the comparison
  std::string figure;   ///< the path of the plots for the page; empty for none
};

/// One row for each selector, over dense and over hard families, in lines of this width.
std::string comparison_summary(const Comparison& comparison, std::size_t width);

/// The verdicts on missed certified targets; must be empty.
std::string broken_certificates(const Comparison& comparison);

/// One row for each case and selector.
std::string comparison_cases(const Comparison& comparison, std::size_t width);

/// The whole comparison, schema `ozbound-compare-1` of docs/records.md.
nlohmann::ordered_json comparison_json(const Comparison& comparison);

/// Two plots with a curve for each selector: products over the fewest, and the largest error over the target, each sorted over
/// the cases.
std::vector<Series> comparison_plots(const Comparison& comparison);

/// The page docs/selectors.md: summary, families, and for each selector the cases in which it is unsafe, gives up, wastes
/// products or is best.
std::string comparison_markdown(const Comparison& comparison);

}  // namespace ozbound::cli
