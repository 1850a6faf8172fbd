// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace ozbound::bench {

/// Fills device memory with (U - 1/2) e^(phi N), U uniform in (0, 1), N normal. Power, and therefore the clock, depends on
/// data.
void fill_random(double* elements, std::int64_t count, std::uint64_t seed, cudaStream_t stream, double phi = 0.5);

}  // namespace ozbound::bench
