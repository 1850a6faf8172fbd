// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/cublas_emulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "vectors/cublas_reference.hpp"

namespace ozbound::models::models_cublas_emulation_test {
namespace {

constexpr int probed_bits[] = {8, 15, 16, 23, 24, 31, 32, 39, 40, 47, 48, 53, 55, 56, 63, 64};

Matrix<double> matrix(const std::vector<std::vector<double>>& rows) {
  Matrix<double> result(std::ssize(rows), std::ssize(rows[0]));
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return result;
}

double product(double a, double b, int bits) {
  const auto x = matrix({{a}}), y = matrix({{b}});
  return multiply({.mantissa_bits = bits}, {x.view(), y.view()})(0, 0);
}

/// The largest ratio of error to bound over all entries, rounded up. The bound holds if it is at most 1.
double worst_ratio(const CublasEmulation& method, const Operands& operands, const std::string& origin) {
  const CublasProduct emulated(method, operands);
  const ExactOracle oracle(operands);
  double worst = 0;
  for (Index i = 0; i < emulated.rows(); ++i)
    for (Index j = 0; j < emulated.cols(); ++j) {
      const double c = emulated.entry(i, j);
      const auto bound = emulated.bound_upper(i, j);
      if (bound.is_infinite()) continue;
      EXPECT_TRUE(std::isfinite(c)) << origin;
      const double ratio = to_double_upper(divide_upper(oracle.evaluate(i, j, c).error_upper, bound));
      EXPECT_LE(ratio, 1) << origin << ", bits " << method.mantissa_bits << ", entry " << i << ", " << j;
      worst = std::max(worst, ratio);
    }
  return worst;
}

TEST(CublasEmulation, isTheRuleOverTheFamilies) {
  for (const auto family : all_families())
    for (const int bits : probed_bits) {
      const auto problem = generate({family, 4, 3, 37, 0.5, static_cast<std::uint64_t>(bits)});
      const Operands operands{problem.a.view(), problem.b.view(), -1.7, 0.3, problem.a.view().block(0, 0, 4, 3)};
      const auto c = multiply({.mantissa_bits = bits}, operands);
      const test::CublasReference reference(operands, bits);
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 3; ++j)
          EXPECT_EQ(bits_of(c(i, j)), bits_of(reference.entry(i, j))) << generate_command(problem.recipe) << " " << bits;
    }
}

TEST(CublasEmulation, isTheRuleWhereTheInnerDimensionIsCut) {
  for (const Index k : {1023, 1024, 1025, 1500, 4096, 4097}) {
    const auto problem = generate({Family::graded_inner, 2, 3, k, 1, 5});
    for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {0.1, -0.7}})
      for (const int bits : {8, 55}) {
        const Operands operands{problem.a.view(), problem.b.view(), alpha, beta, problem.a.view().block(0, 5, 2, 3)};
        const auto c = multiply({.mantissa_bits = bits}, operands);
        const test::CublasReference reference(operands, bits);
        for (Index i = 0; i < 2; ++i)
          for (Index j = 0; j < 3; ++j) EXPECT_EQ(c(i, j), reference.entry(i, j)) << k << " " << bits << " " << alpha;
      }
  }
}

TEST(CublasEmulation, cutsUnitsOf128ShorterPiecesFirst) {
  using Lengths = std::vector<Index>;
  EXPECT_EQ(cublas_pieces(1, 1, 0), Lengths{});
  EXPECT_EQ(cublas_pieces(1, 1, 1023), Lengths{1023});
  EXPECT_EQ(cublas_pieces(1, 1, 1024), Lengths(8, 128));
  EXPECT_EQ(cublas_pieces(1023, 1023, 1000), Lengths{1000});
  EXPECT_EQ(cublas_pieces(2048, 128, 1000), (Lengths{512, 488}));
  EXPECT_EQ(cublas_pieces(128, 128, 1025), (Lengths{128, 128, 128, 128, 128, 128, 128, 128, 1}));
  EXPECT_EQ(cublas_pieces(1024, 1024, 1024), Lengths{1024});   // 64 tiles
  EXPECT_EQ(cublas_pieces(129, 128, 2048), Lengths(16, 128));  // 2 tiles, 16 pieces
  EXPECT_EQ(cublas_pieces(256, 256, 1280), (Lengths{128, 128, 128, 128, 128, 128, 256, 256}));
  EXPECT_EQ(cublas_pieces(1024, 1024, 16384), Lengths(2, 8192));
  // The fewest pieces that make at least 32 with the tiles.
  EXPECT_EQ(cublas_pieces(128, 384, 4096).size(), 11U);
  EXPECT_EQ(cublas_pieces(640, 64, 4096).size(), 7U);
  EXPECT_EQ(cublas_pieces(300, 290, 4096).size(), 4U);
  EXPECT_EQ(cublas_pieces(768, 512, 1024), Lengths(2, 512));
  EXPECT_EQ(cublas_pieces(128, 4096, 16382).size(), 1U);
  EXPECT_EQ(cublas_pieces(128, 4096, 16383).size(), 2U);  // an odd length like the next even one
  EXPECT_EQ(cublas_pieces(128, 4096, 24574).size(), 2U);
  EXPECT_EQ(cublas_pieces(128, 4096, 24575).size(), 3U);
  EXPECT_EQ(cublas_pieces(1, 1, 300000).size(), 36U);
  const auto long_ones = cublas_pieces(1, 1, 300000);
  EXPECT_EQ(std::accumulate(long_ones.begin(), long_ones.end(), Index{0}), 300000);
  EXPECT_EQ(cublas_pieces(0, 1, 2048), Lengths{2048});
  EXPECT_THROW(cublas_pieces(1, 1, -1), std::invalid_argument);
}

