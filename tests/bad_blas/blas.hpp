// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// One call: C = alpha A B + beta C. Strides express operations and layout: A(i, l) is a[i * a_row + l * a_col].
struct Call {
  int m, n, k;
  double alpha;
  const double* a;
  std::ptrdiff_t a_row, a_col;
  const double* b;
  std::ptrdiff_t b_row, b_col;
  double beta;
  double* c;
  std::ptrdiff_t c_row, c_col;

  [[nodiscard]] double a_at(int i, int l) const { return a[i * a_row + l * a_col]; }
  [[nodiscard]] double b_at(int l, int j) const { return b[l * b_row + j * b_col]; }
  [[nodiscard]] double& c_at(int i, int j) const { return c[i * c_row + j * c_col]; }
};

/// The product of each library; called by entry.cpp.
void multiply(const Call& call);

/// Stores alpha * sum + beta C correctly: C is not read if beta = 0.
inline void store(const Call& call, int i, int j, double sum) {
  const double product = call.alpha * sum;
  call.c_at(i, j) = call.beta == 0 ? product : product + call.beta * call.c_at(i, j);
}

/// Calls put(i, j, sum(i, j)) for every entry; nothing is summed if alpha = 0.
template <class Sum, class Put>
void for_each_entry(const Call& call, Sum sum, Put put) {
  for (int j = 0; j < call.n; ++j)
    for (int i = 0; i < call.m; ++i)
      if (call.alpha != 0)
        put(i, j, sum(i, j));
      else
        call.c_at(i, j) = call.beta == 0 ? 0 : call.beta * call.c_at(i, j);
}

/// Calls sum(i, j) for every entry and stores it.
template <class Sum>
void for_each_entry(const Call& call, Sum sum) {
  for_each_entry(call, sum, [&](int i, int j, double of) { store(call, i, j, of); });
}

/// The conventional inner product, summed from first to last.
inline double inner_product(const Call& call, int i, int j) {
  double sum = 0;
  for (int l = 0; l < call.k; ++l) sum += call.a_at(i, l) * call.b_at(l, j);
  return sum;
}

/// The correct product, by a plain loop.
inline void multiply_plainly(const Call& call) {
  for_each_entry(call, [&](int i, int j) { return inner_product(call, i, j); });
}
