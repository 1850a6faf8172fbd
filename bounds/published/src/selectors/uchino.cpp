// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/bounds/published/uchino_bound.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

/// A lower bound of the smallest (|A||B|)_ij over rho_i sigma_j = 4 g_i f_j, over the entries that are not exactly zero.
double least_entry_lower(InputView a, InputView b, const Engine& engine) {
  const auto enclosure = enclose_product(a, b, engine);
  double least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < enclosure.lower.rows(); ++i)
    for (Index j = 0; j < enclosure.lower.cols(); ++j)
      if (enclosure.upper(i, j) > 0) least = std::min(least, enclosure.lower(i, j));
  return least;
}

}  // namespace

Selection select_by_uchino(InputView a, InputView b, const Target& target, const Engine& engine) {
  const double least = least_entry_lower(a, b, engine);
  if (least == 0) return {};
  const double allowed = tau_before_rounding(target, a.cols());
  for (int s = 1; s <= max_slices; ++s) {
    const auto plan = find_scheme("ozimmu-ef").plan(s, s, a.cols());
    const double truncation = divide_upper(uchino_truncation_upper(plan, a.cols()), least);
    const double rounding = uchino_groups_upper(plan, plan.error_free_pairs(a.cols()));
    if (add_upper(truncation, rounding) <= allowed) return {plan, true};
  }
  return {};
}

}  // namespace ozbound
