/* SPDX-License-Identifier: BSD-3-Clause */
/* A BLAS with 64-bit integers whose names have no suffix, as netlib's libblas64.so.3. Its dot product tells the width. */
#include <stddef.h>
#include <stdint.h>

double ddot_(const int64_t* n, const double* x, const int64_t* x_step, const double* y, const int64_t* y_step) {
  double sum = 0;
  for (int64_t i = 0; i < *n; ++i) sum += x[i * *x_step] * y[i * *y_step];
  return sum;
}

void dgemm_(const char* op_a, const char* op_b, const int64_t* m, const int64_t* n, const int64_t* k, const double* alpha,
            const double* a, const int64_t* lda, const double* b, const int64_t* ldb, const double* beta, double* c,
            const int64_t* ldc) {
  const int ta = *op_a != 'N', tb = *op_b != 'N';
  for (int64_t j = 0; j < *n; ++j)
    for (int64_t i = 0; i < *m; ++i) {
      double sum = 0;
      for (int64_t l = 0; l < *k; ++l) {
        const double x = ta ? a[i * *lda + l] : a[l * *lda + i];
        sum += x * (tb ? b[l * *ldb + j] : b[j * *ldb + l]);
      }
      c[j * *ldc + i] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[j * *ldc + i]);
    }
}
