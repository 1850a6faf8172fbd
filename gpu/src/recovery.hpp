// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "block.hpp"
#include "combination.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "fused_residues.hpp"
#include "special_entries.hpp"

namespace ozbound::gpu {

/// Recovers C' of every entry of a block that is not special from its sums modulo the first `moduli` moduli, and combines it as
/// core does: docs/derivations/residues.md, R5, R6. |sums| < 2^46. @pre the plan holds every C'.
void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const BlockSums<std::int64_t>& sums, const DeviceEpilogue& epilogue,
                     cudaStream_t stream);
void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const BlockSums<std::int32_t>& sums, const DeviceEpilogue& epilogue,
                     cudaStream_t stream);

/// The same from bytes that FusedResidues left: c_t of each modulus. Special entries too, where the operands are given.
void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const FusedResidues::Bytes& bytes, const DeviceEpilogue& epilogue,
                     const OperandPair& operands, cudaStream_t stream);

/// C' of every entry in place of the first of its sums: the groups of Engine::recovered_groups.
void launch_recovered_groups(int moduli, const Block& block, const BlockSums<std::int64_t>& sums, cudaStream_t stream);

}  // namespace ozbound::gpu
