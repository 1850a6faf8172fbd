// SPDX-License-Identifier: BSD-3-Clause
// Splits each row of A and column of B into three slices of 7 bits, far too few for FP64. NaNs and infinities are multiplied
// plainly.

#include <algorithm>
#include <cmath>
#include <vector>

#include "blas.hpp"

namespace {

/// Splits `count` elements with this stride into three slices of 7 bits below their common power of two.
std::vector<double> sliced(const double* x, std::ptrdiff_t stride, int count) {
  std::vector<double> out;
  double largest = 0;
  for (int l = 0; l < count; ++l) {
    out.push_back(x[l * stride]);
    largest = std::max(largest, std::abs(out.back()));
  }
  if (largest == 0) return out;
  const int unit = std::ilogb(largest) + 1 - 21;
  for (auto& element : out) element = std::ldexp(std::trunc(std::ldexp(element, -unit)), unit);
  return out;
}

bool is_finite(const double* x, std::ptrdiff_t stride, int count) {
  for (int l = 0; l < count; ++l)
    if (!std::isfinite(x[l * stride])) return false;
  return true;
}

}  // namespace

void multiply(const Call& call) {
  std::vector<std::vector<double>> rows, columns;  // empty for rows or columns with a NaN or an infinity
  for (int i = 0; i < call.m && call.alpha != 0; ++i) {
    const double* const row = call.a + i * call.a_row;
    rows.push_back(is_finite(row, call.a_col, call.k) ? sliced(row, call.a_col, call.k) : std::vector<double>());
  }
  for (int j = 0; j < call.n && call.alpha != 0; ++j) {
    const double* const column = call.b + j * call.b_col;
    columns.push_back(is_finite(column, call.b_row, call.k) ? sliced(column, call.b_row, call.k) : std::vector<double>());
  }
  for_each_entry(call, [&](int i, int j) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    const auto& column = columns[static_cast<std::size_t>(j)];
    if (row.empty() || column.empty()) return inner_product(call, i, j);
    double sum = 0;
    for (std::size_t l = 0; l < row.size(); ++l) sum += row[l] * column[l];
    return sum;
  });
}
