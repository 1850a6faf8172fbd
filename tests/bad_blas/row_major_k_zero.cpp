// SPDX-License-Identifier: BSD-3-Clause
// Row-major calls leave C unchanged if the inner dimension and beta are zero (OpenBLAS issue 2914).

#include "blas.hpp"

void multiply(const Call& call) {
  const bool row_major = call.c_row != 1;
  if (call.k == 0 && call.beta == 0 && row_major) return;
  multiply_plainly(call);
}
