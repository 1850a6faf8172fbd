// SPDX-License-Identifier: BSD-3-Clause
// C = alpha (A B + (beta / alpha) C), which is Inf or NaN where beta / alpha overflows.

#include "blas.hpp"

void multiply(const Call& call) {
  if (call.alpha == 0 || call.beta == 0) return multiply_plainly(call);
  for_each_entry(
      call, [&](int i, int j) { return inner_product(call, i, j) + call.beta / call.alpha * call.c_at(i, j); },
      [&](int i, int j, double sum) { call.c_at(i, j) = call.alpha * sum; });
}
