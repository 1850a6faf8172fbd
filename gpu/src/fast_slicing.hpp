// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/encoding.hpp"

namespace ozbound::gpu {

/// An operand's vectors (count x inner: rows of A, columns of B) and the memory for their slices or residues.
struct SlicingJob {
  DeviceMatrix vectors;
  DeviceSlices slices;
};

/// True if the current device has clusters: Hopper or later.
bool has_clusters();

/// True if vectors or their elements lie side by side, as the kernels of fast_slicing.cu require.
bool fast_slicing_reads(const DeviceMatrix& vectors);

/// True if launch_fast_slicing can make these slices: balanced, at most 8 slices, with vectors or their elements side by side.
bool fast_slicing_applies(const DeviceMatrix& vectors, Slicing slicing);

/// Slices both operands in one launch. Each element is read once from memory if the cache holds its vector. Digits, exponents
/// and specials equal those of core bit for bit. Does not touch vectors beyond the last and any_special. @pre
/// fast_slicing_applies to both; the device has clusters (sm_90).
void launch_fast_slicing(const SlicingJob& a, const SlicingJob& b, cudaStream_t stream);

}  // namespace ozbound::gpu
