// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/encoding.hpp"

namespace ozbound::gpu {

/// Memory for the slices of `count` vectors of `inner` elements, `reversed` for B. @pre the slice count is valid.
DeviceSlices take_slices(Arena& arena, bool reversed, Slicing slicing, Index count, Index inner);

/// Exponents of the weights of nearest_adaptive's digits over each vector's scale, weights[i * slices + p - 1], as in core; 0
/// if the vector is special. `tops` as from launch_tops.
void launch_adaptive_weights(const DeviceMatrix& vectors, Index count, Index inner, Slicing slicing, const std::uint64_t* tops,
                             std::int16_t* weights, cudaStream_t stream);

/// Slices the rows of `vectors` (count x inner). Digits, exponents and specials equal those of core bit for bit.
void launch_slicing(const DeviceMatrix& vectors, Slicing slicing, const DeviceSlices& slices, cudaStream_t stream);

/// Makes one digit of every element, floor(2^7 |x| / rho) under the scales of truncated digits. Level 1 of an enclosure of
/// |A||B| multiplies these digits. @pre slices has one slice.
void launch_first_magnitudes(const DeviceMatrix& vectors, const DeviceSlices& slices, cudaStream_t stream);

}  // namespace ozbound::gpu
