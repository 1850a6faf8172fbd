// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "arena.hpp"
#include "device_slices.hpp"
#include "fast_slicing.hpp"
#include "ozbound/core/integer_operand.hpp"
#include "ozbound/gpu/path.hpp"

namespace ozbound::gpu {

/// Memory for the digits or residues of an operand: `count` rows of A or columns of B, with `inner` elements.
/// @pre the form is valid, and not of complex integers.
DeviceSlices take_operand(Arena& arena, const OperandForm& form, Side side, Index count, Index inner);

/// Makes the digits or residues of the rows of `job.vectors`.
void launch_operand(const SlicingJob& job, const OperandForm& form, cudaStream_t stream);

/// Makes the digits or residues of A and B for the path that multiplies them. A null job means that the operand is ready.
void launch_operands(const Plan& plan, const SlicingJob* a, const SlicingJob* b, Path multiplying, cudaStream_t stream);

/// The slices or residues of an operand, if an engine made them on this device; otherwise null.
const DeviceSlices* operand_on(int device, const IntegerOperand& operand);

}  // namespace ozbound::gpu
