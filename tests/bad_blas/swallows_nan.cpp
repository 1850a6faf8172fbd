// SPDX-License-Identifier: BSD-3-Clause
// Leaves out terms that are NaN.

#include <cmath>

#include "blas.hpp"

void multiply(const Call& call) {
  for_each_entry(call, [&](int i, int j) {
    double sum = 0;
    for (int l = 0; l < call.k; ++l)
      if (const double term = call.a_at(i, l) * call.b_at(l, j); !std::isnan(term)) sum += term;
    return sum;
  });
}
