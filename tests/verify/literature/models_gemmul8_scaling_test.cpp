// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/gemmul8_scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "ozbound/verify/random_stream.hpp"

namespace ozbound::models::models_gemmul8_scaling_test {
namespace {

Matrix<double> filled(Index rows, Index cols, double x) {
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = x;
  return matrix;
}

/// One row of k equal elements by one column of them.
Gemmul8Product equal_elements(int moduli, Index k, double x) {
  return multiply({moduli}, filled(1, k, x).view(), filled(k, 1, x).view());
}

/// Row i of the Hadamard matrix of Sylvester of order n, times a scale.
std::vector<double> hadamard_row(Index i, Index n, double scale) {
  std::vector<double> row;
  for (Index l = 0; l < n; ++l) row.push_back(__builtin_parityll(static_cast<unsigned long long>(i & l)) != 0 ? -scale : scale);
  return row;
}

TEST(Gemmul8Scaling, multipliesWhatItHasRoomFor) {
  // 64 integers of 9 bits with norms between 2 and 2^12: nothing is cut off and nothing wraps.
  const auto problem = generate({Family::integers, 3, 4, 20, 0, 1});
  for (const int moduli : {18, 20}) {
    const auto product = multiply({moduli}, problem.a.view(), problem.a.view().block(0, 0, 3, 20).transposed());
    EXPECT_EQ(product.wrapped + product.overflowed, 0);
    const ExactOracle oracle({.a = problem.a.view(), .b = problem.a.view().transposed()});
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) EXPECT_EQ(product.c(i, j), oracle.rounded(i, j)) << moduli;
  }
}

TEST(Gemmul8Scaling, shiftDoesNotFollowTheScale) {
  // For 14 moduli log2(P - 1)/2 - 1/2 is 54.58; 2 and max(1, norm) are subtracted from it.
  const std::vector<double> unit(4, 0.5), small(4, 0x1p-20), large(4, 0x1p20);
  EXPECT_EQ(gemmul8_shift({14}, unit), 51 + 1);
  EXPECT_EQ(gemmul8_shift({14}, small), 51 + 20);
  EXPECT_EQ(gemmul8_shift({14}, large), 52 - 42 - 20) << "the norm 2^21 counts as 2^42";
  EXPECT_EQ(gemmul8_shift({14}, std::vector<double>(3, 0.0)), 0);
}

TEST(Gemmul8Errata, smallRowsWrapModuloP) {
  const double x = (2 - 0x1p-52) * 0x1p-20;
  const auto product = equal_elements(14, 64, x);
  EXPECT_EQ(product.wrapped, 1);
  EXPECT_NEAR(product.c(0, 0), -2.75e-11, 0.01e-11);
  EXPECT_NEAR(64 * x * x, 2.33e-10, 0.01e-10);
  EXPECT_EQ(equal_elements(14, 16, x).wrapped, 0);
}

TEST(Gemmul8Errata, equalSmallElementsWrapForEveryCountOfModuli) {
  double least = 1e9, most = 0;
  for (int moduli = 8; moduli <= 20; ++moduli) {
    const auto product = equal_elements(moduli, 256, 0x1p-5);
    EXPECT_EQ(product.wrapped, 1) << moduli;
    const double error = std::fabs(product.c(0, 0) - 0.25) / 0.25;
    least = std::min(least, error), most = std::max(most, error);
  }
  EXPECT_NEAR(least, 0.75, 0.01);
  EXPECT_NEAR(most, 1.94, 0.01);
}

/// The diagonal of Q^T Q wraps for orthonormal columns (Hadamard / 16).
TEST(Gemmul8Errata, unitColumnsWrapOnTheDiagonal) {
  constexpr Index n = 256;
  Matrix<double> a(2, n);
  for (Index i = 0; i < 2; ++i) {
    const auto row = hadamard_row(5 + i, n, 0x1p-4);
    for (Index l = 0; l < n; ++l) a(i, l) = row[static_cast<std::size_t>(l)];
  }
  for (int moduli = 8; moduli <= 20; ++moduli) {
    const auto product = multiply({moduli}, a.view(), a.view().transposed());
    EXPECT_EQ(product.wrapped, 2) << moduli;
    EXPECT_GT(std::fabs(product.c(0, 0) - 1), 0.5);
    EXPECT_EQ(product.c(0, 1), 0);
  }
}

TEST(Gemmul8Errata, largeRowsLoseAllDigits) {
  RandomStream random(1);
  Matrix<double> a(1, 4096), b(4096, 1);
  for (Index l = 0; l < 4096; ++l)
    a(0, l) = 0x1p20 * (random.positive_unit() - 0.5), b(l, 0) = 0x1p20 * (random.positive_unit() - 0.5);
  EXPECT_EQ(multiply({8}, a.view(), b.view()).c(0, 0), 0);
}

TEST(Gemmul8Errata, sumsOfResiduesLeaveInt32) {
  // Every place has the residue 127 of 255: 133144 products 127^2 fit INT32, 133145 do not.
  constexpr int moduli = 8;
  const auto shift = [](Index k, double x) { return gemmul8_shift({moduli}, std::vector(static_cast<std::size_t>(k), x)); };
  const int of_one = shift(133144, 1);
  double x = 1;
  while (std::fmod(std::trunc(std::ldexp(x, of_one)), 255) != 127) x += 0x1p-20;
  ASSERT_EQ(shift(133144, x), of_one);
  ASSERT_EQ(shift(133145, x), of_one);
  const auto fits = equal_elements(moduli, 133144, x), beyond = equal_elements(moduli, 133145, x);
  EXPECT_EQ(fits.overflowed + fits.wrapped, 0);
  EXPECT_LT(std::fabs(fits.c(0, 0) / (133144 * x * x) - 1), 0.01);
  EXPECT_EQ(beyond.overflowed, 1);
  EXPECT_EQ(beyond.wrapped, 0);
  EXPECT_GT(std::fabs(beyond.c(0, 0) / (133145 * x * x) - 1), 0.01);
}

TEST(Gemmul8Scaling, refusesWhatItCannotMean) {
  const Matrix<double> a(2, 3), b(3, 2);
  const auto run = [](int moduli, const Matrix<double>& x, const Matrix<double>& y) {
    (void)multiply({moduli}, x.view(), y.view());
  };
  EXPECT_NO_THROW(run(14, a, b));
  EXPECT_THROW(run(1, a, b), std::invalid_argument);
  EXPECT_THROW(run(21, a, b), std::invalid_argument);
  EXPECT_THROW(run(14, a, a), std::invalid_argument);
  for (const double x : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 0x1p-600, 0x1p600})
    EXPECT_THROW(run(14, filled(2, 3, x), b), std::invalid_argument) << x;
}

}  // namespace
}  // namespace ozbound::models::models_gemmul8_scaling_test
