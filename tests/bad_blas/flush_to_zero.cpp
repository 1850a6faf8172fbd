// SPDX-License-Identifier: BSD-3-Clause
// Treats subnormal operands and results as zeros, as the FTZ and DAZ bits of MXCSR do.

#include <cmath>

#include "blas.hpp"

namespace {

double flushed(double x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x; }

}  // namespace

void multiply(const Call& call) {
  for_each_entry(call, [&](int i, int j) {
    double sum = 0;
    for (int l = 0; l < call.k; ++l) sum = flushed(sum + flushed(flushed(call.a_at(i, l)) * flushed(call.b_at(l, j))));
    return sum;
  });
  for (int j = 0; j < call.n; ++j)
    for (int i = 0; i < call.m; ++i) call.c_at(i, j) = flushed(call.c_at(i, j));
}
