// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/detail/combine.hpp"

namespace ozbound {

/// The layout of a plan's sums for entry (i, j). If the groups have no common ratio, it has the weights of row i of A and
/// column j of B.
template <class RowSlices, class ColumnSlices>
SumLayout entry_layout(SumLayout layout, const std::vector<ProductGroup>& groups, const RowSlices& a, Index i,
                       const ColumnSlices& b, Index j) {
  for (std::size_t t = 0; t < groups.size(); ++t) {
    const int p = groups[t].first_a, q = groups[t].diagonal - p;
    layout.weight_exponent[t] = static_cast<std::int16_t>(a.weight_exponent(i, p) + b.weight_exponent(j, q));
  }
  return layout;
}

}  // namespace ozbound
