// SPDX-License-Identifier: BSD-3-Clause
#include "entry_products.hpp"

#include "../reference/plan_arithmetic.hpp"

namespace ozbound::checking {

Planned::Planned(const reference::Plan& p, const Operands& operands)
    : plan(p),
      groups(p.groups(operands.a.cols())),
      a(operands.a, p.a),
      b(operands.b.transposed(), p.b),
      bound(plan_bound(p, a, b)) {}

ExactNumber Planned::sum(Index i, Index j) const {
  auto sum = reference::accumulated(plan.accumulation, reference::weights_of(groups, a.sliced, b.sliced, i, j),
                                    reference::sums_of(groups, a.sliced, b.sliced, i, j));
  sum.exponent += bound.scale(i, j);
  return sum;
}

EntryProducts::EntryProducts(const Subject& subject, const std::vector<Planned>& plans, Index j)
    : subject_(subject), plans_(plans), j_(j), sums_(plans.size()) {}

const ExactNumber& EntryProducts::exact(Index row) {
  auto& known = exact_[parity(row)];
  if (known) return *known;
  const auto sums = subject_.oracle.dot(row, j_);
  return known.emplace(ExactNumber{from_limbs(sums.positive) - from_limbs(sums.negative), sums.exponent});
}

const ExactNumber& EntryProducts::sum(std::size_t t, Index row) {
  auto& known = sums_[t][parity(row)];
  return known ? *known : known.emplace(plans_[t].sum(row, j_));
}

ExactNumber EntryProducts::scaled_sum(std::size_t t, Index i) {
  const auto& operands = subject_.operands;
  ExactNumber total;
  if (operands.a.cols() > 0)
    for (const auto& [alpha, row] : product_terms(operands, i)) total = total + ozbound::exact(alpha) * sum(t, row);
  for (const auto& [beta, row] : c0_terms(operands, i))
    total = total + ozbound::exact(beta) * ozbound::exact(operands.c0(row, j_));
  return total;
}

}  // namespace ozbound::checking
