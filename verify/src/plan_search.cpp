// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/plan_search.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/first_digits.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound {
namespace {

constexpr Index sampled_lines = 4;

std::vector<Plan> plans_by_products() {
  std::vector<SplitPlan> plans;
  for (int a = 1; a <= max_slices; ++a)
    for (int b = 1; b <= max_slices; ++b)
      for (int cut = std::max(a, b) + 1; cut <= a + b; ++cut) plans.push_back(SplitPlan::balanced(a, b, cut));
  std::stable_sort(plans.begin(), plans.end(),
                   [](const SplitPlan& x, const SplitPlan& y) { return x.products() < y.products(); });
  return {plans.begin(), plans.end()};
}

/// For all numbers of moduli, fewest first, all ways to share the most bits that they hold.
std::vector<Plan> plans_by_moduli(const Problem& problem, const Engine& engine) {
  const auto largest = FirstDigitSums(problem.a, problem.b, engine).largest_units;
  std::vector<Plan> plans;
  for (int moduli = 2; moduli <= max_moduli; ++moduli) {
    int bits = 2 * most_residue_bits;
    while (bits >= 2 && !first_digits_held({moduli, bits / 2, bits - bits / 2}, largest)) --bits;
    for (int a = std::max(1, bits - most_residue_bits); a <= std::min(bits - 1, most_residue_bits); ++a)
      plans.emplace_back(ResiduePlan{moduli, a, bits - a});
  }
  return plans;
}

std::set<Index> evenly_spread(Index count) {
  std::set<Index> lines;
  for (Index t = 0; t < sampled_lines && count > 0; ++t) lines.insert(t * (count - 1) / (sampled_lines - 1));
  return lines;
}

/// Some rows of A and columns of B.
Problem part_of(const Problem& problem, const std::set<Index>& rows, const std::set<Index>& columns) {
  const Index k = problem.a.cols();
  Problem part{problem.recipe, {static_cast<Index>(rows.size()), k}, {k, static_cast<Index>(columns.size())}};
  Index row = 0, column = 0;
  for (const Index i : rows) {
    for (Index l = 0; l < k; ++l) part.a(row, l) = problem.a(i, l);
    ++row;
  }
  for (const Index j : columns) {
    for (Index l = 0; l < k; ++l) part.b(l, column) = problem.b(l, j);
    ++column;
  }
  return part;
}

/// A product and its exact values.
class Judged {
 public:
  explicit Judged(Problem problem) : problem_(std::move(problem)), oracle_(problem_) {}
  Judged(const Judged&) = delete;
  Judged& operator=(const Judged&) = delete;

  /// Empty if the plan does not hold the operands.
  [[nodiscard]] std::optional<Verdict> judge(const Plan& plan, const Target& target, const Engine& engine) const {
    Matrix<double> c(problem_.a.rows(), problem_.b.cols());
    const RealProduct product{problem_.a, problem_.b, c};
    if (find_not_held(product, plan, engine)) return std::nullopt;
    multiply_unproven(product, plan, engine);
    return verify(c, oracle_, target);
  }

 private:
  Problem problem_;
  ExactOracle oracle_;
};

/// The first of the plans that holds the operands and meets the target.
std::optional<Plan> first_that_meets(const std::vector<Plan>& plans, const Problem& problem, const Target& target,
                                     const Engine& engine) {
  const Judged whole(problem);
  const CpuEngine one_thread({.threads = 1});  // more threads would only wait for each other
  auto rows = evenly_spread(problem.a.rows());
  auto columns = evenly_spread(problem.b.cols());
  std::optional<Judged> part(std::in_place, part_of(problem, rows, columns));
  for (const auto& plan : plans) {
    if (const auto verdict = part->judge(plan, target, one_thread); !verdict || !verdict->holds()) continue;
    const auto verdict = whole.judge(plan, target, engine);
    if (!verdict) continue;
    if (verdict->holds()) return plan;
    rows.insert(verdict->row);
    columns.insert(verdict->col);
    part.emplace(part_of(problem, rows, columns));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Plan> search_plan(const Problem& problem, const Target& target, const Engine& engine) {
  const FloatEnvironment environment;
  return first_that_meets(plans_by_products(), problem, target, engine);
}

std::optional<Plan> search_residue_plan(const Problem& problem, const Target& target, const Engine& engine) {
  const FloatEnvironment environment;
  return first_that_meets(plans_by_moduli(problem, engine), problem, target, engine);
}

}  // namespace ozbound
