// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "largest.hpp"

namespace ozbound::gpu {

/// The matrix M of a normwise target, in device memory.
struct NormMatrix {
  double* m = nullptr;             ///< of (i, j) at [i + j * rows]: rounded down; +Inf if special; negative, or -0, if AB is 0
  std::uint64_t* scale = nullptr;  ///< the largest exponent of an entry's scale, plus no_scale; 0: M is zero
  double* row_sums = nullptr;      ///< [rows]
  Index rows = 0, columns = 0;

  static constexpr std::uint64_t no_scale = std::uint64_t{1} << 40;

  static NormMatrix take(Arena& arena, Index rows, Index columns);
};

/// Fills m and scale, and row_sums with the sum of squares of each row relative to the scale, added in order and rounded down.
/// @pre the target is normwise, and there are entries.
void launch_norm_matrix(const NormMatrix& norm, const DeviceMagnitudes& of, const EntryTarget& target, cudaStream_t stream);

/// Fills row_sums with each row's contribution to the square of Allowance::worst's ratio, added in order and rounded up, and
/// finds the entry that contributes most. @param allowed the norm that the error may have, relative to the scale. @param shares
/// memory of the size of m, for the kernels.
void launch_norm_shares(const BoundWithScales& error, const DeviceMagnitudes& of, const NormMatrix& norm, double allowed,
                        double* shares, const LargestWork& work, cudaStream_t stream);

}  // namespace ozbound::gpu
