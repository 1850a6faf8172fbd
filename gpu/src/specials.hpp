#pragma once

#include <cuda_runtime_api.h>

#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "special_entries.hpp"

namespace ozbound::gpu {

/// Writes every special entry (SpecialEntries). The slices are those of the operands.
void launch_specials(const OperandPair& operands, const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue,
                     cudaStream_t stream);

}  // namespace ozbound::gpu
