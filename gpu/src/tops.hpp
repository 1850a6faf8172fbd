// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device_epilogue.hpp"

namespace ozbound::gpu {

/// Sets tops[i] to the bits of the largest magnitude of row i of `vectors` (count x inner), as binary64. All scales are
/// computed from these. Infinities and NaN are above all numbers.
void launch_tops(const DeviceMatrix& vectors, Index count, Index inner, std::uint64_t* tops, cudaStream_t stream);

}  // namespace ozbound::gpu
