// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace ozbound::gpu {

/// An error that a call of CUDA or cuBLASLt reports: `cudaStreamSynchronize: unspecified launch failure`. A lack of device
/// memory is reported as OutOfMemory instead.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& call, const std::string& what) : std::runtime_error(call + ": " + what) {}
};

}  // namespace ozbound::gpu