TEST(CublasEmulation, addsEachPieceToCByAnFma) {
  // Eight pieces of one unit, whose sum is 8: 0.1 is added eight times, which does not give 0.8.
  Matrix<double> a(1, 1024), b(1024, 1);
  for (Index l = 0; l < 1024; ++l) a(0, l) = l % 128 == 0 ? 1 : 0, b(l, 0) = 1;
  double c = 0;
  for (int r = 0; r < 8; ++r) c = std::fma(0.1, 1.0, c);
  ASSERT_NE(c, 0.8);
  EXPECT_EQ(multiply({.mantissa_bits = 55}, {a.view(), b.view(), 0.1})(0, 0), c);
}

TEST(CublasEmulation, addsLongPairsOfDigitsOneGroupAfterTheOther) {
  // 1 plus twice three quarters of half a last bit. The pairs (7, 1) and (1, 7) of the last diagonal are added together only if
  // seven pairs of the inner dimension in whole units have at most 33025 terms; then the result is rounded up.
  for (const Index k : {128, 4608, 4609, 16382}) {
    Matrix<double> a(1, k), b(k, 1);
    a(0, 0) = b(0, 0) = 1;
    a(0, 1) = b(2, 0) = 0x3p-54, a(0, 2) = b(1, 0) = 0.5;
    const CublasEmulation method{.mantissa_bits = 55, .pieces = 1};
    EXPECT_EQ(multiply(method, {a.view(), b.view()})(0, 0), k <= 4608 ? 1 + 0x1p-52 : 1) << k;
  }
}

TEST(CublasEmulation, isTheRuleWhereDiagonalsAreCut) {
  // One row has 32 tiles, so there is one piece up to k = 16382. Its diagonals are cut where whole units times pairs exceed
  // 33025.
  for (const Index k : {4608, 4609, 5376, 5377, 5504, 5505, 8192, 8193, 10881, 11008, 11009}) {
    const auto problem = generate({Family::uniform_positive, 1, 4000, k, 0, 3});
    const Operands operands{problem.a.view(), problem.b.view()};
    const CublasProduct product({.mantissa_bits = 55}, operands);
    Matrix<double> some(k, 4);
    for (Index l = 0; l < k; ++l)
      for (Index j = 0; j < 4; ++j) some(l, j) = problem.b(l, j * 999);
    const test::CublasReference reference({problem.a.view(), some.view()}, 55, {{0, k}});
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(product.entry(0, j * 999), reference.entry(0, j)) << k;
  }
}

TEST(CublasEmulation, takesPairsOfOddDiagonalsBackwards) {
  // Four pairs are added together: of diagonal 7 (6, 1) to (3, 4), then (2, 5) and (1, 6). Beside 16, a single term of three
  // quarters of half a last bit is lost, and two of them are rounded up.
  const Index k = 8192;
  const auto with = [&](int p, int q) {
    Matrix<double> a(1, k), b(k, 1);
    for (Index l = 100; l < 116; ++l) a(0, l) = b(l, 0) = 1;
    for (const int digit : {p, q}) a(0, digit) = std::ldexp(3.0, 2 - 8 * digit), b(digit, 0) = std::ldexp(1.0, 8 * digit - 53);
    return multiply({.mantissa_bits = 47, .pieces = 1}, {a.view(), b.view()})(0, 0);
  };
  EXPECT_EQ(with(1, 2), 16 + 0x1p-48);
  EXPECT_EQ(with(3, 6), 16 + 0x1p-48);
  EXPECT_EQ(with(2, 3), 16);
  EXPECT_EQ(with(1, 6), 16);
}

