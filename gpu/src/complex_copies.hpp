// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

/// A complex matrix in device memory; strides count complex elements.
struct DeviceComplex {
  const void* data;
  Index rows, cols, row_stride, col_stride;
  bool is_double, conjugated;
};

/// Writes the block (a_r, -a_i; a_i, a_r) for each element of a, row-major, 2 rows x 2 cols.
void launch_left_factor(const DeviceComplex& a, void* blocks, cudaStream_t stream);

/// Writes the real parts of each row and, below them, its imaginary parts, column-major, 2 rows x cols.
void launch_stacking(const DeviceComplex& matrix, void* parts, cudaStream_t stream);

/// Reverses launch_stacking: from `parts`, column-major, to the elements of `matrix`. @pre `matrix` is not conjugated.
void launch_unstacking(const void* parts, const DeviceComplex& matrix, cudaStream_t stream);

}  // namespace ozbound::gpu
