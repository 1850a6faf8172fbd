#pragma once

#include <cuda_runtime_api.h>

namespace ozbound::gpu {

/// @throws CudaError with the call's name unless it succeeded.
void check(cudaError_t status, const char* call);

/// The same for the kernel launched last. Does not wait for it.
void check_launch(const char* kernel);

}  // namespace ozbound::gpu
