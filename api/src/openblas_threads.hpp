// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// Who computes a product of the OpenBLAS that was loaded. Its build decides, and need not be the build that was linked with:
/// all have one soname.
enum class BlasThreads {
  caller,    ///< of a sequential build
  pthreads,  ///< its own, started when it was loaded, in whatever floating-point environment there was
  openmp,    ///< the program's OpenMP workers
  unknown,   ///< others, OpenMP workers of another runtime than ours among them
};

BlasThreads blas_threads();

/// Rows [row, row + rows) and columns [column, column + columns) of C.
struct BlockOfC {
  Index row = 0, column = 0, rows = 0, columns = 0;
  bool by_library = true;  ///< false: by plain loops on the thread that calls
};

/// Calls `multiply`, which computes a block of C by OpenBLAS, for blocks that make up an m x n C with inner dimension k. All
/// threads that compute round to nearest and keep subnormals meanwhile. pthreads stay unused: OpenMP workers of ours multiply a
/// block each, on OpenBLAS's side one thread each. A block is multiplied again where the program set OpenBLAS's number of
/// threads meanwhile, at last without the library; the program finds the number that it set last.
/// @pre blas_threads() is not unknown.
void multiply_in_blocks(Index m, Index n, Index k, const std::function<void(const BlockOfC&)>& multiply);

}  // namespace ozbound
