/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in over unsuffixed_wide_blas.c: one exact product whose sizes have rubbish in no half, and a leading dimension beyond
 * 32 bits, which a reader of 32-bit integers takes for another matrix. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

extern void dgemm_(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*, const double*,
                   const int64_t*, const double*, const int64_t*, const double*, double*, const int64_t*);

uint64_t products(int size) {
  const int64_t m = size, n = 1, k = 2, lda = (INT64_C(1) << 32) + size;
  const size_t bytes = (size_t)(lda + m) * sizeof(double);
  double* const a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a == MAP_FAILED) return 0;
  const double b[2] = {3, 2}, one = 1, zero = 0;
  double* const c = calloc((size_t)m, sizeof *c);
  for (int64_t i = 0; i < m; ++i) a[i] = 1, a[i + lda] = (double)(1 + i);
  dgemm_("N", "N", &m, &n, &k, &one, a, &lda, b, &k, &zero, c, &m);
  uint64_t right = 1;
  for (int64_t i = 0; i < m; ++i) right &= c[i] == 3 + 2 * (1. + (double)i);
  free(c);
  munmap(a, bytes);
  return right;
}
