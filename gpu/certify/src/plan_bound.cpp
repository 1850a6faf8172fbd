// SPDX-License-Identifier: BSD-3-Clause
#include "plan_bound.hpp"

#include <iterator>

#include "ozbound/bounds/truncation_bound.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

constexpr Index alternatives = std::size(dual_norms);

}  // namespace

PlanTerms::PlanTerms(const SplitPlan& plan, Index k) {
  const auto add = [this](const char*, const VectorPart& row, const VectorPart& column) {
    rows[count] = row, columns[count] = column;
    ++count;
  };
  for_each_truncation_term(plan, add);
  for_each_accumulation_term(plan, k, add);
}

FactParts PlanTerms::parts_of(const VectorPart* side) const {
  FactParts parts{0, 0};
  for (int t = 0; t < count; ++t) {
    const auto bit = side[t].p == 0 ? 0 : 1u << (side[t].p - 1);
    switch (side[t].kind) {
      case VectorPart::Kind::slice: parts.slices |= bit; break;
      case VectorPart::Kind::tail:
      case VectorPart::Kind::leading: parts.tails |= bit; break;
      case VectorPart::Kind::all_slices: parts.slices = ~0u; break;
      case VectorPart::Kind::vector_times_factor:
      case VectorPart::Kind::unless_zero: break;
    }
  }
  return parts;
}

DeviceBound launch_plan_bound(const SplitPlan& plan, Index k, const DeviceFacts& rows, const DeviceFacts& columns, Arena& arena,
                              cudaStream_t stream) {
  const PlanTerms terms(plan, k);
  auto* const row_norms = arena.take<double>(terms.count * alternatives * rows.count);
  auto* const column_norms = arena.take<double>(terms.count * alternatives * columns.count);
  auto* const ends = arena.take<int>(terms.count);
  const double uniform = plan.accumulation == Accumulation::exact ? truncation_a_priori_upper(plan, k) : EntryBound{}.uniform;
  if (ends != nullptr) launch_norms(terms, rows, columns, row_norms, column_norms, ends, stream);
  return {row_norms, column_norms, ends, terms.count, rows.count, columns.count, uniform};
}

Index outer_products(const SplitPlan& plan, Index k) { return alternatives * PlanTerms(plan, k).count; }

EntryBound bound_on_host(const DeviceBound& bound, const SplitPlan& plan, Index k, const HostBlock& block) {
  EntryBound result;
  result.uniform = bound.uniform;
  const auto *row = bound.rows, *column = bound.columns;
  const auto add = [&](const char* name, const VectorPart&, const VectorPart&) {
    auto& term = result.terms.emplace_back();
    term.name = name;
    for (Index h = 0; h < alternatives; ++h, row += bound.m, column += bound.n)
      term.alternatives.push_back({block.norms(row, bound.m), block.norms(column, bound.n)});
  };
  for_each_truncation_term(plan, add);
  for_each_accumulation_term(plan, k, add);
  return result;
}

}  // namespace ozbound::gpu
