// SPDX-License-Identifier: BSD-3-Clause
// Adds beta C even if beta = 0, so a NaN or an infinity in an uninitialised output spreads.

#include "blas.hpp"

void multiply(const Call& call) {
  for (int j = 0; j < call.n; ++j)
    for (int i = 0; i < call.m; ++i) {
      double& c = call.c_at(i, j);
      c = call.alpha == 0 ? call.beta * c : call.alpha * inner_product(call, i, j) + call.beta * c;
    }
}
