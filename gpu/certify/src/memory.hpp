#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "arena.hpp"
#include "device_array.hpp"
#include "largest.hpp"

namespace ozbound::gpu {

/// Memory that is taken once, in parts.
class Memory {
 public:
  Memory() = default;
  Memory(std::size_t bytes, cudaStream_t stream)
      : bytes_(bytes), memory_(static_cast<Index>(bytes + Arena::alignment), stream) {}

  [[nodiscard]] Arena arena() const { return Arena::aligned(memory_.data(), bytes_); }

 private:
  std::size_t bytes_ = 0;
  DeviceArray<std::uint8_t> memory_;
};

/// LargestWork and its memory.
class LargestMemory {
 public:
  LargestMemory(Index outers, Index m, Index n, cudaStream_t stream) : memory_(bytes(outers, m, n), stream) {
    auto arena = memory_.arena();
    work_ = LargestWork::take(arena, outers, m, n);
  }

  [[nodiscard]] const LargestWork& work() const { return work_; }

 private:
  static std::size_t bytes(Index outers, Index m, Index n) {
    Arena needed;
    LargestWork::take(needed, outers, m, n);
    return needed.used();
  }

  Memory memory_;
  LargestWork work_;
};

}  // namespace ozbound::gpu
