// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "level_one.hpp"

namespace ozbound::gpu {

/// sums[i] = the sum of the digits of vector i, which are not negative. @pre one slice.
void launch_digit_sums(const DeviceSlices& digits, std::int64_t* sums, cudaStream_t stream);

/// Sets *largest to FirstDigitSums::largest_units: the largest U = S + sum d_A + sum d_B + k of entries whose vectors are not
/// 0.
void launch_largest_units(const LevelOneSums& sums, std::uint64_t* largest, cudaStream_t stream);

/// Sets *sums.loose to whether L < U / 2 for any entry.
void launch_looseness(const LevelOneSums& sums, cudaStream_t stream);

}  // namespace ozbound::gpu
