// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/residue_plan.hpp"

// The result of a plan by residues, by its definition: in integers of any length, without residues.

namespace ozbound::residue_reference {

using Integer = boost::multiprecision::cpp_int;

/// numerator * 2^exponent.
struct Fraction {
  Integer numerator;
  int exponent = 0;
};

inline Fraction exact_fraction(double x) {
  int exponent = 0;
  const double significand = std::frexp(x, &exponent);
  return {Integer(static_cast<std::int64_t>(std::ldexp(significand, 53))), exponent - 53};
}

inline Fraction sum(const Fraction& x, const Fraction& y) {
  const int exponent = std::min(x.exponent, y.exponent);
  return {(x.numerator << (x.exponent - exponent)) + (y.numerator << (y.exponent - exponent)), exponent};
}

inline Fraction product(const Fraction& x, const Fraction& y) { return {x.numerator * y.numerator, x.exponent + y.exponent}; }

/// x / 2^shift rounded to nearest, ties to even.
inline Integer to_nearest(const Integer& x, int shift) {
  if (shift <= 0) return x << -shift;
  const Integer magnitude = abs(x), floor = magnitude >> shift, rest = magnitude - (floor << shift);
  const Integer half = Integer(1) << (shift - 1);
  const bool up = rest > half || (rest == half && (floor & 1) != 0);
  const Integer rounded = floor + (up ? 1 : 0);
  return x < 0 ? Integer(-rounded) : rounded;
}

/// x rounded once to binary64.
inline double rounded(const Fraction& x) {
  if (x.numerator == 0) return 0;
  const int length = static_cast<int>(msb(Integer(abs(x.numerator)))) + 1, last = std::max(x.exponent + length - 53, -1074);
  const Integer significand = to_nearest(x.numerator, last - x.exponent);
  const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(significand)), last);  // exact, or infinite
  return std::copysign(value, x.numerator < 0 ? -1.0 : 1.0);
}

/// The exponent e of a vector's scale: 2^e = 2 ufp(max |x|); 0 for a zero vector.
inline int scale_of(const std::vector<double>& x) {
  double largest = 0;
  for (const double one : x) largest = std::max(largest, std::abs(one));
  int exponent = 0;
  if (largest != 0) std::frexp(largest, &exponent);
  return exponent;
}

/// The product P of the first N moduli.
inline Integer product_of_moduli(int count) {
  Integer p = 1;
  for (int t = 0; t < count; ++t) p *= residue_moduli[t];
  return p;
}

/// One entry: S' = sum a' b' in units of 2^unit, sum |a' b'|, and the exact dot product.
struct ResidueEntry {
  Integer sum = 0, magnitude = 0;
  int unit = 0;
  Fraction exact;

  ResidueEntry(const std::vector<double>& row, const std::vector<double>& column, const ResiduePlan& plan) {
    const int of_a = scale_of(row) - plan.bits_a, of_b = scale_of(column) - plan.bits_b;
    unit = of_a + of_b;
    for (std::size_t l = 0; l < row.size(); ++l) {
      const auto x = exact_fraction(row[l]), y = exact_fraction(column[l]);
      const Integer term = to_nearest(x.numerator, of_a - x.exponent) * to_nearest(y.numerator, of_b - y.exponent);
      sum += term, magnitude += abs(term);
      exact = residue_reference::sum(exact, product(x, y));
    }
  }
};

inline std::vector<double> row_of(const Matrix<double>& a, Index i) {
  std::vector<double> row;
  for (Index l = 0; l < a.cols(); ++l) row.push_back(a(i, l));
  return row;
}
inline std::vector<double> column_of(const Matrix<double>& b, Index j) {
  std::vector<double> column;
  for (Index l = 0; l < b.rows(); ++l) column.push_back(b(l, j));
  return column;
}

}  // namespace ozbound::residue_reference
