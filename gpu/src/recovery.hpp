// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "block.hpp"
#include "combination.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "fused_residues.hpp"
#include "special_entry_writer.hpp"

namespace ozbound::gpu {

/// Recovers C' of every entry of a block that is not special from its sums modulo the first `moduli` moduli, and combines it as
/// core does: docs/derivations/residues.md, R5, R6. @pre |sums| < 2^46; the plan holds every C'.
void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const BlockSums<std::int64_t>& sums, const DeviceEpilogue& epilogue,
                     cudaStream_t stream);
void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const BlockSums<std::int32_t>& sums, const DeviceEpilogue& epilogue,
                     cudaStream_t stream);

/// Recovers and combines entries from the bytes of FusedResidues: c_t of each modulus. If the operands are given, writes
/// special entries too.
void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const FusedResidues::Bytes& bytes, const DeviceEpilogue& epilogue,
                     const OperandPair& operands, cudaStream_t stream);

/// Replaces the first sum of every entry by C', for Engine::recovered_groups.
void launch_recovered_groups(int moduli, const Block& block, const BlockSums<std::int64_t>& sums, cudaStream_t stream);

}  // namespace ozbound::gpu
