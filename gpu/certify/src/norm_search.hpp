// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "largest.hpp"

namespace ozbound::gpu {

/// The matrix M of a normwise target, in device memory.
struct NormMatrix {
  double* m = nullptr;  ///< of (i, j) at [i + j * rows]: from below; +Inf where special; negative, or -0, where AB is 0
  std::uint64_t* scale = nullptr;  ///< the largest exponent of an entry's scale, above no_scale; 0: M is zero
  double* row_sums = nullptr;      ///< [rows]
  Index rows = 0, columns = 0;

  static constexpr std::uint64_t no_scale = std::uint64_t{1} << 40;

  static NormMatrix take(Arena& arena, Index rows, Index columns);
};

/// Fills m and scale, and row_sums with the squares of every row relative to the scale, added in order from below. @pre the
/// target is normwise, and there are entries.
void launch_norm_matrix(const NormMatrix& norm, const Magnitudes& of, const EntryTarget& target, cudaStream_t stream);

/// Fills row_sums with what every row adds to Allowance::worst's ratio squared, in order from above, and finds the entry that
/// adds most. @param allowed the norm that the error may have, relative to the scale; @param shares as m, for the kernels.
void launch_norm_shares(const ScaledBound& error, const Magnitudes& of, const NormMatrix& norm, double allowed, double* shares,
                        const LargestWork& work, cudaStream_t stream);

}  // namespace ozbound::gpu
