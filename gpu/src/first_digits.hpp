// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "block.hpp"
#include "device_slices.hpp"

namespace ozbound::gpu {

/// sums[i] = the sum of the digits of vector i, which are not negative. @pre one slice.
void launch_digit_sums(const DeviceSlices& digits, std::int64_t* sums, cudaStream_t stream);

/// Raises *largest to the largest U = S + sum d_A + sum d_B + k of the entries of a block whose vectors are not 0, S the sum of
/// products of first digits (FirstDigitSums::largest_units). `row_sums`, `column_sums` as of launch_digit_sums, of whole A, B.
void launch_largest_units(const Block& block, const BlockSums<const std::int64_t>& sums, const std::int64_t* row_sums,
                          const std::int64_t* column_sums, Index k, std::uint64_t* largest, cudaStream_t stream);
void launch_largest_units(const Block& block, const BlockSums<const std::int32_t>& sums, const std::int64_t* row_sums,
                          const std::int64_t* column_sums, Index k, std::uint64_t* largest, cudaStream_t stream);

}  // namespace ozbound::gpu
