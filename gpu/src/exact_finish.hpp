// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device_epilogue.hpp"

namespace ozbound::gpu {

/// Computes the entries of C = alpha A B + beta C0 whose bits are set in epilogue.open, as core's finish_exactly. `a` is m x k,
/// `b` k x n. The host need not know their number. `next` is one word of device memory that the kernel counts with.
void launch_open_finish(const DeviceMatrix& a, const DeviceMatrix& b, Index m, Index n, Index k, const DeviceEpilogue& epilogue,
                        unsigned long long* next, cudaStream_t stream);

}  // namespace ozbound::gpu
