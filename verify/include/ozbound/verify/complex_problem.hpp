// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <string>

#include "ozbound/verify/problem.hpp"

namespace ozbound {

/// A complex problem. A is m x k, B is k x n; the recipe has these sizes.
///
/// It is made of the real problem A', B' with the same family, m, n, phi and seed and the inner dimension 2k,
///
///   a_il = a'_i,2l + i a'_i,2l+1,   b_lj = b'_2l,j - i b'_2l+1,j,
///
/// so that Re(A B) = A' B' term by term. A property of a family's sums therefore holds for the real part. It also holds for the
/// imaginary part, with one of two neighbouring factors exchanged. Both parts cancel if k is even.
struct ComplexProblem {
  Recipe recipe;
  Matrix<std::complex<double>> a, b;
};

/// @throws std::invalid_argument naming a bad field of the recipe.
ComplexProblem generate_complex(const Recipe& recipe);

/// The command that writes this problem: `ozbound generate … --complex`.
std::string generate_complex_command(const Recipe& recipe);

}  // namespace ozbound
