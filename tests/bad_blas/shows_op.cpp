// SPDX-License-Identifier: BSD-3-Clause
// Multiplies nothing: sets C(0, 0) and C(1, 0) to the operations it was given for A and B.

#include <cstddef>

extern "C" void cblas_dgemm(int layout, int op_a, int op_b, int m, int n, int k, double alpha, const double* a, int lda,
                            const double* b, int ldb, double beta, double* c, int ldc);
extern "C" void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
                       const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
                       const int* ldc, std::size_t, std::size_t);

extern "C" void cblas_dgemm(int, int op_a, int op_b, int, int, int, double, const double*, int, const double*, int, double,
                            double* c, int) {
  c[0] = op_a;
  c[1] = op_b;
}

extern "C" void dgemm_(const char* op_a, const char* op_b, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double* c, const int*, std::size_t, std::size_t) {
  c[0] = *op_a;
  c[1] = *op_b;
}
