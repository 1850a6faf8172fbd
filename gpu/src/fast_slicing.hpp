// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/encoding.hpp"

namespace ozbound::gpu {

/// An operand's vectors (count x inner: rows of A, columns of B) and where their slices or residues go.
struct SlicingJob {
  DeviceMatrix vectors;
  DeviceSlices slices;
};

/// Whether the current device can: a Hopper or a later one.
bool has_clusters();

/// Whether vectors or their elements lie side by side, as this file's kernels read them.
bool fast_slicing_reads(const DeviceMatrix& vectors);

/// Whether launch_fast_slicing slices these: balanced, at most 8 slices, vectors or their elements side by side.
bool fast_slicing_applies(const DeviceMatrix& vectors, Slicing slicing);

/// Slices both operands in one launch, each element once from memory where the cache holds its vector: digits, exponents and
/// specials are those of core, bit for bit. Vectors beyond the last and any_special are left alone. @pre fast_slicing_applies
/// to both; the device has clusters (sm_90).
void launch_fast_slicing(const SlicingJob& a, const SlicingJob& b, cudaStream_t stream);

}  // namespace ozbound::gpu
