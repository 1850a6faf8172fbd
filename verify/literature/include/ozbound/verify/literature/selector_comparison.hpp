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

/// Which problems selectors are compared on: every combination, phi where the family takes one. C is n x n, A is n x k. The
/// problems of a family have seeds one after the other, so that `sparse` shows all of its patterns.
///
/// `cancellation` is A times its computed inverse, m = n = k, and left out where k is above `largest_square`: for other
/// shapes the family repeats half of the inner dimension with the opposite sign, and one product cancels whatever it omits.
struct ComparisonGrid {
  static constexpr Index largest_square = 256;

  std::vector<Family> families;
  std::vector<double> phis;
  std::vector<Index> inner;     ///< k
  std::vector<Target> targets;  ///< componentwise or dgemm
  Index n = 32;
  std::uint64_t seed = 0;
};

/// What a selector made of one problem and target.
struct SelectorOutcome {
  const Selector* selector = nullptr;
  std::optional<Plan> plan;  ///< none: it gave the product away
  bool certified = false;
  double ratio = 0;         ///< the largest error over what the target allows, by the exact oracle; 0 without a plan
  double seconds = 0;       ///< of selecting
  std::string explanation;  ///< of the verdict, where a certified target was missed

  [[nodiscard]] int products() const { return plan ? plan->products() : 0; }
  [[nodiscard]] bool misses() const { return plan && !(ratio <= 1); }
};

/// The plan of the fewest products that meets a target by the exact oracle, and how long that product takes.
struct FewestProducts {
  std::optional<Plan> plan;
  double seconds = 0;
};

struct ComparedCase {
  Recipe recipe;
  bool wide = false;  ///< phi matters
  Target target;
  FewestProducts slices;    ///< of balanced digits
  FewestProducts residues;  ///< their number is that of moduli
  std::vector<SelectorOutcome> outcomes;

  /// The fewest products of the scheme, slices or residues, that a selector chooses for.
  [[nodiscard]] const FewestProducts& fewest(const Selector& selector) const {
    return selector.by_residues ? residues : slices;
  }
  /// (products - fewest) / fewest; nothing where either is missing, or the target was missed.
  [[nodiscard]] std::optional<double> overshoot(const SelectorOutcome& outcome) const;
};

/// The problems of a grid, in the order of the report. @throws std::invalid_argument naming an empty list or a bad size.
std::vector<Recipe> comparison_recipes(const ComparisonGrid& grid);

/// Runs every selector on every problem and target of a grid, with every product judged by the exact oracle.
/// @param progress called with the share that is done.
std::vector<ComparedCase> compare_selectors(const ComparisonGrid& grid, std::span<const Selector> selectors,
                                            const Engine& engine, const std::function<void(double)>& progress = {});

/// One selector over many cases: those that some plan of its scheme, up to 20 x 20 slices or 20 moduli, meets, or for which it
/// chose one.
struct SelectorSummary {
  Index cases = 0;
  Index plans = 0;                    ///< it chose one
  Index certified = 0;                ///< and proved the target
  Index missed = 0;                   ///< the product misses the target
  std::optional<double> worst_ratio;  ///< of the plans it chose
  std::optional<double> median_products;
  std::optional<double> median_overshoot, overshoot_90,
      largest_overshoot;              ///< 90: the least that 90 % of the cases do not pass
  std::optional<double> median_cost;  ///< time of selecting over that of the product with the fewest
};

/// A summary of outcome `index` of every case that `wanted` accepts.
SelectorSummary summarize(std::span<const ComparedCase> cases, std::size_t index,
                          const std::function<bool(const ComparedCase&)>& wanted = {});

}  // namespace ozbound
