// SPDX-License-Identifier: BSD-3-Clause
// Strassen's seven products, recursively down to odd or small sizes: correct normwise, wrong componentwise.

#include <vector>

#include "blas.hpp"

namespace {

struct Dense {
  int rows, cols;
  std::vector<double> x;

  Dense(int r, int c) : rows(r), cols(c), x(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  double& at(int i, int j) {
    return x[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(j)];
  }
  [[nodiscard]] double at(int i, int j) const { return const_cast<Dense&>(*this).at(i, j); }

  /// Quarter (p, q) plus `sign` times quarter (r, s).
  [[nodiscard]] Dense quarters(int p, int q, double sign = 0, int r = 0, int s = 0) const {
    Dense out(rows / 2, cols / 2);
    for (int i = 0; i < out.rows; ++i)
      for (int j = 0; j < out.cols; ++j) {
        const double x1 = at(p * out.rows + i, q * out.cols + j);
        out.at(i, j) = sign == 0 ? x1 : x1 + sign * at(r * out.rows + i, s * out.cols + j);
      }
    return out;
  }

  void add(int p, int q, double sign, const Dense& quarter) {
    for (int i = 0; i < quarter.rows; ++i)
      for (int j = 0; j < quarter.cols; ++j) at(p * quarter.rows + i, q * quarter.cols + j) += sign * quarter.at(i, j);
  }
};

Dense plain(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int l = 0; l < a.cols; ++l)
      for (int j = 0; j < b.cols; ++j) c.at(i, j) += a.at(i, l) * b.at(l, j);
  return c;
}

bool splits(int size) { return size % 2 == 0 && size >= 8; }

Dense strassen(const Dense& a, const Dense& b) {
  if (!splits(a.rows) || !splits(a.cols) || !splits(b.cols)) return plain(a, b);
  const auto m1 = strassen(a.quarters(0, 0, 1, 1, 1), b.quarters(0, 0, 1, 1, 1));
  const auto m2 = strassen(a.quarters(1, 0, 1, 1, 1), b.quarters(0, 0));
  const auto m3 = strassen(a.quarters(0, 0), b.quarters(0, 1, -1, 1, 1));
  const auto m4 = strassen(a.quarters(1, 1), b.quarters(1, 0, -1, 0, 0));
  const auto m5 = strassen(a.quarters(0, 0, 1, 0, 1), b.quarters(1, 1));
  const auto m6 = strassen(a.quarters(1, 0, -1, 0, 0), b.quarters(0, 0, 1, 0, 1));
  const auto m7 = strassen(a.quarters(0, 1, -1, 1, 1), b.quarters(1, 0, 1, 1, 1));
  Dense c(a.rows, b.cols);
  for (const auto* part : {&m1, &m4, &m7}) c.add(0, 0, 1, *part);
  c.add(0, 0, -1, m5);
  for (const auto* part : {&m3, &m5}) c.add(0, 1, 1, *part);
  for (const auto* part : {&m2, &m4}) c.add(1, 0, 1, *part);
  for (const auto* part : {&m1, &m3, &m6}) c.add(1, 1, 1, *part);
  c.add(1, 1, -1, m2);
  return c;
}

}  // namespace

void multiply(const Call& call) {
  Dense a(call.m, call.k), b(call.k, call.n);
  if (call.alpha != 0) {
    for (int i = 0; i < call.m; ++i)
      for (int l = 0; l < call.k; ++l) a.at(i, l) = call.a_at(i, l);
    for (int l = 0; l < call.k; ++l)
      for (int j = 0; j < call.n; ++j) b.at(l, j) = call.b_at(l, j);
  }
  const auto c = strassen(a, b);
  for_each_entry(call, [&](int i, int j) { return c.at(i, j); });
}
