// SPDX-License-Identifier: BSD-3-Clause
// beta C is added even where beta = 0: a NaN or an infinity in an output that nobody has set goes through.

#include "blas.hpp"

void multiply(const Call& call) {
  for (int j = 0; j < call.n; ++j)
    for (int i = 0; i < call.m; ++i) {
      double& c = call.c_at(i, j);
      c = call.alpha == 0 ? call.beta * c : call.alpha * inner_product(call, i, j) + call.beta * c;
    }
}
