// SPDX-License-Identifier: BSD-3-Clause
// The Fortran and CBLAS interfaces of the libraries in this folder. Each library's own source defines multiply().

#include <utility>

#include "blas.hpp"

extern "C" void cblas_dgemm(int layout, int op_a, int op_b, int m, int n, int k, double alpha, const double* a, int lda,
                            const double* b, int ldb, double beta, double* c, int ldc);
extern "C" void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
                       const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
                       const int* ldc, std::size_t, std::size_t);

extern "C" void cblas_dgemm(int layout, int op_a, int op_b, int m, int n, int k, double alpha, const double* a, int lda,
                            const double* b, int ldb, double beta, double* c, int ldc) {
  constexpr int row_major = 101, none = 111;
  Call call{m, n, k, alpha, a, 1, lda, b, 1, ldb, beta, c, 1, ldc};
  if ((layout == row_major) != (op_a != none)) std::swap(call.a_row, call.a_col);
  if ((layout == row_major) != (op_b != none)) std::swap(call.b_row, call.b_col);
  if (layout == row_major) std::swap(call.c_row, call.c_col);
  multiply(call);
}

extern "C" void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
                       const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
                       const int* ldc, std::size_t, std::size_t) {
  constexpr int column_major = 102, none = 111, transpose = 112;
  cblas_dgemm(column_major, (*op_a | 0x20) == 'n' ? none : transpose, (*op_b | 0x20) == 'n' ? none : transpose, *m, *n, *k,
              *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
