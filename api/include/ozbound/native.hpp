#pragma once

#include <complex>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {

/// The native DGEMM that this build was linked with (OpenBLAS), or null where it was built without one.
const NativeGemm* native_gemm();

/// C = A B of complex matrices, m x k by k x n, column-major without gaps, C apart from A and B.
using NativeZgemm = void (*)(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b,
                             std::complex<double>* c);

/// Its ZGEMM, to compare with, or null likewise.
NativeZgemm native_zgemm();

}  // namespace ozbound
