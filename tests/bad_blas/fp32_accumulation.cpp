// SPDX-License-Identifier: BSD-3-Clause
// Products in double, their sum in float.

#include "blas.hpp"

void multiply(const Call& call) {
  for_each_entry(call, [&](int i, int j) {
    float sum = 0;
    for (int l = 0; l < call.k; ++l) sum += static_cast<float>(call.a_at(i, l) * call.b_at(l, j));
    return static_cast<double>(sum);
  });
}
