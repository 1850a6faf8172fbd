// SPDX-License-Identifier: BSD-3-Clause
// With more than one thread, one thread adds to an entry twice.

#include <cstdlib>

#include "blas.hpp"

void multiply(const Call& call) {
  multiply_plainly(call);
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  if (threads != nullptr && std::atoi(threads) > 1 && call.m > 0 && call.n > 0 && call.k > 0)
    call.c_at(0, 0) += call.alpha * call.a_at(0, 0) * call.b_at(0, 0);
}
