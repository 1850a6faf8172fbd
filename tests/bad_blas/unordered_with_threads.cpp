// SPDX-License-Identifier: BSD-3-Clause
// With more than one thread, adds the threads' parts in their order of arrival.

#include <cstdlib>

#include "blas.hpp"

void multiply(const Call& call) {
  static int calls = 0;
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  const bool several = threads != nullptr && std::atoi(threads) > 1;
  const int start = several && call.k > 0 ? ++calls % 2 * (call.k / 2) : 0;
  for_each_entry(call, [&](int i, int j) {
    double sum = 0;
    for (int l = start; l < call.k; ++l) sum += call.a_at(i, l) * call.b_at(l, j);
    for (int l = 0; l < start; ++l) sum += call.a_at(i, l) * call.b_at(l, j);
    return sum;
  });
}
