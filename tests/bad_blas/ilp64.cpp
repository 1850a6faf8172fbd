// SPDX-License-Identifier: BSD-3-Clause
// A correct library with 64-bit integers, under names with a suffix that says so.

#include <cstdint>

extern "C" void cblas_dgemm64_(int layout, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                               const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c,
                               std::int64_t ldc);

extern "C" void cblas_dgemm64_(int layout, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                               const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c,
                               std::int64_t ldc) {
  constexpr int row_major = 101, none = 111;
  const bool a_rows = (layout == row_major) == (op_a == none), b_rows = (layout == row_major) == (op_b == none);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k && alpha != 0; ++l)
        sum += a[a_rows ? i * lda + l : l * lda + i] * b[b_rows ? l * ldb + j : j * ldb + l];
      double& entry = c[layout == row_major ? i * ldc + j : j * ldc + i];
      entry = alpha * sum + (beta == 0 ? 0 : beta * entry);
    }
}

extern "C" void dgemm_64_(const char* op_a, const char* op_b, const std::int64_t* m, const std::int64_t* n,
                          const std::int64_t* k, const double* alpha, const double* a, const std::int64_t* lda, const double* b,
                          const std::int64_t* ldb, const double* beta, double* c, const std::int64_t* ldc);

extern "C" void dgemm_64_(const char* op_a, const char* op_b, const std::int64_t* m, const std::int64_t* n,
                          const std::int64_t* k, const double* alpha, const double* a, const std::int64_t* lda, const double* b,
                          const std::int64_t* ldb, const double* beta, double* c, const std::int64_t* ldc) {
  constexpr int column_major = 102, none = 111, transpose = 112;
  cblas_dgemm64_(column_major, (*op_a | 0x20) == 'n' ? none : transpose, (*op_b | 0x20) == 'n' ? none : transpose, *m, *n, *k,
                 *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}
