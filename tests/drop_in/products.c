/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in with a BLAS of its own, given by its libraries. It multiplies and returns a hash of the bits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef WIDE
typedef int64_t integer;
#define F(name) name##64_
#define C(name) name##64_
#else
typedef int integer;
#define F(name) name
#define C(name) name
#endif
extern void F(dgemm_)(const char*, const char*, const integer*, const integer*, const integer*, const double*, const double*,
                      const integer*, const double*, const integer*, const double*, double*, const integer*, size_t, size_t);
extern void C(cblas_dgemm)(int, int, int, integer, integer, integer, double, const double*, integer, const double*, integer,
                           double, double*, integer);
#ifndef WIDE
extern void sgemm_(const char*, const char*, const integer*, const integer*, const integer*, const float*, const float*,
                   const integer*, const float*, const integer*, const float*, float*, const integer*, size_t, size_t);
#endif

static uint64_t hash(const void* bytes, size_t size, uint64_t start) {
  const unsigned char* at = bytes;
  for (size_t i = 0; i < size; ++i) start = (start ^ at[i]) * UINT64_C(1099511628211);
  return start;
}

static void fill(double* x, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (double)(int)seed * 0x1p-31 * (double)(1 + i % 7);
  }
}

/* One product of n x (n + 3) by (n + 3) x (n + 1) by each name: Fortran's with and without scalars, CBLAS's by rows. */
uint64_t products(int size) {
  const integer n = size, k = n + 3, columns = n + 1;
  double *a = malloc(8 * (size_t)(n * k)), *b = malloc(8 * (size_t)(k * columns)), *c = calloc((size_t)(n * columns), 8);
  fill(a, (size_t)(n * k), 1), fill(b, (size_t)(k * columns), 2), fill(c, (size_t)(n * columns), 3);
  const double one = 1, zero = 0, minus = -1, half = 0.5;
  uint64_t result = UINT64_C(14695981039346656037);
  F(dgemm_)("N", "N", &n, &columns, &k, &minus, a, &n, b, &k, &one, c, &n, 1, 1);
  result = hash(c, 8 * (size_t)(n * columns), result);
  F(dgemm_)("T", "T", &n, &columns, &k, &half, a, &k, b, &columns, &zero, c, &n, 1, 1);
  result = hash(c, 8 * (size_t)(n * columns), result);
  C(cblas_dgemm)(101, 111, 111, n, columns, k, 1, a, k, b, columns, 0, c, columns);
  result = hash(c, 8 * (size_t)(n * columns), result);
#ifndef WIDE
  float *s = malloc(4 * (size_t)(n * k)), *t = malloc(4 * (size_t)(k * columns)), *u = calloc((size_t)(n * columns), 4);
  for (integer i = 0; i < n * k; ++i) s[i] = (float)a[i];
  for (integer i = 0; i < k * columns; ++i) t[i] = (float)b[i];
  const float f_one = 1, f_zero = 0;
  sgemm_("N", "N", &n, &columns, &k, &f_one, s, &n, t, &k, &f_zero, u, &n, 1, 1);
  result = hash(u, 4 * (size_t)(n * columns), result);
  free(s), free(t), free(u);
#endif
  free(a), free(b), free(c);
  return result;
}

/* Calls `count` times by CBLAS. */
void by_cblas(int count) {
  enum { n = 20 };
  double a[n * n], b[n * n], c[n * n];
  fill(a, n * n, 1), fill(b, n * n, 2);
  for (int i = 0; i < count; ++i) C(cblas_dgemm)(102, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
}

/* C in A's memory, an operand with a NaN, and arguments that every BLAS refuses. */
void odd_calls(void) {
  enum { n = 20 };
  double a[n * n], b[n * n], c[n * n];
  const integer size = n, negative = -1;
  const double one = 1, zero = 0;
  fill(a, n * n, 1), fill(b, n * n, 2);
  F(dgemm_)("N", "N", &size, &size, &size, &one, a, &size, b, &size, &zero, a, &size, 1, 1);
  fill(a, n * n, 1);
  const uint64_t nan = UINT64_C(0x7ff8000000000000);
  memcpy(&b[7], &nan, sizeof nan);
  F(dgemm_)("N", "N", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size, 1, 1);
  F(dgemm_)("N", "N", &size, &negative, &size, &one, a, &size, b, &size, &zero, c, &size, 1, 1);
  F(dgemm_)("X", "N", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size, 1, 1);
}

/* A product of small integers: nothing is rounded. */
void exact_call(void) {
  enum { n = 40 };
  static double a[n * n], b[n * n], c[n * n];
  const integer size = n;
  const double one = 1, zero = 0;
  for (int i = 0; i < n * n; ++i) a[i] = i % 5, b[i] = i % 3;
  F(dgemm_)("N", "N", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size, 1, 1);
}

void refused_call(void) {
  const integer one = 1, negative = -1;
  const double x = 1;
  double y = 1;
  F(dgemm_)("N", "N", &negative, &one, &one, &x, &x, &one, &x, &one, &x, &y, &one, 1, 1);
}

#ifdef IN_CONSTRUCTOR
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void multiply_while_opened(void) {
  usleep(300000); /* until the other thread is in its first call */
  fprintf(stderr, "constructor %016llx\n", (unsigned long long)products(40));
}
#endif
