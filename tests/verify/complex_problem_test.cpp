// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/complex_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "ozbound/verify/exact_oracle.hpp"

namespace ozbound::test::complex_problem_test {
namespace {

/// The parts of a complex matrix, one above the other, row by row.
Matrix<double> stacked(const Matrix<std::complex<double>>& x) {
  Matrix<double> out(2 * x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) out(2 * i, j) = x(i, j).real(), out(2 * i + 1, j) = x(i, j).imag();
  return out;
}

/// Rows (a_r, -a_i) or (a_i, a_r). A component of A B is the product of one of these and the stacked parts of B.
Matrix<double> factor(const Matrix<std::complex<double>>& a, bool imaginary) {
  Matrix<double> out(a.rows(), 2 * a.cols());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index l = 0; l < a.cols(); ++l) {
      out(i, 2 * l) = imaginary ? a(i, l).imag() : a(i, l).real();
      out(i, 2 * l + 1) = imaginary ? a(i, l).real() : -a(i, l).imag();
    }
  return out;
}

TEST(ComplexProblem, TheRealPartOfTheProductIsThatOfTheRealProblem) {
  for (const auto family : all_families()) {
    const Recipe recipe{family, 5, 6, 4, 1.5, 3};
    const auto problem = generate_complex(recipe);
    auto twice = recipe;
    twice.k = 8;
    const auto real = generate(twice);
    EXPECT_EQ(problem.recipe, recipe);
    const auto left = factor(problem.a, false), right = stacked(problem.b);
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 6; ++j)
        for (Index l = 0; l < 8; ++l) {
          EXPECT_EQ(std::abs(left(i, l)), std::abs(real.a(i, l)));
          EXPECT_EQ(left(i, l) * right(l, j), real.a(i, l) * real.b(l, j)) << name(family);
        }
    const ExactOracle complex({left.view(), right.view()}), oracle(operands(real));
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 6; ++j) EXPECT_EQ(complex.rounded(i, j), oracle.rounded(i, j)) << name(family);
  }
}

/// The largest ratio of |entry| to the sum of its terms' magnitudes.
double left_of(const Matrix<double>& a, const Matrix<double>& b) {
  const ExactOracle oracle({a.view(), b.view()});
  double share = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) {
      double terms = 0;
      for (Index l = 0; l < a.cols(); ++l) terms += std::abs(a(i, l) * b(l, j));
      share = std::max(share, std::abs(oracle.rounded(i, j)) / terms);
    }
  return share;
}

TEST(ComplexProblem, CancellationIsInBothParts) {
  const auto problem = generate_complex({Family::cancellation, 6, 7, 10, 1, 5});
  const auto b = stacked(problem.b);
  EXPECT_LT(left_of(factor(problem.a, false), b), 0x1p-45);
  EXPECT_LT(left_of(factor(problem.a, true), b), 0x1p-45);
  const auto uniform = generate_complex({Family::uniform, 6, 7, 10, 1, 5});
  EXPECT_GT(left_of(factor(uniform.a, true), stacked(uniform.b)), 0.25);
}

/// The FNV-1a hash of the bits of both parts, row by row.
std::uint64_t print_of(const Matrix<std::complex<double>>& x) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (Index l = 0; l < x.rows() * x.cols(); ++l)
    for (const double part : {x.data()[l].real(), x.data()[l].imag()})
      for (int byte = 0; byte < 8; ++byte)
        hash = (hash ^ (std::bit_cast<std::uint64_t>(part) >> 8 * byte & 255)) * 0x100000001b3;
  return hash;
}

TEST(ComplexProblem, ARecipeMeansTheSameBitsEverywhere) {
  const auto problem = generate_complex({Family::wide_exponents, 3, 4, 5, 2, 7});
  EXPECT_EQ(print_of(problem.a), 14537099116984845023U);
  EXPECT_EQ(print_of(problem.b), 8419559117054260249U);
}

TEST(ComplexProblem, EmptyAndWrongSizes) {
  const auto empty = generate_complex({Family::sparse, 3, 4, 0, 0, 0});
  EXPECT_EQ(empty.a.rows(), 3);
  EXPECT_EQ(empty.a.cols(), 0);
  EXPECT_EQ(empty.b.cols(), 4);
  EXPECT_THROW(generate_complex({Family::uniform, -1, 4, 2, 0, 0}), std::invalid_argument);
  EXPECT_THROW(generate_complex({Family::uniform, 1, 4, -2, 0, 0}), std::invalid_argument);
  EXPECT_THROW(generate_complex({Family::uniform, 1, 0, std::numeric_limits<Index>::max() / 2 + 1, 0, 0}),
               std::invalid_argument);
}

TEST(ComplexProblem, TheCommandSaysComplex) {
  EXPECT_EQ(generate_complex_command({Family::uniform, 1, 2, 3, 0, 9}),
            "ozbound generate uniform --m 1 --n 2 --k 3 --phi 0 --seed 9 --complex");
}

}  // namespace
}  // namespace ozbound::test::complex_problem_test
