// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/tensor_core.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/rounded.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound::models {
namespace {

/// The non-zero term (negative ? -1 : 1) magnitude 2^exponent, aligned as if its leading bit were 2^top.
struct Term {
  std::uint64_t magnitude;  ///< < 2^48
  int exponent;
  int top;
  bool negative;
};

/// The non-zero terms of one step, and the data that determine their alignment.
struct Terms {
  std::vector<Term> all;
  int top = std::numeric_limits<int>::min();
  int least = std::numeric_limits<int>::max();

  void add(const Term& term) {
    if (term.magnitude == 0) return;
    all.push_back(term);
    top = std::max(top, term.top);
    least = std::min(least, term.exponent);
  }
};

Term product(const Dyadic& a, const Dyadic& b) {
  return {a.magnitude * b.magnitude, a.exponent + b.exponent, a.top_exponent() + b.top_exponent(), a.negative != b.negative};
}

Terms terms_of(float accumulator, std::span<const float> a, std::span<const float> b) {
  Terms terms;
  terms.all.reserve(a.size() + 1);
  const auto start = to_dyadic(accumulator);
  terms.add({start.magnitude, start.exponent, start.top_exponent(), start.negative});
  for (std::size_t l = 0; l < a.size(); ++l) terms.add(product(to_dyadic(a[l]), to_dyadic(b[l])));
  return terms;
}

template <class Integer>
Accumulated sum(const Terms& terms, int grid, const TensorCore& unit) {
  AlignedSum<Integer> sum(grid, unit.alignment);
  for (const auto& term : terms.all) sum.add(term.negative, Integer(term.magnitude), term.exponent);
  const auto magnitude = sum.magnitude();
  const auto value = static_cast<float>(rounded<Integer>(magnitude, grid, sum.negative(), binary32_word, unit.accumulator));
  const bool fits = grid + bits_of_integer(magnitude) <= binary32_word.largest_exponent + 1;
  const bool kept = !loses<Integer>(magnitude, last_exponent(magnitude, grid, binary32_word) - grid);
  return {value, fits && kept && !sum.has_lost()};
}

/// The rows of a matrix, row-major, so that each row is a span.
std::vector<float> rows_of(MatrixView<const float> matrix) {
  std::vector<float> rows;
  rows.reserve(static_cast<std::size_t>(matrix.rows() * matrix.cols()));
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (!std::isfinite(matrix(i, j))) throw std::invalid_argument("the elements of a unit's operands must be finite");
      rows.push_back(matrix(i, j));
    }
  return rows;
}

/// The error of a rounding in units of half a last bit: 1 to nearest, 2 towards zero.
double halves(Rounding rounding) { return rounding == Rounding::nearest_even ? 1 : 2; }

}  // namespace

void check_unit(const TensorCore& unit) {
  if (unit.terms < 1 || unit.terms > 1024)
    throw std::invalid_argument("a step must have 1 to 1024 terms: " + std::to_string(unit.terms));
  if (unit.width < 24) throw std::invalid_argument("aligned terms must have 24 bits or more: " + std::to_string(unit.width));
}

Accumulated fused_step(const TensorCore& unit, float accumulator, std::span<const float> a, std::span<const float> b) {
  if (std::isinf(accumulator)) return {accumulator, false};
  const auto terms = terms_of(accumulator, a, b);
  if (terms.all.empty()) return {};
  const int grid = std::max(terms.least, terms.top + 1 - unit.width);
  // A term is below 2^(top + 2), a sum of 1025 below 2^(top + 13).
  return terms.top + 13 - grid <= 128 ? sum<VerifyUint128>(terms, grid, unit) : sum<Wide>(terms, grid, unit);
}

Accumulated dot(const TensorCore& unit, std::span<const float> a, std::span<const float> b) {
  Accumulated sum;
  const auto step = static_cast<std::size_t>(unit.terms);
  for (std::size_t l = 0; l < a.size(); l += step) {
    const auto count = std::min(step, a.size() - l);
    const auto [value, exact] = fused_step(unit, sum.value, a.subspan(l, count), b.subspan(l, count));
    sum = {value, sum.exact && exact};
  }
  return sum;
}

Matrix<float> gemm(const TensorCore& unit, MatrixView<const float> a, MatrixView<const float> b) {
  const FloatEnvironment environment;
  check_unit(unit);
  if (a.cols() != b.rows()) throw std::invalid_argument("A has as many columns as B has rows");
  const auto rows = rows_of(a), columns = rows_of(b.transposed());
  const auto k = static_cast<std::size_t>(a.cols());
  Matrix<float> c(a.rows(), b.cols());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      c(i, j) = dot(unit, std::span(rows).subspan(static_cast<std::size_t>(i) * k, k),
                    std::span(columns).subspan(static_cast<std::size_t>(j) * k, k))
                    .value;
  return c;
}

double accumulation_factor_upper(const TensorCore& unit, Index k) {
  const FloatEnvironment environment;
  check_unit(unit);
  if (k < 0) throw std::invalid_argument("k must not be negative: " + std::to_string(k));
  const double of_sum = std::ldexp(halves(unit.accumulator), -24);
  const double of_alignment =
      unit.width >= exact_alignment ? 0 : std::ldexp((unit.terms + 1) * halves(unit.alignment), -unit.width);
  const double step = add_upper(add_upper(of_sum, of_alignment), multiply_upper(of_sum, of_alignment));
  const auto steps = static_cast<std::uint64_t>(k / unit.terms + (k % unit.terms != 0 ? 1 : 0));
  const double all = multiply_upper(to_double_upper(steps), step);
  const double left = subtract_lower(1, all);
  return left == 0 ? std::numeric_limits<double>::infinity() : divide_upper(all, left);
}

}  // namespace ozbound::models
