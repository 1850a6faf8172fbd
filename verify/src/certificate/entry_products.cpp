// SPDX-License-Identifier: BSD-3-Clause
#include "entry_products.hpp"

#include "../reference/plan_arithmetic.hpp"

namespace ozbound::checking {

Sliced::Sliced(const reference::Plan& p, const Operands& operands)
    : plan(p),
      groups(p.groups(operands.a.cols())),
      a(operands.a, p.a),
      b(operands.b.transposed(), p.b),
      bound(plan_bound(p, a, b)) {}

ExactNumber Sliced::sum(Index i, Index j) const {
  auto sum = reference::accumulated(plan.accumulation, reference::weights_of(groups, a.sliced, b.sliced, i, j),
                                    reference::sums_of(groups, a.sliced, b.sliced, i, j));
  sum.exponent += bound.scale(i, j);
  return sum;
}

EntryProducts::EntryProducts(const ExactOracle& oracle, const std::vector<Sliced>& plans, Index j)
    : oracle_(oracle), plans_(plans), j_(j), sums_(plans.size()) {}

const ExactNumber& EntryProducts::exact(Index row) {
  auto& known = exact_[parity(row)];
  if (known) return *known;
  const auto sums = oracle_.dot(row, j_);
  return known.emplace(ExactNumber{from_limbs(sums.positive) - from_limbs(sums.negative), sums.exponent});
}

const ExactNumber& EntryProducts::sum(std::size_t t, Index row) {
  auto& known = sums_[t][parity(row)];
  return known ? *known : known.emplace(plans_[t].sum(row, j_));
}

}  // namespace ozbound::checking
