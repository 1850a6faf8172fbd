// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace ozbound::gpu {

/// @throws OutOfMemory or CudaError, with the call's name.
[[noreturn]] void throw_error(const std::string& call, const std::string& what, bool out_of_memory);

/// Throws, as throw_error does, unless the call succeeded.
void check(cudaError_t status, const char* call);

/// Checks the last kernel launch. Does not wait for the kernel.
void check_launch(const char* kernel);

}  // namespace ozbound::gpu
