// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <string>

#include "ozbound/core/matrix.hpp"

namespace ozbound::bench {

/// True if this build found OpenBLAS. The benchmarks call it directly, without the adapter behind NativeGemm, which copies C.
bool have_openblas();

/// Version and kernels, as reported by the library; empty without OpenBLAS.
std::string openblas_name();

/// `OpenBLAS 0.3.21 Haswell`: the version, and the kernels that it uses here; empty without OpenBLAS.
std::string openblas_core();

/// C = A B on as many threads as OpenMP would use. @pre have_openblas(); sizes below 2^31.
void openblas_dgemm(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c);

/// C = alpha A B + beta C of row-major n x n matrices. @pre have_openblas()
void openblas_square(Index n, double alpha, const double* a, const double* b, double beta, double* c);
void openblas_square(Index n, float alpha, const float* a, const float* b, float beta, float* c);
void openblas_square(Index n, std::complex<double> alpha, const std::complex<double>* a, const std::complex<double>* b,
                     std::complex<double> beta, std::complex<double>* c);

}  // namespace ozbound::bench
