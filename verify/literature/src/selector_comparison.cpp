// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/selector_comparison.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/plan_search.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Matrix<double> product_of(const Problem& problem, const Plan& plan, const Engine& engine) {
  Matrix<double> c(problem.a.rows(), problem.b.cols());
  multiply_unproven(RealProduct{problem.a, problem.b, c}, plan, engine);
  return c;
}

SelectorOutcome outcome_of(const Selector& selector, const Problem& problem, const Oracle& oracle, const Target& target,
                           const Engine& engine) {
  SelectorOutcome outcome{&selector, {}, false, 0, 0, {}};
  outcome.seconds = seconds_of([&] {
    const auto selection = selector.select(problem.a, problem.b, target, engine);
    outcome.plan = selection.plan;
    outcome.certified = selection.certified;
  });
  if (!outcome.plan) return outcome;
  const auto verdict = verify(product_of(problem, *outcome.plan, engine), oracle, target,
                              {.reproduction = generate_command(problem.recipe) + "; " + to_string(*outcome.plan)});
  outcome.ratio = verdict.ratio;
  if (outcome.certified && outcome.misses()) outcome.explanation = explain(verdict);
  return outcome;
}

ComparedCase compared(const Problem& problem, const Oracle& oracle, const Target& target, std::span<const Selector> selectors,
                      const Engine& engine) {
  ComparedCase one{problem.recipe, phi_matters(problem.recipe.family), target, {}, {}, {}};
  one.slices.plan = search_plan(problem, target, engine);
  one.residues.plan = search_residue_plan(problem, target, engine);
  for (auto* fewest : {&one.slices, &one.residues})
    if (fewest->plan) fewest->seconds = seconds_of([&] { product_of(problem, *fewest->plan, engine); });
  for (const auto& selector : selectors) one.outcomes.push_back(outcome_of(selector, problem, oracle, target, engine));
  return one;
}

void check(const ComparisonGrid& grid) {
  if (grid.n < 1) throw std::invalid_argument("n must be positive: " + std::to_string(grid.n));
  if (grid.families.empty()) throw std::invalid_argument("no family to compare on");
  if (grid.phis.empty()) throw std::invalid_argument("no phi to compare on");
  if (grid.inner.empty()) throw std::invalid_argument("no inner dimension to compare on");
  if (grid.targets.empty()) throw std::invalid_argument("no target to compare on");
}

/// The smallest value that this share of the values does not exceed; empty if there are no values.
std::optional<double> quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

std::optional<double> ComparedCase::overshoot(const SelectorOutcome& outcome) const {
  const FloatEnvironment environment;
  if (!outcome.plan || outcome.misses()) return std::nullopt;
  const auto& least = fewest(*outcome.selector).plan;
  if (!least) return std::nullopt;
  return static_cast<double>(outcome.products() - least->products()) / least->products();
}

std::vector<Recipe> comparison_recipes(const ComparisonGrid& grid) {
  const FloatEnvironment environment;
  check(grid);
  std::vector<Recipe> recipes;
  for (const auto family : grid.families) {
    const bool wide = phi_matters(family), square = family == Family::cancellation;
    auto seed = grid.seed;
    for (const Index k : grid.inner) {
      if (square && k > ComparisonGrid::largest_square) continue;
      const Index n = square ? k : grid.n;
      for (const double phi : wide ? grid.phis : std::vector<double>{0}) recipes.push_back({family, n, n, k, phi, seed++});
    }
  }
  return recipes;
}

std::vector<ComparedCase> compare_selectors(const ComparisonGrid& grid, std::span<const Selector> selectors,
                                            const Engine& engine, const std::function<void(double)>& progress) {
  const FloatEnvironment environment;
  const auto recipes = comparison_recipes(grid);
  std::vector<ComparedCase> cases;
  const auto all = static_cast<double>(recipes.size() * grid.targets.size());
  for (const auto& recipe : recipes) {
    const auto problem = generate(recipe);
    const ExactOracle oracle(problem);
    for (const auto& target : grid.targets) {
      cases.push_back(compared(problem, oracle, target, selectors, engine));
      if (progress) progress(static_cast<double>(cases.size()) / all);
    }
  }
  return cases;
}

SelectorSummary summarize(std::span<const ComparedCase> cases, std::size_t index,
                          const std::function<bool(const ComparedCase&)>& wanted) {
  const FloatEnvironment environment;
  SelectorSummary sum;
  std::vector<double> ratios, products, overshoots, costs;
  for (const auto& one : cases) {
    const auto& outcome = one.outcomes.at(index);
    const auto& fewest = one.fewest(*outcome.selector);
    if ((wanted && !wanted(one)) || (!fewest.plan && !outcome.plan)) continue;
    ++sum.cases;
    if (fewest.plan) costs.push_back(outcome.seconds / fewest.seconds);
    if (!outcome.plan) continue;
    ++sum.plans;
    sum.certified += Index{outcome.certified};
    sum.missed += Index{outcome.misses()};
    ratios.push_back(outcome.ratio);
    products.push_back(outcome.products());
    if (const auto overshoot = one.overshoot(outcome)) overshoots.push_back(*overshoot);
  }
  sum.worst_ratio = quantile(ratios, 1);
  sum.median_products = quantile(products, 0.5);
  sum.median_overshoot = quantile(overshoots, 0.5);
  sum.overshoot_90 = quantile(overshoots, 0.9);
  sum.largest_overshoot = quantile(overshoots, 1);
  sum.median_cost = quantile(costs, 0.5);
  return sum;
}

}  // namespace ozbound
