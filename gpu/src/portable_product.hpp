// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "block.hpp"
#include "device_slices.hpp"
#include "group_table.hpp"
#include "ozbound/core/encoding.hpp"

namespace ozbound::gpu {

/// The exact sums of every group of a block, for any plan and any inner dimension, by dp4a. The faster products must give the
/// same sums. @pre the block begins at multiples of DeviceSlices::vector_step; sums are within 63 bits.
void launch_portable_product(const DeviceSlices& a, const DeviceSlices& b, Encoding encoding_a, Encoding encoding_b,
                             const GroupTable& groups, const Block& block, const BlockSums<std::int64_t>& sums,
                             cudaStream_t stream);

}  // namespace ozbound::gpu
