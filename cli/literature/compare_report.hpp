// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ozbound/verify/literature/selector_comparison.hpp"
#include "ozbound/verify/plot/plot.hpp"

namespace ozbound::cli {

/// A comparison of selectors: what was asked for and what came of it.
struct Comparison {
  ComparisonGrid grid;
  std::vector<Selector> selectors;
  std::vector<ComparedCase> cases;
  std::string command;  ///< that reproduces it
  std::string figure;   ///< where the page finds the plots; empty for none
};

/// One row for each selector, over dense and over hard families, in lines of this width.
std::string comparison_summary(const Comparison& comparison, std::size_t width);

/// The verdicts on certified targets that were missed; empty where there are none, as it must be.
std::string broken_certificates(const Comparison& comparison);

/// One row for each case and selector.
std::string comparison_cases(const Comparison& comparison, std::size_t width);

/// All of it, schema `ozbound-compare-1` of docs/records.md.
nlohmann::ordered_json comparison_json(const Comparison& comparison);

/// Products over the fewest, and the largest error over the target, each sorted over the cases, a curve for each selector.
std::vector<Series> comparison_plots(const Comparison& comparison);

/// The page docs/selectors.md: summary, families, and for each selector where it is unsafe, gives up, wastes and is best.
std::string comparison_markdown(const Comparison& comparison);

}  // namespace ozbound::cli
