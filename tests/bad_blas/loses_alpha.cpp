// SPDX-License-Identifier: BSD-3-Clause
// alpha is lost from column 64 on if A is as stored, B is transposed and beta is not zero: one case of a kernel of its own.

#include "blas.hpp"

void multiply(const Call& call) {
  Call wrong = call;
  const bool column_major = call.c_row == 1;
  const bool a_transposed = (call.a_row == 1) != column_major, b_transposed = (call.b_row == 1) != column_major;
  if (!a_transposed && b_transposed && call.alpha != 0 && call.beta != 0) wrong.alpha = 1;
  for_each_entry(
      call, [&](int i, int j) { return inner_product(call, i, j); },
      [&](int i, int j, double sum) { store(j < 64 ? call : wrong, i, j, sum); });
}
