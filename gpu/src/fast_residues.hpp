// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "chosen_residues.hpp"
#include "fast_slicing.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound::gpu {

/// An operand and the form of its residues.
struct ResidueJob {
  SlicingJob operand;
  ResidueForm form;
};

/// True if launch_fast_residues can make these residues: integers of at most 118 bits, with vectors or their elements side by
/// side.
bool fast_residues_apply(const DeviceMatrix& vectors, ResidueForm form);

/// Makes the residues of both operands in one launch, or of one operand if the other has no vectors. The bytes equal those of
/// launch_residues, but each element is read once from memory if the cache holds its vector. Does not touch vectors beyond the
/// last, tops and any_special. @pre fast_residues_apply to both; both have the same number of moduli; the device has clusters
/// (sm_90).
void launch_fast_residues(const ResidueJob& a, const ResidueJob& b, cudaStream_t stream);

/// An operand and the scales of its vectors, as another kernel made them.
struct ScaledResidueJob {
  SlicingJob operand;
  DeviceSlices scales;  ///< exponents and special, in the measure of residues
};

/// The same residues and scales, under a plan that a kernel chose, with integers of at most most_narrow_bits bits. The jobs'
/// slices have memory for as many moduli as they name. Does nothing if no plan was chosen. @pre fast_residues_apply to both;
/// both have memory for the same number of moduli; the device is one of sm_90 or later.
void launch_scaled_residues(const ScaledResidueJob& a, const ScaledResidueJob& b, const ChosenResidues* chosen,
                            cudaStream_t stream);

}  // namespace ozbound::gpu
