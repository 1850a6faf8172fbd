// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/literature/models/word_format.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::models {

/// Operands whose elements are binary32 numbers, with copies in binary64 for the oracle.
struct Binary32Operands {
  Matrix<float> a, b;
  Problem exact;
};

/// Scales a row or column by a power of two, so that its largest element is in [1/2, 1), and rounds each element to binary32.
/// Most families exceed the range of half-precision units.
inline void scale_line(Matrix<double>& matrix, Index i, bool row) {
  const Index count = row ? matrix.cols() : matrix.rows();
  const auto element = [&](Index l) -> double& { return row ? matrix(i, l) : matrix(l, i); };
  double largest = 0;
  for (Index l = 0; l < count; ++l) largest = std::max(largest, std::fabs(element(l)));
  int exponent = 0;
  std::frexp(largest, &exponent);
  for (Index l = 0; l < count; ++l)
    element(l) = round_to(binary32_word, std::ldexp(std::ldexp(element(l), -exponent / 2), -exponent + exponent / 2));
}

inline Matrix<float> narrowed(const Matrix<double>& wide) {
  Matrix<float> narrow(wide.rows(), wide.cols());
  std::transform(wide.data(), wide.data() + wide.rows() * wide.cols(), narrow.data(),
                 [](double x) { return static_cast<float>(x); });
  return narrow;
}

/// A problem of binary32 numbers below 1. Scaling is by rows of A and columns of B.
inline Binary32Operands binary32_operands(const Recipe& recipe) {
  Problem problem = generate(recipe);
  for (Index i = 0; i < problem.a.rows(); ++i) scale_line(problem.a, i, true);
  for (Index j = 0; j < problem.b.cols(); ++j) scale_line(problem.b, j, false);
  return {narrowed(problem.a), narrowed(problem.b), std::move(problem)};
}

/// Operands of one row and one column.
inline Binary32Operands binary32_operands(const std::vector<double>& row, const std::vector<double>& column) {
  const auto k = static_cast<Index>(row.size());
  Problem problem{{}, Matrix<double>(1, k), Matrix<double>(k, 1)};
  std::copy(row.begin(), row.end(), problem.a.data());
  std::copy(column.begin(), column.end(), problem.b.data());
  return {narrowed(problem.a), narrowed(problem.b), std::move(problem)};
}

/// The worst error / bound among the entries, rounded up. `bound` computes an entry's bound from the oracle's result.
template <class Bound>
double worst_ratio(const Matrix<float>& c, const Binary32Operands& operands, const Bound& bound) {
  const ExactOracle oracle(operands.exact);
  double worst = 0;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto entry = oracle.evaluate(i, j, static_cast<double>(c(i, j)), ResultFormat::of_float);
      worst = std::max(worst, to_double_upper(divide_upper(entry.error_upper, bound(i, j, entry))));
    }
  return worst;
}

}  // namespace ozbound::models
