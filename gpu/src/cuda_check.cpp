// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_check.hpp"

#include <string>

#include "ozbound/core/engine.hpp"
#include "ozbound/gpu/cuda_error.hpp"

namespace ozbound::gpu {

void throw_error(const std::string& call, const std::string& what, bool out_of_memory) {
  if (out_of_memory) throw OutOfMemory(call + ": " + what);
  throw CudaError(call, what);
}

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // otherwise the next call would report this error again
  throw_error(call, cudaGetErrorString(status), status == cudaErrorMemoryAllocation);
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace ozbound::gpu
