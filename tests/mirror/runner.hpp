// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>

#include "mirror/section.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

// A runner for machines that have CUDA and nothing else.

namespace ozbound::mirror {

/// What a program of comparisons returns: 0 if all of them hold, 1 if some do not, 77 without a device. `compare` says whether
/// they hold.
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
