// SPDX-License-Identifier: BSD-3-Clause
// All threads of the caller pack rows of A into one buffer (OpenBLAS issues 602, 1755, 1761 and 2126).

#include <array>

#include "blas.hpp"

namespace {

std::array<volatile double, 1 << 18> packed;

}  // namespace

void multiply(const Call& call) {
  for (int i = 0; i < call.m; ++i) {
    for (int l = 0; l < call.k; ++l) packed[static_cast<std::size_t>(l)] = call.a_at(i, l);
    for (int j = 0; j < call.n; ++j) {
      double sum = 0;
      for (int l = 0; call.alpha != 0 && l < call.k; ++l) sum += packed[static_cast<std::size_t>(l)] * call.b_at(l, j);
      if (call.alpha != 0)
        store(call, i, j, sum);
      else
        call.c_at(i, j) = call.beta == 0 ? 0 : call.beta * call.c_at(i, j);
    }
  }
}
