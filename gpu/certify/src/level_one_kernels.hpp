// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "level_one.hpp"

namespace ozbound::gpu {

/// Sets *sums.loose to 1 if L < U / 2 for any entry, and *sums.largest_units to the largest U. @pre both are 0.
void launch_extremes(const LevelOneSums& sums, cudaStream_t stream);

}  // namespace ozbound::gpu
