// SPDX-License-Identifier: BSD-3-Clause
// The replay on the device. Exits with 77 without a device.

#include <gtest/gtest.h>

#include <cstdio>

#include "ozbound/gpu/cuda_engine.hpp"
#include "vectors/engines.hpp"

namespace ozbound::vectors {

/// CUDA engines for every path, and one with few sums at a time.
const std::vector<std::unique_ptr<const Engine>>& engines() {
  using gpu::Path;
  static const auto all = [] {
    std::vector<std::unique_ptr<const Engine>> made;
    for (const auto path : {Path::automatic, Path::portable, Path::cublaslt, Path::fused})
      made.push_back(std::make_unique<gpu::CudaEngine>(gpu::CudaEngine::Options{.path = path}));
    made.push_back(std::make_unique<gpu::CudaEngine>(gpu::CudaEngine::Options{.path = Path::portable, .sum_bytes = 1}));
    return made;
  }();
  return all;
}

}  // namespace ozbound::vectors

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  if (ozbound::gpu::device_count() == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  return RUN_ALL_TESTS();
}
