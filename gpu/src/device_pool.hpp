// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ozbound::gpu {

/// Takes memory of the current device in the order of a stream, from a separate pool. The pool keeps memory that is given back,
/// because the device itself is slow to provide memory. The pool is also slow for large parts. A thread's next request for the
/// same number of bytes therefore gets the same memory. @throws OutOfMemory.
void* take_memory(std::size_t bytes, cudaStream_t stream);

/// Gives memory back to the device that it was taken from, which need not be the current one.
void give_memory_back(void* data, std::size_t bytes, int device, cudaStream_t stream) noexcept;

/// Memory that is given back in the order of this stream is kept for it, as for a thread's own stream.
void keep_memory_of(cudaStream_t stream, int device);
/// Ends this, and frees the memory, before the stream is destroyed.
void free_memory_of(cudaStream_t stream, int device) noexcept;

int current_device();

}  // namespace ozbound::gpu
