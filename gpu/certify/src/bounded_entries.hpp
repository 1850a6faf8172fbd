// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "entries.hpp"
#include "largest.hpp"

namespace ozbound::gpu {

// What a certificate says of all entries of a product in device memory, by their bounds.

/// Raises *after to one more than the place i n + j of the last entry, not special, whose bound is not zero.
void launch_last_inexact(const DeviceBound& bound, const DeviceSpecials& specials, Shape shape, std::uint64_t* after,
                         cudaStream_t stream);

/// What judge_relative accepts is written to `c`, the largest share raised in *worst (its bits); bit i n + j of `open` is set
/// where it does not, and where the entry is not special.
struct RelativeProduct {
  DeviceMatrix product, c;
  double alpha, factor;
  std::uint32_t* open;
  unsigned long long* open_count;
  std::uint64_t* worst;
};
void launch_accepting(const RelativeProduct& relative, const ScaledBound& bound, const DeviceSpecials& specials, Shape shape,
                      cudaStream_t stream);

}  // namespace ozbound::gpu
