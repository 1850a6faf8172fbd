// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ozbound/bounds/published/selector.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound {

/// The problems on which selectors are compared: every combination of the members, with phi only for families that use it. C is
/// n x n, A is n x k. The problems of a family have consecutive seeds, so that `sparse` shows all of its patterns.
///
/// `cancellation` is A times its computed inverse, m = n = k, and is omitted if k is above `largest_square`. For other shapes
/// the family repeats half of the inner dimension with the opposite sign, and a single product cancels everything it omits.
struct ComparisonGrid {
  static constexpr Index largest_square = 256;

  std::vector<Family> families;
  std::vector<double> phis;
  std::vector<Index> inner;     ///< k
  std::vector<Target> targets;  ///< componentwise or dgemm
  Index n = 32;
  std::uint64_t seed = 0;
};

/// The result of a selector for one problem and target.
struct SelectorOutcome {
  const Selector* selector = nullptr;
  std::optional<Plan> plan;  ///< empty: the selector gave up the product
  bool certified = false;
  double ratio = 0;         ///< the largest error over the target's allowance, by the exact oracle; 0 without a plan
  double seconds = 0;       ///< time of selecting
  std::string explanation;  ///< of the verdict, if a certified target was missed

  [[nodiscard]] int products() const { return plan ? plan->products() : 0; }
  [[nodiscard]] bool misses() const { return plan && !(ratio <= 1); }
};

/// The plan with the fewest products that meets a target by the exact oracle, and the time of that product.
struct FewestProducts {
  std::optional<Plan> plan;
  double seconds = 0;
};

struct ComparedCase {
  Recipe recipe;
  bool wide = false;  ///< true if phi matters
  Target target;
  FewestProducts slices;    ///< with balanced digits
  FewestProducts residues;  ///< counts moduli as products
  std::vector<SelectorOutcome> outcomes;

  /// The fewest products of the selector's scheme, slices or residues.
  [[nodiscard]] const FewestProducts& fewest(const Selector& selector) const {
    return selector.by_residues ? residues : slices;
  }
  /// (products - fewest) / fewest. Empty if either is missing, or the target was missed.
  [[nodiscard]] std::optional<double> overshoot(const SelectorOutcome& outcome) const;
};

/// The problems of a grid, in the order of the report. @throws std::invalid_argument naming an empty list or a bad size.
std::vector<Recipe> comparison_recipes(const ComparisonGrid& grid);

/// Runs every selector on every problem and target of a grid. The exact oracle judges every product.
/// @param progress called with the share done.
std::vector<ComparedCase> compare_selectors(const ComparisonGrid& grid, std::span<const Selector> selectors,
                                            const Engine& engine, const std::function<void(double)>& progress = {});

/// One selector over many cases. Counts the cases that some plan of its scheme, up to 20 x 20 slices or 20 moduli, meets, and
/// the cases for which it chose a plan.
struct SelectorSummary {
  Index cases = 0;
  Index plans = 0;                    ///< cases in which it chose a plan
  Index certified = 0;                ///< of these, cases in which it proved the target
  Index missed = 0;                   ///< of these, cases in which the product misses the target
  std::optional<double> worst_ratio;  ///< of the chosen plans
  std::optional<double> median_products;
  std::optional<double> median_overshoot, overshoot_90,
      largest_overshoot;              ///< with 90: the smallest value that 90 % of the cases do not exceed
  std::optional<double> median_cost;  ///< time of selecting over the time of the product with the fewest slices or moduli
};

/// Summarizes outcome `index` of every case that `wanted` accepts.
SelectorSummary summarize(std::span<const ComparedCase> cases, std::size_t index,
                          const std::function<bool(const ComparedCase&)>& wanted = {});

}  // namespace ozbound
