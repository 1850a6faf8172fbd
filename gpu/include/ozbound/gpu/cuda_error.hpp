#pragma once

#include <stdexcept>
#include <string>

namespace ozbound::gpu {

/// What a call of CUDA or cuBLASLt reports: `cudaMalloc: out of memory`.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& call, const std::string& what, bool out_of_memory = false)
      : std::runtime_error(call + ": " + what), out_of_memory_(out_of_memory) {}

  [[nodiscard]] bool out_of_memory() const { return out_of_memory_; }

 private:
  bool out_of_memory_;
};

}  // namespace ozbound::gpu
