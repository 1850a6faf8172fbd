// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "facts.hpp"
#include "ozbound/bounds/detail/plan_terms.hpp"
#include "ozbound/core/entry_bound.hpp"

namespace ozbound::gpu {

class HostBlock;

/// The parts of rows and columns whose norms are multiplied in the terms of a plan's bound. An argument of kernels.
struct PlanTerms {
  static constexpr int most = max_slices + 4;

  VectorPart rows[most], columns[most];
  int count = 0;

  PlanTerms(const SplitPlan& plan, Index k);

  /// The parts whose norms must be measured, of rows and of columns.
  [[nodiscard]] FactParts parts_of_rows() const { return parts_of(rows); }
  [[nodiscard]] FactParts parts_of_columns() const { return parts_of(columns); }

 private:
  [[nodiscard]] FactParts parts_of(const VectorPart* side) const;
};

/// plan_error_upper of bounds, computed in device memory from facts in device memory: the same doubles. @pre the facts are of
/// the plan's slicings. If the arena only counts, only takes memory.
DeviceBound launch_plan_bound(const SplitPlan& plan, Index k, const DeviceFacts& rows, const DeviceFacts& columns, Arena& arena,
                              cudaStream_t stream);

/// The number of outer products in the bound of a plan.
Index outer_products(const SplitPlan& plan, Index k);

/// The bound in the host's memory, from a block with all of its norms.
EntryBound bound_on_host(const DeviceBound& bound, const SplitPlan& plan, Index k, const HostBlock& block);

/// Fills the norms and the ends of a bound.
void launch_norms(const PlanTerms& terms, const DeviceFacts& rows, const DeviceFacts& columns, double* row_norms,
                  double* column_norms, int* ends, cudaStream_t stream);

}  // namespace ozbound::gpu
