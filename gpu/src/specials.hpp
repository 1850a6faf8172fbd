// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "special_entry_writer.hpp"

namespace ozbound::gpu {

/// Writes every special entry (SpecialEntryWriter). a and b are the slices of the operands; their
/// any_special may be null if it is not known.
void launch_specials(const OperandPair& operands, const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue,
                     cudaStream_t stream);

/// special[i] = 1 if tops[i] is not finite, else 0.
void launch_marking(const std::uint64_t* tops, Index count, std::uint8_t* special, cudaStream_t stream);

}  // namespace ozbound::gpu
