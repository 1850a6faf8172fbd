// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>

#include "mirror/section.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

// A runner for machines that have CUDA but no test framework.

namespace ozbound::mirror {

/// The exit status of a program of comparisons: 0 if `compare` returns true, 1 if it returns false, 77 without a device.
template <class Compare>
int compare_on_device(const Compare& compare) {
  if (gpu::device_count() == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  std::printf("%s\n", gpu::CudaEngine().device_name().c_str());
  const bool good = holds(compare);
  std::printf(good ? "all agree in every bit\n" : "they DIFFER\n");
  return good ? 0 : 1;
}

}  // namespace ozbound::mirror
