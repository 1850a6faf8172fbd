/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OZBOUND_DROP_IN_NAMES_H
#define OZBOUND_DROP_IN_NAMES_H

/* Each routine once for every name by which programs call it: X(name, type, single, wide). `wide`: its integers have 64 bits.
 * OpenBLAS builds with a suffix have the names with 64_; NumPy's and SciPy's wheels also those with scipy_. */

#define OZD_FORTRAN_NAMES(X)       \
  X(dgemm_, double, 0, 0)          \
  X(sgemm_, float, 1, 0)           \
  X(dgemm_64_, double, 0, 1)       \
  X(sgemm_64_, float, 1, 1)        \
  X(scipy_dgemm_, double, 0, 0)    \
  X(scipy_sgemm_, float, 1, 0)     \
  X(scipy_dgemm_64_, double, 0, 1) \
  X(scipy_sgemm_64_, float, 1, 1)

#define OZD_CBLAS_NAMES(X)              \
  X(cblas_dgemm, double, 0, 0)          \
  X(cblas_sgemm, float, 1, 0)           \
  X(cblas_dgemm64_, double, 0, 1)       \
  X(cblas_sgemm64_, float, 1, 1)        \
  X(scipy_cblas_dgemm, double, 0, 0)    \
  X(scipy_cblas_sgemm, float, 1, 0)     \
  X(scipy_cblas_dgemm64_, double, 0, 1) \
  X(scipy_cblas_sgemm64_, float, 1, 1)

#endif
