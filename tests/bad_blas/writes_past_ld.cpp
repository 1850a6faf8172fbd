// SPDX-License-Identifier: BSD-3-Clause
// Stores tiles of four whole, also into the gaps between the columns of C.

#include <algorithm>

#include "blas.hpp"

void multiply(const Call& call) {
  multiply_plainly(call);
  const bool columns = call.c_row == 1;
  const int length = columns ? call.m : call.n, count = columns ? call.n : call.m;
  const auto ld = static_cast<int>(columns ? call.c_col : call.c_row);
  for (int line = 0; line < count; ++line)
    for (int x = length; x < std::min(ld, (length + 3) / 4 * 4); ++x) call.c[static_cast<std::ptrdiff_t>(line) * ld + x] = 0;
}
