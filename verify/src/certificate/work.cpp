// SPDX-License-Identifier: BSD-3-Clause
#include "work.hpp"

#include <algorithm>

namespace ozbound::checking {
namespace {

constexpr double small_work = 0x1p31;
constexpr double products_allowed = 10;
constexpr Index fewest_entries = 1000, most_entries = 1 << 20;

/// The work of a plan: INT8 products; the check's work for each element, for each entry's bound and for each entry's guard; and
/// its work for each of the k terms of an examined entry.
struct PlanWork {
  explicit PlanWork(const reference::SlicePlan& plan)
      : element(100 + 20 * (plan.a.slices + plan.b.slices)), bound(20 * (plan.a.slices + 2)) {
    for (int p = 1; p <= plan.a.slices; ++p) products += std::clamp(plan.cut - p, 0, plan.b.slices);
    term = products / 8;
  }
  explicit PlanWork(const reference::ResiduePlan& plan)
      : products(plan.moduli), element(300), bound(300), guard(700), term(16) {}

  static PlanWork of(const Plan& plan) {
    return std::visit([](const auto& kind) { return PlanWork(kind); }, plan.plan);
  }

  double products = 0, element = 0, bound = 0, guard = 0, term = 0;
};

/// Sizes of the real product, as real numbers, because sizes of a forged certificate may have products beyond 2^63.
struct Sizes {
  explicit Sizes(const Claims& claims)
      : parts(claims.complex ? 2 : 1),
        rows(parts * static_cast<double>(claims.m)),
        cols(static_cast<double>(claims.n)),
        entries(rows * cols),
        inner(parts * static_cast<double>(claims.k)),
        elements((rows + cols) * inner) {}

  double parts, rows, cols, entries, inner, elements;
};

/// The work of C itself: INT8 products, or those of the superaccumulator or of native DGEMM.
double work_of_product(const Claims& claims, const Sizes& of) {
  if (claims.method == Method::exact) return 3 * of.entries * of.inner;
  if (claims.method == Method::native) return of.entries * of.inner / 32;
  double work = 0;
  for (const auto& plan : claims.plans) work += of.entries * of.inner * PlanWork::of(plan).products / 128;
  return work;
}

bool has_worst_entry(const Claims& claims) {
  return claims.method == Method::slices && claims.target.kind != Target::Kind::cr &&
         claims.target.kind != Target::Kind::relative;
}

/// The work of fingerprints, norms, |A||B| if the ratio uses it, and the bound of every entry.
double work_of_bounds(const Claims& claims, const Sizes& of) {
  double work = 4 * of.elements + 50 * of.entries;
  for (const auto& plan : claims.plans) {
    const auto of_plan = PlanWork::of(plan);
    work += of.elements * of_plan.element;
    work += of.entries * (of_plan.guard + (has_worst_entry(claims) ? of_plan.bound : 0));
  }
  if (has_worst_entry(claims)) work += 200 * of.elements + of.entries * of.inner / 2;
  return work;
}

/// The work of the exact product, twice, and of the sums of digits.
double work_of_entry(const Claims& claims, const Sizes& of) {
  double work = 4000 + 8 * of.inner;
  for (const auto& plan : claims.plans) work += 2000 + of.inner * PlanWork::of(plan).term;
  return work;
}

}  // namespace

Work work_of(const Claims& claims) {
  const Sizes of(claims);
  return {work_of_product(claims, of), work_of_bounds(claims, of), work_of_entry(claims, of)};
}

std::optional<Index> affordable_entries(const Claims& claims) {
  const auto work = work_of(claims);
  const double all = Sizes(claims).entries;
  const double budget = std::max(small_work, products_allowed * work.product);
  if (work.bounds + all * work.entry <= budget) return std::nullopt;
  const double left = std::clamp<double>((budget - work.bounds) / work.entry, fewest_entries, most_entries);
  if (left >= all) return std::nullopt;
  return static_cast<Index>(left);
}

}  // namespace ozbound::checking
