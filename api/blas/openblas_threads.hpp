// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "library_gemm.hpp"

namespace ozbound {

/// The threads on which the loaded OpenBLAS computes. This depends on its build, which may differ from the build that was
/// linked: all builds have one soname.
enum class BlasThreads {
  caller,    ///< the calling thread: a sequential build
  pthreads,  ///< its own threads, started at load time with the floating-point environment of that moment
  openmp,    ///< the program's OpenMP workers
  unknown,   ///< any other threads, including OpenMP workers of another runtime than ours
};

BlasThreads blas_threads();

/// Calls `multiply`, which computes a block of C by OpenBLAS, for blocks that make up an m x n C with inner dimension k. All
/// computing threads round to nearest and keep subnormals meanwhile. OpenBLAS's pthreads stay unused: OpenMP workers of ours
/// multiply one block each, with one OpenBLAS thread each. If the program sets OpenBLAS's number of threads meanwhile, a block
/// is multiplied again, the last time without the library. Afterwards OpenBLAS has the number that the program set last.
/// @pre blas_threads() is not unknown.
void multiply_in_blocks(Index m, Index n, Index k, const std::function<void(const BlockOfC&)>& multiply);

}  // namespace ozbound
