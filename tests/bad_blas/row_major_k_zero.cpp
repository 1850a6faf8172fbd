// SPDX-License-Identifier: BSD-3-Clause
// Where the inner dimension and beta are zero, row-major calls leave C as it was (OpenBLAS issue 2914).

#include "blas.hpp"

void multiply(const Call& call) {
  const bool row_major = call.c_row != 1;
  if (call.k == 0 && call.beta == 0 && row_major) return;
  multiply_plainly(call);
}
