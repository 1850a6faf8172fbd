// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "entries.hpp"
#include "largest.hpp"

namespace ozbound::gpu {

// Checks of all entries of a product in device memory by their bounds, for certificates.

/// Raises *after to one more than i n + j of the last entry that is not special and has a non-zero bound.
void launch_last_inexact(const DeviceBound& bound, const DeviceSpecials& specials, Shape shape, std::uint64_t* after,
                         cudaStream_t stream);

/// Writes the entries that judge_relative accepts to `c`, and raises *worst (its bits) to their largest share. Sets bit i n + j
/// of `open` for entries that judge_relative does not accept and that are not special.
struct RelativeProduct {
  DeviceMatrix product, c;
  double alpha, factor;
  std::uint32_t* open;
  unsigned long long* open_count;
  std::uint64_t* worst;
};
void launch_accepting(const RelativeProduct& relative, const BoundWithScales& bound, const DeviceSpecials& specials,
                      Shape shape, cudaStream_t stream);

}  // namespace ozbound::gpu
