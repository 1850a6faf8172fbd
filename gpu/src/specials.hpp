#pragma once

#include <cuda_runtime_api.h>

#include "device_epilogue.hpp"
#include "device_slices.hpp"

namespace ozbound::gpu {

/// Writes what NaN and infinities decide, as core's apply_specials: entries of special vectors, under scalars that are not
/// finite, and over a C0 that is not; where there are no terms, k = 0 or alpha = 0, all of C. `a` (m x k) and `b` (k x n) are
/// the operands that a_slices and b_slices hold.
void launch_specials(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceSlices& a_slices, const DeviceSlices& b_slices,
                     const DeviceEpilogue& epilogue, cudaStream_t stream);

}  // namespace ozbound::gpu
