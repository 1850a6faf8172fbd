// SPDX-License-Identifier: BSD-3-Clause
// A BLAS with wrong results, preloaded in place of the one that the command was linked with.

extern "C" void cblas_dgemm(int, int, int, int m, int n, int, double, const double*, int, const double*, int, double, double* c,
                            int ldc);

extern "C" void cblas_dgemm(int, int, int, int m, int n, int, double, const double*, int, const double*, int, double, double* c,
                            int ldc) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c[i * ldc + j] = 1;
}
