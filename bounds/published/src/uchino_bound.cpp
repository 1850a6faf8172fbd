// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/uchino_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "covered.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using Kind = Encoding::Kind;

constexpr double u = 0x1p-53;

/// True for s x s slices of one encoding and the triangle p + q <= s + 1.
bool triangle(const SplitPlan& plan) { return plan.a == plan.b && plan.cut == plan.a.slices + 1; }

bool nearest(const SplitPlan& plan) {
  return plan.a.encoding.kind == Kind::nearest || plan.a.encoding.kind == Kind::nearest_adaptive;
}
bool released(const SplitPlan& plan) { return plan.a.encoding.kind == Kind::ozimmu; }
bool truncated(const SplitPlan& plan) { return plan.a.encoding.kind == Kind::truncated; }

bool splitting_covered(const SplitPlan& plan) { return triangle(plan) && (truncated(plan) || released(plan) || nearest(plan)); }

/// An upper limit of sum |A_p| |B_q| over |A||B|: sum |A_p| <= |A|, or 3 |A| for digits to nearest.
double magnitude_factor(const SplitPlan& plan) { return nearest(plan) ? 9 : 1; }

/// Error of `count` roundings, each at most u sum |A_p B_q|. Exact, since it multiplies small integers and a power of two.
double roundings(const SplitPlan& plan, int count) {
  const FloatEnvironment environment;
  return magnitude_factor(plan) * count * u;
}

/// k factor 2^(-beta s).
double truncation(const SplitPlan& plan, Index k, double factor) {
  const FloatEnvironment environment;
  const double one = std::ldexp(factor, -plan.a.encoding.beta * plan.a.slices);
  return multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), one);
}

}  // namespace

bool uchino_truncation_covers(const SplitPlan& plan) { return triangle(plan) && (truncated(plan) || nearest(plan)); }

double uchino_truncation_upper(const SplitPlan& plan, Index k) {
  require_covered(uchino_truncation_covers(plan), "uchino-truncation", plan);
  return truncation(plan, k, plan.a.slices + 1);
}

bool uchino_released_truncation_covers(const SplitPlan& plan) { return triangle(plan) && released(plan); }

double uchino_released_truncation_upper(const SplitPlan& plan, Index k) {
  require_covered(uchino_released_truncation_covers(plan), "uchino-released-truncation", plan);
  return truncation(plan, k, 4 * plan.a.slices);
}

bool uchino_accumulation_covers(const SplitPlan& plan) {
  return splitting_covered(plan) && plan.accumulation == Accumulation::per_product;
}

double uchino_accumulation_upper(const SplitPlan& plan) {
  require_covered(uchino_accumulation_covers(plan), "uchino-accumulation", plan);
  return roundings(plan, plan.products() - 1);
}

int uchino_exact_diagonals(int beta, Index k, int precision) {
  const int inner = bit_length(static_cast<std::uint64_t>(std::max<Index>(k, 1))) - 1;  // floor(log2 k)
  return std::max((precision - 2 - inner) / beta - 1, 0);
}

bool uchino_refined_accumulation_covers(const SplitPlan& plan) {
  return splitting_covered(plan) && plan.a.encoding.common_ratio() && plan.accumulation != Accumulation::exact;
}

int uchino_rounded_additions(const SplitPlan& plan, Index k, int precision) {
  require_covered(uchino_refined_accumulation_covers(plan), "uchino-refined-accumulation", plan);
  const int diagonals = uchino_exact_diagonals(plan.a.encoding.beta, k, precision);
  const auto groups = plan.groups(k);
  const auto rounded =
      std::find_if(groups.begin(), groups.end(), [&](const ProductGroup& group) { return group.diagonal > diagonals + 1; });
  // The first term is not an addition.
  return static_cast<int>(groups.end() - std::max(rounded, groups.begin() + 1));
}

double uchino_refined_accumulation_upper(const SplitPlan& plan, Index k) {
  return roundings(plan, uchino_rounded_additions(plan, k));
}

Index uchino_group_size(int beta, Index k) {
  const int inner = bit_length(static_cast<std::uint64_t>(std::max<Index>(k, 1) - 1));  // ceil(log2 k)
  return Index{1} << std::max(31 - 2 * beta - inner, 0);
}

int uchino_group_terms(int slices, Index group_size) {
  Index terms = 0;
  for (Index j = 1; j <= slices; ++j) terms += (j + group_size - 1) / group_size;
  return static_cast<int>(terms);
}

bool uchino_groups_covers(const SplitPlan& plan) {
  return splitting_covered(plan) && plan.a.encoding.common_ratio() && plan.accumulation == Accumulation::per_diagonal;
}

double uchino_groups_upper(const SplitPlan& plan, Index group_size) {
  require_covered(uchino_groups_covers(plan), "uchino-groups", plan);
  return roundings(plan, uchino_group_terms(plan.a.slices, group_size) - 1);
}

}  // namespace ozbound
