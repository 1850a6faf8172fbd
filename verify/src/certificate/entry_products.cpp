// SPDX-License-Identifier: BSD-3-Clause
#include "entry_products.hpp"

#include <fmt/format.h>

#include "../reference/plan_arithmetic.hpp"

namespace ozbound::checking {

Sliced::Sliced(const reference::SlicePlan& p, const Operands& operands)
    : plan(p),
      groups(p.groups(operands.a.cols())),
      a(operands.a, p.a),
      b(operands.b.transposed(), p.b),
      bound(plan_bound(p, a, b)) {}

ExactNumber Sliced::sum(Index i, Index j) const {
  return reference::accumulated(plan.accumulation, reference::weights_of(groups, a.sliced, b.sliced, i, j),
                                reference::sums_of(groups, a.sliced, b.sliced, i, j));
}

Rounded::Rounded(const reference::ResiduePlan& p, const Operands& operands)
    : plan(p), a(operands.a, p.bits_a), b(operands.b.transposed(), p.bits_b) {
  const Counted counted_a(operands.a, level_one_digits), counted_b(operands.b.transposed(), level_one_digits);
  bound = residue_bound(counted_a, a, counted_b, b);
  if (const auto entry = find_not_held(p, counted_a, a, counted_b, b))
    not_held = fmt::format("{} is not sure to hold entry ({}, {})", reference::to_string(p), entry->first, entry->second);
}

ExactNumber Rounded::sum(Index i, Index j) const {
  return {reference::integer_dot(a.integers(i), b.integers(j), a.inner(), false), -plan.bits_a - plan.bits_b};
}

namespace {

std::variant<Sliced, Rounded> made(const reference::Plan& plan, const Operands& operands) {
  if (const auto* const slices = std::get_if<reference::SlicePlan>(&plan)) return Sliced(*slices, operands);
  return Rounded(std::get<reference::ResiduePlan>(plan), operands);
}

}  // namespace

Planned::Planned(const reference::Plan& plan, const Operands& operands) : made_(made(plan, operands)) {}

const RelativeBound& Planned::bound() const {
  return std::visit([](const auto& kind) -> const RelativeBound& { return kind.bound; }, made_);
}

ExactNumber Planned::sum(Index i, Index j) const {
  auto sum = std::visit([&](const auto& kind) { return kind.sum(i, j); }, made_);
  sum.exponent += bound().scale(i, j);
  return sum;
}

const std::string& Planned::not_held() const {
  static const std::string nothing;
  const auto* const rounded = std::get_if<Rounded>(&made_);
  return rounded == nullptr ? nothing : rounded->not_held;
}

bool Planned::holds(Index i, Index j) const {
  const auto* const rounded = std::get_if<Rounded>(&made_);
  if (rounded == nullptr) return true;
  const auto& [plan, a, b, bound, not_held] = *rounded;
  return reference::integer_dot(a.integers(i), b.integers(j), a.inner(), true) <= reference::largest_told(plan.moduli);
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

ExactNumber EntryProducts::sum_with_scalars(std::size_t t, Index i) {
  const auto& operands = subject_.operands;
  ExactNumber total;
  if (operands.a.cols() > 0)
    for (const auto& [alpha, row] : product_terms(operands, i)) total = total + ozbound::exact(alpha) * sum(t, row);
  for (const auto& [beta, row] : c0_terms(operands, i))
    total = total + ozbound::exact(beta) * ozbound::exact(operands.c0(row, j_));
  return total;
}

}  // namespace ozbound::checking
