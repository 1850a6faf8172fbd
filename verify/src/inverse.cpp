// SPDX-License-Identifier: BSD-3-Clause
#include "inverse.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ozbound {
namespace {

constexpr Index half_bandwidth = 3;

Index pivot_row(const Matrix<double>& a, Index column) {
  Index best = column;
  for (Index i = column + 1; i < a.rows(); ++i)
    if (std::abs(a(i, column)) > std::abs(a(best, column))) best = i;
  return best;
}

void swap_rows(Matrix<double>& a, Index i, Index j) {
  for (Index l = 0; l < a.cols(); ++l) std::swap(a(i, l), a(j, l));
}

/// Row i -= factor * row p.
void subtract_row(Matrix<double>& a, Index i, Index p, double factor) {
  double* target = &a(i, 0);
  const double* source = &a(p, 0);
  for (Index l = 0; l < a.cols(); ++l) target[l] -= factor * source[l];
}

void divide_row(Matrix<double>& a, Index i, double divisor) {
  for (Index l = 0; l < a.cols(); ++l) a(i, l) /= divisor;
}

void clear_non_finite(Matrix<double>& a) {
  std::replace_if(a.data(), a.data() + a.rows() * a.cols(), [](double x) { return !std::isfinite(x); }, 0.0);
}

/// L (unit lower, below the diagonal) and D (on it), within the band.
Matrix<double> banded_ldlt(const Matrix<double>& a) {
  Matrix<double> factors(a.rows(), a.cols());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = std::max<Index>(0, i - half_bandwidth); j <= i; ++j) {
      double sum = a(i, j);
      for (Index l = std::max<Index>(0, i - half_bandwidth); l < j; ++l) sum -= factors(i, l) * factors(l, l) * factors(j, l);
      factors(i, j) = i == j ? sum : sum / factors(j, j);
    }
  return factors;
}

/// Solves L D L^T x = x, in place.
void solve_ldlt(const Matrix<double>& factors, std::vector<double>& x) {
  const auto at = [&x](Index i) -> double& { return x[static_cast<std::size_t>(i)]; };
  const Index size = factors.rows();
  for (Index i = 0; i < size; ++i)
    for (Index l = std::max<Index>(0, i - half_bandwidth); l < i; ++l) at(i) -= factors(i, l) * at(l);
  for (Index i = 0; i < size; ++i) at(i) /= factors(i, i);
  for (Index i = size - 1; i >= 0; --i)
    for (Index l = i + 1; l <= std::min(size - 1, i + half_bandwidth); ++l) at(i) -= factors(l, i) * at(l);
}

}  // namespace

Matrix<double> gauss_jordan_inverse(Matrix<double> a) {
  Matrix<double> inverse(a.rows(), a.cols());
  for (Index i = 0; i < a.rows(); ++i) inverse(i, i) = 1;
  for (Index p = 0; p < a.cols(); ++p) {
    const Index best = pivot_row(a, p);
    swap_rows(a, p, best);
    swap_rows(inverse, p, best);
    const double pivot = a(p, p);
    divide_row(a, p, pivot);
    divide_row(inverse, p, pivot);
    for (Index i = 0; i < a.rows(); ++i) {
      if (i == p) continue;
      const double factor = a(i, p);
      subtract_row(a, i, p, factor);
      subtract_row(inverse, i, p, factor);
    }
  }
  clear_non_finite(inverse);
  return inverse;
}

Matrix<double> banded_inverse(const Matrix<double>& a) {
  const auto factors = banded_ldlt(a);
  Matrix<double> inverse(a.rows(), a.cols());
  std::vector<double> x(static_cast<std::size_t>(a.rows()));
  for (Index j = 0; j < a.cols(); ++j) {
    std::fill(x.begin(), x.end(), 0.0);
    x[static_cast<std::size_t>(j)] = 1;
    solve_ldlt(factors, x);
    for (Index i = 0; i < a.rows(); ++i) inverse(i, j) = x[static_cast<std::size_t>(i)];
  }
  clear_non_finite(inverse);
  return inverse;
}

}  // namespace ozbound
