// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "block.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "group_table.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound {
class Plan;
}

namespace ozbound::gpu {

/// The groups of products that a plan sums separately; for residues, one group for each modulus.
std::vector<ProductGroup> groups_of(const Plan& plan, Index k);

/// The way from a plan's sums to C: directly for slices, by way of C' for moduli (recovery.hpp).
struct Combination {
  SumLayout layout;
  GroupTable groups;
  Encoding encoding_a, encoding_b;  ///< for residues, an encoding with signed digits only

  /// True if the weights of layout hold for every entry.
  [[nodiscard]] OZB_HD constexpr bool common_ratio() const { return encoding_a.common_ratio() && encoding_b.common_ratio(); }

  Combination(const Plan& plan, Index k);
};

/// Core's combine for every entry of a block that is not special. @pre for sums of 32 bits: common_ratio(), and at most as many
/// groups as diagonals.
void launch_combination(const Combination& combination, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                        const BlockSums<std::int64_t>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream);
void launch_combination(const Combination& combination, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                        const BlockSums<std::int32_t>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream);

}  // namespace ozbound::gpu