TEST(CublasEmulation, truncatesTowardsZero) {
  // 8 bits are two slices of 15 bits in total. They cut off the last bit of 1 + 2^-15 for either sign, and lose nothing of 1 +
  // 2^-14.
  EXPECT_EQ(product(1 + 0x1p-14, 1, 8), 1 + 0x1p-14);
  EXPECT_EQ(product(1 + 0x1p-15, 1, 8), 1);
  EXPECT_EQ(product(-1 - 0x1p-15, 1, 8), -1);
  EXPECT_EQ(product(1 + 0x1p-14 + 0x1p-15, 1, 8), 1 + 0x1p-14);
}

TEST(CublasEmulation, carriesInANumberAndNotInItsNegative) {
  // x has three digits. With 23 bits 0x408080 carries to 65 -127 -128, and -0x408080 becomes -64 -128 -128, so different
  // products are left out.
  const double x = 1 + 0x1p-7 + 0x1p-15;
  EXPECT_NE(product(x, x, 16), product(-x, -x, 16));
  EXPECT_NE(product(x, x, 16), -product(-x, x, 16));
}

TEST(CublasEmulation, bumpsTheExponentFromSignificand0x1FcOn) {
  // Two slices keep the bit 2^-14 of 0x1.FB in [1, 2) and lose that of 0x1.FC.
  const double below = 0x1.fb04p0, from = 0x1.fc04p0;
  EXPECT_EQ(product(below, 1, 8), below);
  EXPECT_EQ(product(from, 1, 8), from - 0x1p-14);
  EXPECT_EQ(product(std::nextafter(0x1.fcp0, 0), 1, 64), std::nextafter(0x1.fcp0, 0));
  // For subnormal numbers the fraction field decides.
  EXPECT_EQ(product(0x0.fb02p-1022, 1, 8), 0x0.fb02p-1022);
  EXPECT_EQ(product(0x0.fc02p-1022, 1, 8), 0x0.fcp-1022);
  EXPECT_EQ(product(0x0.7f02p-1022, 1, 8), 0x0.7f02p-1022);
}

TEST(CublasEmulation, losesSmallNumbersAndAppliesExponentsLast) {
  EXPECT_EQ(product(0x1p-1040, 1, 15), 0);
  EXPECT_EQ(product(0x1p-1035, 1, 15), 0x1p-1035);
  // The digits of x are the last three of seven, which meet only the first three of the other number.
  const double x = 0x1.234cp-1060, y = 0x1.23456789abcdfp100;
  EXPECT_EQ(product(x, 0x1p100, 55), x * 0x1p100);
  EXPECT_GT(std::fabs(product(x, y, 55) / (x * y) - 1), 0x1p-24);
  EXPECT_LT(std::fabs(product(x, y, 55) / (x * y) - 1), 0x1p-15);
  EXPECT_EQ(product(0x1p600, 0x1p600, 55), std::numeric_limits<double>::infinity());
  // Diagonals are added without exponents. The sum is rounded once, to a subnormal number, at the end.
  EXPECT_EQ(product(0x1.8p-500, 0x1.0000000000001p-574, 55), 0x1p-1073);
}

TEST(CublasEmulation, addsPiecesInOrder) {
  Matrix<double> a(1, 1024), b(1024, 1);
  const auto put = [&](Index l, double x) { a(0, l) = x, b(l, 0) = 1; };
  put(0, 1), put(128, 0x1p-53), put(256, 0x1p-53);
  EXPECT_EQ(multiply({}, {a.view(), b.view()})(0, 0), 1);
  put(0, 0x1p-53), put(128, 0x1p-53), put(256, 1);
  EXPECT_EQ(multiply({}, {a.view(), b.view()})(0, 0), 1 + 0x1p-52);
}

TEST(CublasEmulation, boundHoldsOverTheFamiliesAndIsNoFormality) {
  double worst = 0;
  for (const auto family : all_families())
    for (const int bits : probed_bits)
      for (const Index k : {1, 30}) {
        const auto problem = generate({family, 3, 4, k, 1, static_cast<std::uint64_t>(bits + 7)});
        const Operands operands{problem.a.view(), problem.b.view()};
        const double ratio = worst_ratio({.mantissa_bits = bits}, operands, generate_command(problem.recipe));
        worst = std::max(worst, ratio);
      }
  EXPECT_GT(worst, 0.5);
}

TEST(CublasEmulation, boundHoldsWhereTheInnerDimensionIsCut) {
  for (const auto family : {Family::uniform, Family::maximal_digits_positive, Family::full_range, Family::graded_inner}) {
    const auto problem = generate({family, 2, 2, 1100, 1, 9});
    for (const int bits : {8, 31, 55, 64})
      for (const double alpha : {1.0, 0.1})
        worst_ratio({.mantissa_bits = bits}, {problem.a.view(), problem.b.view(), alpha}, generate_command(problem.recipe));
  }
}

