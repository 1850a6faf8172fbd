#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// What the elements of A and B look like. U is uniform in (0, 1), V uniform in (-1, 1), N normal; phi >= 0 widens.
///
/// All elements are finite. Exponents are drawn per element unless a family says otherwise.
enum class Family {
  uniform,           ///< V
  uniform_positive,  ///< U
  wide_exponents,    ///< V/2 * e^(phi N), as in the papers; phi N is clamped to +-700
  powers_of_two,     ///< +-2^e and its two neighbours in floating point, |e| <= 1 + 8 phi (at most 500)
  cancellation,      ///< sums far below their terms. m = n = k: A = wide_exponents, B its inverse, computed by Gauss-Jordan
                     ///< elimination with partial pivoting in double (O(n^3)). Other shapes: the second half of the inner
                     ///< dimension repeats the first with B's sign turned, last bits changed at random; odd k adds a tiny term
  maximal_digits,    ///< row i of A (column j of B) holds one of three significands, by i mod 3: all ones (maximal truncated
                     ///< digits), 0x1.fdfdfdfdfdfdf (balanced digits 127), 0x1.0101010101010 (digits -128 where negative);
                     ///< signs at random; exponents per row and column, |e| <= 4 phi
  maximal_digits_positive,  ///< the same significands, one sign per row (column), negative for the third: nothing cancels
                            ///< within a sum, and sums of digits are as large as digits allow
  graded_rows,              ///< V; row i of A scaled by powers of two from 2^0 to 2^(-32 phi) (at most 2^-900)
  graded_columns,           ///< V; column j of B so scaled
  graded_inner,             ///< V; column l of A scaled from 2^(16 phi) to 2^(-16 phi), row l of B inversely
  subnormal,   ///< row i of A, by i mod 3: subnormals; subnormals and numbers below 2^-1010 mixed; V. Column j of B, by
               ///< j mod 4: V; subnormals; mixed; 2^1000 V
  full_range,  ///< any exponent of a double, subnormals included. Products with the even columns of B may overflow; the
               ///< odd columns are so small that they cannot
  integers,    ///< A: integers |a| <= 15; B: integers |b| < 2^53, of random length
  sparse,      ///< wide_exponents within a pattern chosen by seed mod 4: one element in ten; arrow (first row, first
               ///< column, diagonal); band of width 5; every third row and column of A and of B empty
  fem,         ///< A: stiffness matrix of a clamped Euler-Bernoulli beam (deflection and rotation at each node, element
        ///< length 1/N, bending stiffness U e^(phi N) per element, the last rotation left out where the size is odd); B: its
        ///< inverse by banded LDL^T in double. Size max(m, n, k), leading blocks of other shapes
};

/// What regenerates a problem, bit for bit on every platform. Sizes >= 0, phi >= 0 and finite.
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

/// The name in kebab-case, `wide-exponents`. @throws std::invalid_argument for a value outside the enumeration.
std::string_view name(Family family);

/// @throws std::invalid_argument listing the names.
Family parse_family(std::string_view text);

/// The command that writes this problem: `ozbound generate wide-exponents --m 5 --n 6 --k 7 --phi 0.5 --seed 1`.
std::string generate_command(const Recipe& recipe);

}  // namespace ozbound
