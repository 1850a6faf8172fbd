// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound::gpu {

/// The groups of a plan, as an argument of kernels.
struct GroupTable {
  int count = 0;
  std::uint8_t diagonal[SumLayout::max_groups];
  std::uint8_t first_a[SumLayout::max_groups];
  std::uint8_t last_a[SumLayout::max_groups];

  explicit GroupTable(const std::vector<ProductGroup>& groups);
};

static_assert(2 * max_slices < 256);

}  // namespace ozbound::gpu
