// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "level_one.hpp"

namespace ozbound::gpu {

/// Sets *sums.loose to whether L < U / 2 for any entry.
void launch_looseness(const LevelOneSums& sums, cudaStream_t stream);

}  // namespace ozbound::gpu
