// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "largest.hpp"
#include "memory.hpp"

namespace ozbound::gpu {

/// A LargestWork that owns its memory.
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
