// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "cuda_check.hpp"

namespace ozbound::gpu {

/// Makes a device current for this thread. The destructor restores the previous device.
class CudaDevice {
 public:
  explicit CudaDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~CudaDevice() { cudaSetDevice(before_); }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace ozbound::gpu
