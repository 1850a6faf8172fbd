/* SPDX-License-Identifier: BSD-3-Clause */
/* An unrecognised library over the system's BLAS, with OpenBLAS's names for a build with 64-bit integers and a suffix. */
#include <stdint.h>
#include <stdlib.h>

extern void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                   const double*, const int*, const double*, double*, const int*, size_t, size_t);

static int narrow(int64_t x) {
  if (x < 0 || x > 10000) abort();
  return (int)x;
}

void dgemm_64_(const char* op_a, const char* op_b, const int64_t* m, const int64_t* n, const int64_t* k, const double* alpha,
               const double* a, const int64_t* lda, const double* b, const int64_t* ldb, const double* beta, double* c,
               const int64_t* ldc, size_t x, size_t y) {
  const int narrow_m = narrow(*m), narrow_n = narrow(*n), narrow_k = narrow(*k);
  const int narrow_lda = narrow(*lda), narrow_ldb = narrow(*ldb), narrow_ldc = narrow(*ldc);
  dgemm_(op_a, op_b, &narrow_m, &narrow_n, &narrow_k, alpha, a, &narrow_lda, b, &narrow_ldb, beta, c, &narrow_ldc, x, y);
}

void cblas_dgemm64_(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
                    const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  const char ops[] = {'N', 'T', 'C'};
  const char first = ops[op_a - 111], second = ops[op_b - 111];
  if (layout == 102)
    dgemm_64_(&first, &second, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
  else
    dgemm_64_(&second, &first, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc, 1, 1);
}
