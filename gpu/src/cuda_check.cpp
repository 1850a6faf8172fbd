#include "cuda_check.hpp"

#include "ozbound/gpu/cuda_error.hpp"

namespace ozbound::gpu {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // an error that the next call would report again
  throw CudaError(call, cudaGetErrorString(status), status == cudaErrorMemoryAllocation);
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace ozbound::gpu
