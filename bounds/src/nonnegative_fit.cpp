// SPDX-License-Identifier: BSD-3-Clause
#include "nonnegative_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace ozbound {
namespace {

using Column = std::vector<double>;

constexpr double least_error = 0.01;  ///< relative; smaller errors have the weight of ordinary least squares

double dot(const Column& x, const Column& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); }

/// Subtracts from x its component along the unit vector q, and returns the length of that component.
double remove(const Column& q, Column& x) {
  const double length = dot(q, x);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= length * q[i];
  return length;
}

struct Solution {
  std::vector<double> x;
  double residual = std::numeric_limits<double>::infinity();  ///< sum of squares
};

/// Least squares by modified Gram-Schmidt with the right side as one more column; nothing if columns are linearly dependent.
/// @pre columns are unit vectors.
std::optional<Solution> least_squares(std::vector<Column> columns, Column right) {
  const std::size_t count = columns.size();
  std::vector<std::vector<double>> upper(count, std::vector<double>(count));
  std::vector<double> x(count);
  for (std::size_t j = 0; j < count; ++j) {
    const double length = std::sqrt(dot(columns[j], columns[j]));
    if (length < 0x1p-30) return std::nullopt;
    for (auto& element : columns[j]) element /= length;
    upper[j][j] = length;
    for (std::size_t l = j + 1; l < count; ++l) upper[j][l] = remove(columns[j], columns[l]);
    x[j] = remove(columns[j], right);
  }
  for (std::size_t j = count; j-- > 0;) {
    for (std::size_t l = j + 1; l < count; ++l) x[j] -= upper[j][l] * x[l];
    x[j] /= upper[j][j];
  }
  return Solution{std::move(x), dot(right, right)};
}

/// The x >= 0 with the least sum of squares: the best, over all sets of columns, whose unconstrained solution is not negative.
std::vector<double> nonnegative_least_squares(std::vector<Column> columns, const Column& right) {
  const std::size_t terms = columns.size();
  std::vector<double> lengths(terms);
  for (std::size_t j = 0; j < terms; ++j) {
    lengths[j] = std::sqrt(dot(columns[j], columns[j]));
    if (lengths[j] > 0)
      for (auto& element : columns[j]) element /= lengths[j];
  }
  Solution best{std::vector<double>(terms), dot(right, right)};
  for (unsigned subset = 1; subset < 1U << terms; ++subset) {
    std::vector<std::size_t> chosen;
    std::vector<Column> kept;
    for (std::size_t j = 0; j < terms; ++j)
      if ((subset >> j & 1U) != 0) chosen.push_back(j), kept.push_back(columns[j]);
    const auto solution = least_squares(std::move(kept), right);
    if (!solution || solution->residual >= best.residual || std::ranges::min(solution->x) < 0) continue;
    best = {std::vector<double>(terms), solution->residual};
    for (std::size_t t = 0; t < chosen.size(); ++t) best.x[chosen[t]] = solution->x[t] / lengths[chosen[t]];
  }
  return best.x;
}

}  // namespace

std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& values) {
  const std::size_t terms = rows.empty() ? 0 : rows.front().size();
  Column weights(rows.size(), 1);
  std::vector<double> x(terms);
  for (int round = 0; round < 12; ++round) {
    std::vector<Column> columns(terms, Column(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < terms; ++j) columns[j][i] = weights[i] * rows[i][j] / values[i];
    x = nonnegative_least_squares(std::move(columns), weights);
    for (std::size_t i = 0; i < rows.size(); ++i)
      weights[i] = 1 / std::sqrt(std::max(std::abs(dot(rows[i], x) / values[i] - 1), least_error));
  }
  return x;
}

}  // namespace ozbound
