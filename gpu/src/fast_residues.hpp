// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "fast_slicing.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound::gpu {

/// An operand and the form of its residues.
struct ResidueJob {
  SlicingJob operand;
  ResidueForm form;
};

/// Whether launch_fast_residues makes these: integers of at most 118 bits, vectors or their elements side by side.
bool fast_residues_apply(const DeviceMatrix& vectors, ResidueForm form);

/// Makes the residues of both operands in one launch, or of one where the other's vectors are none: as launch_residues does,
/// byte for byte, but each element is read once from memory where the cache holds its vector. Vectors beyond the last, tops and
/// any_special are left alone. @pre fast_residues_apply to both; as many moduli of both; the device has clusters (sm_90).
void launch_fast_residues(const ResidueJob& a, const ResidueJob& b, cudaStream_t stream);

}  // namespace ozbound::gpu
