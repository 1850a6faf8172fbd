// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "device_epilogue.hpp"

namespace ozbound::gpu {

/// Copies the elements of a matrix to one of the same shape, with any strides. @pre `to` is double, or both are float.
void launch_copying(const DeviceMatrix& from, const DeviceMatrix& to, Index rows, Index columns, cudaStream_t stream);

}  // namespace ozbound::gpu
