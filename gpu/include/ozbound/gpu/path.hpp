// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace ozbound::gpu {

/// The kernels that multiply slices. The choice affects speed only: all give the same bits.
enum class Path : std::uint8_t {
  automatic,  ///< the fastest that computes the product
  portable,   ///< dp4a: every plan, on every device
  cublaslt,   ///< cuBLASLt, one product a diagonal: digits that are int8
  fused,      ///< one kernel, on Hopper: exact accumulation, digits that are int8 and have a common ratio
};

}  // namespace ozbound::gpu
