// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/error_bound.hpp"

#include <cmath>
#include <stdexcept>

#include "ozbound/bounds/detail/rounded_error.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/real_representation.hpp"

namespace ozbound {

double ErrorBound::upper(Index i, Index j, double c_hat) const {
  const FloatEnvironment environment;
  const auto scale = std::int64_t{row_exponents[static_cast<std::size_t>(i)]} + column_exponents[static_cast<std::size_t>(j)];
  return rounded_error_upper(*this, product.upper(i, j), scale, c_hat);
}

Matrix<double> ErrorBound::of_entries(InputView c) const {
  const auto m = static_cast<Index>(row_exponents.size()), n = static_cast<Index>(column_exponents.size());
  if (c.rows() != m || c.cols() != n) throw std::invalid_argument("c must be as large as what the bound is about");
  const FloatEnvironment environment;
  Matrix<double> bounds(m, n);
  std::vector<double> relative(static_cast<std::size_t>(n));
  for (Index i = 0; i < m; ++i) {
    product.upper_row(i, 0, n, relative.data());
    for (Index j = 0; j < n; ++j) {
      const double value = double_from_bits(c.bits(i, j));
      const auto scale =
          std::int64_t{row_exponents[static_cast<std::size_t>(i)]} + column_exponents[static_cast<std::size_t>(j)];
      bounds(i, j) =
          std::isnan(value) ? value : rounded_error_upper(*this, relative[static_cast<std::size_t>(j)], scale, value);
    }
  }
  return bounds;
}

Matrix<std::complex<double>> ErrorBound::of_entries(const ComplexInputView& c) const {
  const auto bounds = of_entries(stacked_parts(c, 1).view());
  Matrix<std::complex<double>> joined(c.rows(), c.cols());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) joined(i, j) = {bounds(2 * i, j), bounds(2 * i + 1, j)};
  return joined;
}

std::function<double(Index, Index)> ErrorBound::over(InputView c) const {
  return [this, c](Index i, Index j) { return upper(i, j, double_from_bits(c.bits(i, j))); };
}

}  // namespace ozbound
