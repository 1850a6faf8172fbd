// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "arena.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound::gpu {

/// The most bits of an integer that fits a word with its sign.
inline constexpr int most_narrow_bits = 62;

/// Memory for the residues of `count` vectors of `inner` elements. @pre the form is valid, and not of complex integers.
DeviceSlices take_residues(Arena& arena, ResidueForm form, Index count, Index inner);

/// Makes the residues of the rows of `vectors` (count x inner), with their scales, equal to core's byte for byte
/// (docs/derivations/residues.md, R2, R3). A special vector has residues 0.
void launch_residues(const DeviceMatrix& vectors, ResidueForm form, const DeviceSlices& residues, cudaStream_t stream);

/// The position of the last set bit in each row of `vectors` (count x inner): every element is a multiple of 2^last_bits[i].
/// Vectors of zeros and special vectors have `of_none`. `tops` as from launch_tops.
void launch_last_bits(const DeviceMatrix& vectors, Index count, Index inner, const std::uint64_t* tops, std::int32_t of_none,
                      std::int32_t* last_bits, cudaStream_t stream);

}  // namespace ozbound::gpu
