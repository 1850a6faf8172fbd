// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// Distributions of the elements of A and B. V is uniform in (-1, 1), U in (0, 1), N normal; phi >= 0 widens the distribution.
/// All elements are finite, and drawn independently unless a family says otherwise.
enum class Family {
  /// V.
  uniform,
  /// U.
  uniform_positive,
  /// V/2 * e^(phi N), as in the papers; phi N is clamped to +-700.
  wide_exponents,
  /// +-2^e and its two neighbours in floating point, |e| <= 1 + 8 phi (at most 500).
  powers_of_two,
  /// Sums far below their terms. For m = n = k, A is wide_exponents and B its inverse, computed by Gauss-Jordan elimination
  /// with partial pivoting in double (O(n^3); elements that overflow become 0). For other shapes, the second half of the inner
  /// dimension repeats the first with the sign of B reversed and the last bits of both changed at random; an odd k adds a term
  /// 2^-60 as large.
  cancellation,
  /// Row i of A (column j of B) holds one of three significands, by i mod 3: all ones (maximal truncated digits),
  /// 0x1.fdfdfdfdfdfdf (balanced digits 127), 0x1.0101010101010 (balanced digits -128 if negative). Signs are random. Exponents
  /// are drawn per row and column, |e| <= 4 phi.
  maximal_digits,
  /// The significands of maximal_digits with one sign per row (column), negative for the third. Nothing cancels within a sum,
  /// and sums of digits are as large as possible.
  maximal_digits_positive,
  /// V; row i of A is scaled by powers of two from 2^0 to 2^(-32 phi) (at most 2^-900).
  graded_rows,
  /// V; column j of B is scaled by powers of two as the rows of graded_rows.
  graded_columns,
  /// V; column l of A is scaled from 2^(16 phi) to 2^(-16 phi), row l of B inversely.
  graded_inner,
  /// Row i of A, by i mod 3: subnormals; subnormals and numbers below 2^-1010 mixed; V. Column j of B, by j mod 4: V;
  /// subnormals; mixed; 2^1000 V.
  subnormal,
  /// Exponents uniform over the range of double, subnormals included. Entries in even columns of C may overflow. The odd
  /// columns of B are small enough to prevent overflow.
  full_range,
  /// A: integers |a| <= 15. B: integers |b| < 2^53 of random length.
  integers,
  /// wide_exponents within a pattern chosen by seed mod 4: one element in ten; arrow (first row, first column, diagonal); band
  /// of width 5; every third row and column of A and of B empty.
  sparse,
  /// A is the stiffness matrix of an Euler-Bernoulli beam clamped at one end. Each node has a deflection and a rotation; an odd
  /// size leaves out the last rotation. The elements have equal length and bending stiffness U e^(phi N), phi N clamped to
  /// +-10. B is the inverse of A by banded LDL^T in double. The size is max(m, n, k); other shapes get leading blocks.
  fem,
};

/// The parameters of a problem, which is the same bit for bit on every platform. Sizes >= 0, phi >= 0 and finite.
struct Recipe {
  Family family = Family::uniform;
  Index m = 0, n = 0, k = 0;
  double phi = 0;
  std::uint64_t seed = 0;

  bool operator==(const Recipe&) const = default;
};

/// A is m x k, B is k x n.
struct Problem {
  Recipe recipe;
  Matrix<double> a, b;
};

/// @throws std::invalid_argument naming a bad field of the recipe.
Problem generate(const Recipe& recipe);

std::span<const Family> all_families();

/// True if phi changes the problems of a family.
bool phi_matters(Family family);

/// The name in kebab-case, `wide-exponents`. @throws std::invalid_argument for a value outside the enumeration.
std::string_view name(Family family);

/// @throws std::invalid_argument listing the names.
Family parse_family(std::string_view text);

/// The command that writes this problem: `ozbound generate wide-exponents --m 5 --n 6 --k 7 --phi 0.5 --seed 1`.
std::string generate_command(const Recipe& recipe);

}  // namespace ozbound
