// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "arena.hpp"
#include "device_array.hpp"

namespace ozbound::gpu {

/// Device memory that is allocated once and handed out in parts.
class Memory {
 public:
  Memory() = default;
  Memory(std::size_t bytes, cudaStream_t stream)
      : bytes_(bytes), memory_(static_cast<std::int64_t>(bytes + Arena::alignment), stream) {}

  [[nodiscard]] Arena arena() const { return Arena::aligned(memory_.data(), bytes_); }

 private:
  std::size_t bytes_ = 0;
  DeviceArray<std::uint8_t> memory_;
};

}  // namespace ozbound::gpu