TEST(CublasEmulation, boundHoldsWhereDiagonalsAreCut) {
  for (const auto family : {Family::uniform_positive, Family::maximal_digits_positive, Family::cancellation}) {
    const auto problem = generate({family, 2, 2, 12000, 0, 9});
    for (const int bits : {31, 55, 64})
      worst_ratio({.mantissa_bits = bits, .pieces = 1}, {problem.a.view(), problem.b.view()}, generate_command(problem.recipe));
  }
}

TEST(CublasEmulation, boundHoldsForScalars) {
  const double largest = std::numeric_limits<double>::max();
  for (const auto family : {Family::uniform, Family::full_range, Family::subnormal, Family::cancellation})
    for (const double alpha : {1.0, -1.0, 0.0, 0.1, 0x1p-1074, 0x1p-600, 0x1.8p500})
      for (const double beta : {0.0, 1.0, -1.0, 0.7, 0x1p-1074, largest}) {
        const auto problem = generate({family, 4, 4, 9, 1, 3});
        const Operands operands{problem.a.view(), problem.b.view(), alpha, beta, problem.a.view().block(0, 2, 4, 4)};
        worst_ratio({.mantissa_bits = 47}, operands, std::string(name(family)) + " " + std::to_string(alpha));
      }
}

/// Digits and tails of one sign, as large as possible in all places, nearly reach the bound: the omitted parts add up.
TEST(CublasEmulation, boundIsNearlyReachedWhereNothingCancels) {
  for (const int bits : {15, 31, 55}) {
    Matrix<double> a(1, 64), b(64, 1);
    for (Index l = 0; l < 64; ++l) a(0, l) = b(l, 0) = 0x1.fb7f7f7f7f7f7p0;
    const double ratio = worst_ratio({.mantissa_bits = bits}, {a.view(), b.view()}, "all equal");
    EXPECT_GT(ratio, bits < 55 ? 0.9 : 0.05) << bits;  // with 55 bits the bound counts worst-case roundings of FP64
  }
}

TEST(CublasEmulation, countsEntriesThatAreNotTheFormulas) {
  const auto problem = generate({Family::uniform, 20, 9, 5, 0, 4});
  const CublasProduct formula({}, operands(problem));
  auto c = multiply({}, operands(problem));
  const auto whole = compare(formula, c, EntrySelection::all());
  EXPECT_EQ(whole.entries, 180);
  EXPECT_EQ(whole.differing, 0);
  EXPECT_EQ(whole.row, -1);
  const double expected = c(7, 3);
  c(7, 3) = std::nextafter(expected, 2), c(19, 8) = -c(19, 8);
  const auto two = compare(formula, c, EntrySelection::all());
  EXPECT_EQ(two.entries, 180);
  EXPECT_EQ(two.differing, 2);
  EXPECT_EQ(two.row, 7);
  EXPECT_EQ(two.col, 3);
  EXPECT_EQ(two.computed, c(7, 3));
  EXPECT_EQ(two.expected, expected);
  const auto corners = compare(formula, c, EntrySelection::sample(4, 0));
  EXPECT_EQ(corners.entries, 4);
  EXPECT_EQ(corners.differing, 1);
  EXPECT_THROW(compare(formula, problem.a, EntrySelection::all()), std::invalid_argument);
}

TEST(CublasEmulation, refusesWhatItCannotMean) {
  const Matrix<double> a(2, 3), b(3, 2), c0(2, 2), wrong(1, 2);
  const auto run = [&](const CublasEmulation& method, const Operands& operands) { (void)multiply(method, operands); };
  const Operands good{a.view(), b.view()};
  EXPECT_NO_THROW(run({}, good));
  for (const int bits : {7, 65, 0}) EXPECT_THROW(run({.mantissa_bits = bits}, good), std::invalid_argument);
  for (const int pieces : {-1, 2}) EXPECT_THROW(run({.pieces = pieces}, good), std::invalid_argument);
  EXPECT_THROW(run({}, {a.view(), a.view()}), std::invalid_argument);
  EXPECT_THROW(run({}, {a.view(), b.view(), 1, 1, wrong.view()}), std::invalid_argument);
  EXPECT_THROW(run({}, {a.view(), b.view(), 1, 0, {}, 1}), std::invalid_argument);
  for (const double x : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(run({}, {a.view(), b.view(), x}), std::invalid_argument);
    Matrix<double> special(3, 2);
    special(1, 1) = x;
    EXPECT_THROW(run({}, {a.view(), special.view()}), std::invalid_argument);
    EXPECT_THROW(run({}, {special.view(), a.view()}), std::invalid_argument);
    EXPECT_THROW(run({}, {a.view(), b.view(), 1, 1, special.view().block(0, 0, 2, 2)}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace ozbound::models::models_cublas_emulation_test
