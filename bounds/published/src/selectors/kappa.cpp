// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>
#include <vector>

#include "ozbound/bounds/published/abdelfattah_bound.hpp"
#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

/// All pairs (s_A, s_B), fewest products first.
std::vector<std::pair<int, int>> slice_counts() {
  std::vector<std::pair<int, int>> counts;
  for (int a = 1; a <= max_slices; ++a)
    for (int b = 1; b <= max_slices; ++b) counts.emplace_back(a, b);
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& x, const auto& y) { return x.first * x.second < y.first * y.second; });
  return counts;
}

}  // namespace

Selection select_by_kappa(InputView a, InputView b, const Target& target, const Engine&) {
  const auto kappa_a = kappa_upper(a, Side::rows_of_a), kappa_b = kappa_upper(b, Side::columns_of_b);
  const double allowed = tau_before_rounding(target, a.cols());
  for (const auto& [slices_a, slices_b] : slice_counts()) {
    const auto plan = find_scheme("abdelfattah").plan(slices_a, slices_b, a.cols());
    if (abdelfattah_upper(plan, kappa_a, kappa_b) <= allowed) return {plan, true};
  }
  return {};
}

}  // namespace ozbound
