// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "block.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "group_table.hpp"

namespace ozbound::gpu {

/// How sums of a plan become C.
struct Combination {
  SumLayout layout;
  GroupTable groups;
  Encoding encoding_a, encoding_b;

  /// Whether the weights of layout are those of every entry.
  [[nodiscard]] OZB_HD constexpr bool common_ratio() const { return encoding_a.common_ratio() && encoding_b.common_ratio(); }

  Combination(const SplitPlan& plan, Index k);
};

/// Core's combine for every entry of a block that is not special. Sums of 32 bits: @pre common_ratio(), and no more groups than
/// diagonals.
void launch_combination(const Combination& combination, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                        const BlockSums<std::int64_t>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream);
void launch_combination(const Combination& combination, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                        const BlockSums<std::int32_t>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream);

}  // namespace ozbound::gpu
