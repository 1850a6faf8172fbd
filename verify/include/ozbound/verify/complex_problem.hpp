// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <string>

#include "ozbound/verify/problem.hpp"

namespace ozbound {

/// A complex problem made of a real one. A is m x k, B is k x n; the recipe has these sizes.
///
/// A complex problem made of the real one, A', B', with the same family, m, n, phi and seed and the inner dimension 2k,
///
///   a_il = a'_i,2l + i a'_i,2l+1,   b_lj = b'_2l,j - i b'_2l+1,j,
///
/// so that Re(A B) = A' B' term by term: what a family says of sums is so of the real part, and of the imaginary part with one
/// of two neighbouring factors exchanged. Cancellation is in both parts where k is even.
struct ComplexProblem {
  Recipe recipe;
  Matrix<std::complex<double>> a, b;
};

/// @throws std::invalid_argument naming a bad field of the recipe.
ComplexProblem generate_complex(const Recipe& recipe);

/// `ozbound generate … --complex`.
std::string generate_complex_command(const Recipe& recipe);

}  // namespace ozbound
