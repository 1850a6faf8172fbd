// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {

/// The native DGEMM of the OpenBLAS that is loaded; null where this build has none, or where it computes on threads that cannot
/// be told to round to nearest and to keep subnormals (OpenMP workers of another runtime than ours).
///
/// Every thread that computes does so, whatever it inherited. With OpenBLAS's pthreads, blocks of C are multiplied by OpenMP
/// workers of ours instead: min(OpenMP's number of threads, OpenBLAS's). That is set to 1 meanwhile, for the whole process, and
/// then is again what the program had set, before or meanwhile. What another thread sets during a product shows, and the block
/// is multiplied again; one that sets a number and 1 again within one block does not, and must not be there.
const NativeGemm* native_gemm();

/// C = A B of complex matrices, m x k by k x n, column-major without gaps, C apart from A and B.
using NativeZgemm = void (*)(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b,
                             std::complex<double>* c);

/// Its ZGEMM, to compare with, or null likewise.
NativeZgemm native_zgemm();

}  // namespace ozbound
