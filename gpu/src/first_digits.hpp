// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "block.hpp"
#include "device_slices.hpp"

namespace ozbound::gpu {

/// sums[i] = the sum of the digits of vector i. @pre one slice, with digits that are not negative.
void launch_digit_sums(const DeviceSlices& digits, std::int64_t* sums, cudaStream_t stream);

/// Raises *largest to the largest U = S + sum d_A + sum d_B + k over the entries of a block whose vectors are not 0, where S is
/// the sum of products of first digits (FirstDigitSums::largest_units). `row_sums` and `column_sums` are those of
/// launch_digit_sums for the whole of A and B.
void launch_largest_units(const Block& block, const BlockSums<const std::int64_t>& sums, const std::int64_t* row_sums,
                          const std::int64_t* column_sums, Index k, std::uint64_t* largest, cudaStream_t stream);
void launch_largest_units(const Block& block, const BlockSums<const std::int32_t>& sums, const std::int64_t* row_sums,
                          const std::int64_t* column_sums, Index k, std::uint64_t* largest, cudaStream_t stream);

}  // namespace ozbound::gpu
