// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace ozbound::gpu {

/// What a call of CUDA or cuBLASLt reports: `cudaStreamSynchronize: unspecified launch failure`. A lack of device memory is an
/// OutOfMemory instead.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& call, const std::string& what) : std::runtime_error(call + ": " + what) {}
};

}  // namespace ozbound::gpu
