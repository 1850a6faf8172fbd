// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ozbound::gpu {

/// Memory of the current device in the order of a stream, from a pool of its own. What is given back stays, to be taken again:
/// from the device itself memory comes slowly, and large parts slowly from the pool too, so that a thread's next request for as
/// many bytes gets the same ones. @throws OutOfMemory.
void* take_memory(std::size_t bytes, cudaStream_t stream);

/// To the device that it was taken from, the current one or not.
void give_memory_back(void* data, std::size_t bytes, int device, cudaStream_t stream) noexcept;

int current_device();

}  // namespace ozbound::gpu
