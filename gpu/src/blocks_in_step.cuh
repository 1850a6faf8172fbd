// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "block_step.hpp"

namespace ozbound::gpu {

/// The device side of BlockStep, for one thread of a block.
class BlocksInStep {
 public:
  __device__ explicit BlocksInStep(BlockStep step) : step_(step) {}

  __device__ void pass() {
    if (step_.counter == nullptr || ++loads_ < step_.interval) return;
    loads_ = 0;
    ++intervals_;
    atomicAdd(step_.counter, 1u);
    if (intervals_ > step_.lead) wait(static_cast<unsigned>(intervals_ - step_.lead) * gridDim.x);
  }

  /// Counts a block without further tiles as having passed all `loads`.
  __device__ void finish(std::int64_t loads) const {
    const auto all = static_cast<int>(loads / step_.interval);
    if (step_.counter != nullptr && intervals_ < all) atomicAdd(step_.counter, static_cast<unsigned>(all - intervals_));
  }

 private:
  __device__ void wait(unsigned all) {
    constexpr int patience = 1000;  // polls of about a microsecond each
    for (int polls = 0; polls < patience; ++polls) {
      unsigned passed;
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(passed) : "l"(step_.counter) : "memory");
      if (passed >= all) return;
      __nanosleep(32);
    }
    step_.counter = nullptr;
  }

  BlockStep step_;
  int loads_ = 0;
  int intervals_ = 0;
};

}  // namespace ozbound::gpu
