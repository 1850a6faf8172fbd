// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device_epilogue.hpp"

namespace ozbound::gpu {

/// Writes the fingerprint of a matrix, as fingerprint of bounds, to one word of device memory.
void launch_fingerprint(const DeviceMatrix& matrix, Index rows, Index columns, std::uint64_t* sum, cudaStream_t stream);

}  // namespace ozbound::gpu
