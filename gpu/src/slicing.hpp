#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/encoding.hpp"

namespace ozbound::gpu {

/// The slices of `count` vectors of `inner` elements, and memory for them; `reversed` as for B. @pre the slice count is valid.
DeviceSlices take_slices(Arena& arena, bool reversed, Slicing slicing, Index count, Index inner);

/// Slices the rows of `vectors` (count x inner): digits, exponents and specials are those of core, bit for bit.
void launch_slicing(const DeviceMatrix& vectors, Slicing slicing, const DeviceSlices& slices, cudaStream_t stream);

}  // namespace ozbound::gpu
