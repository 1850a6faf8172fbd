// SPDX-License-Identifier: BSD-3-Clause
#include "combination.hpp"

#include <variant>

#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound::gpu {
namespace {

SumLayout layout_of(const Plan& plan, Index k) {
  return plan.visit([k](const SplitPlan& slices) { return sum_layout(slices, k); },
                    [](const ResiduePlan& residues) { return residue_layout(residues); });
}

Encoding encoding_of(const Plan& plan, Side side) {
  const auto form = plan.form(side);
  const auto* const slicing = std::get_if<Slicing>(&form);
  return slicing == nullptr ? Encoding::balanced() : slicing->encoding;
}

}  // namespace

std::vector<ProductGroup> groups_of(const Plan& plan, Index k) {
  return plan.visit([k](const SplitPlan& slices) { return slices.groups(k); },
                    [](const ResiduePlan& residues) { return residue_products(residues.moduli); });
}

Combination::Combination(const Plan& plan, Index k)
    : layout(layout_of(plan, k)),
      groups(groups_of(plan, k)),
      encoding_a(encoding_of(plan, Side::rows_of_a)),
      encoding_b(encoding_of(plan, Side::columns_of_b)) {}

}  // namespace ozbound::gpu
