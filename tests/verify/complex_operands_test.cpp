// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/complex_operands.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "print.hpp"

namespace ozbound::complex_operands_test {
namespace {

using Number = std::complex<double>;
using Kind = OracleEntry::Kind;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double eta = 0x1p-1074;

/// One entry of C: a row times a column, with alpha, beta and c0.
struct Dot {
  std::vector<Number> a, b;
  Number alpha = 1, beta = 0;
  Number c0 = {std::numeric_limits<double>::quiet_NaN(), 0};  // must not be read if beta is 0
  bool conjugate_a = false, conjugate_b = false;

  [[nodiscard]] ComplexOperands copies() const {
    const auto k = static_cast<Index>(a.size());
    return {{row_major(a.data(), 1, k, k + 1), conjugate_a},
            {row_major(b.data(), k, 1, 1), conjugate_b},
            alpha,
            beta,
            row_major(&c0, 1, 1, 1)};
  }
  [[nodiscard]] OracleEntry part(Index row, double computed = 0) const {
    const auto all = copies();
    const auto exactly = ExactOracle(all.operands()).evaluate(row, 0, computed);
    const auto k = static_cast<Index>(a.size());
    const auto mpfr = MpfrOracle(all.operands(), MpfrOracle::exact_bits(2 * k)).evaluate(row, 0, computed);
    EXPECT_EQ(exactly.kind, mpfr.kind);
    if (!std::isnan(exactly.rounded)) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(exactly.rounded), std::bit_cast<std::uint64_t>(mpfr.rounded));
    }
    EXPECT_EQ(exactly.error_upper, mpfr.error_upper);
    EXPECT_EQ(exactly.scale_lower, mpfr.scale_lower);
    EXPECT_EQ(exactly.value_upper, mpfr.value_upper);
    return exactly;
  }
  [[nodiscard]] double re() const { return part(0).rounded; }
  [[nodiscard]] double im() const { return part(1).rounded; }
};

TEST(ComplexOperands, MultiplyByTheDefinition) {
  const Dot plain{{{1, 2}, {3, -4}}, {{5, 6}, {-7, 8}}};
  EXPECT_EQ(plain.re(), -7 + 11);
  EXPECT_EQ(plain.im(), 16 + 52);
  auto dot = plain;
  dot.conjugate_a = true;  // (1 - 2i)(5 + 6i) + (3 + 4i)(-7 + 8i)
  EXPECT_EQ(dot.re(), 17 - 53);
  EXPECT_EQ(dot.im(), -4 - 4);
  dot.conjugate_b = true;  // the conjugate of the plain one
  EXPECT_EQ(dot.re(), 4);
  EXPECT_EQ(dot.im(), -68);
  dot.conjugate_a = false;  // the conjugate of the one with A conjugated
  EXPECT_EQ(dot.re(), -36);
  EXPECT_EQ(dot.im(), 8);
}

TEST(ComplexOperands, ScaleByComplexNumbers) {
  Dot dot{{{1, 2}, {3, -4}}, {{5, 6}, {-7, 8}}, {2, -3}, {-0.5, 4}, {8, 16}};
  EXPECT_EQ(dot.re(), 2 * 4 + 3 * 68 + (-0.5 * 8 - 4 * 16));
  EXPECT_EQ(dot.im(), 2 * 68 - 3 * 4 + (-0.5 * 16 + 4 * 8));
  const auto entry = dot.part(0);  // the terms of S: 5 + 12 + 21 + 32 and 6 + 10 + 24 + 28
  EXPECT_EQ(entry.scale_lower, Magnitude::of(2 * 70 + 3 * 68 + 0.5 * 8 + 4 * 16));
  dot.alpha = {0, 1}, dot.beta = 0;
  EXPECT_EQ(dot.re(), -68);
  EXPECT_EQ(dot.im(), 4);
  dot.alpha = 0, dot.beta = {0, -1};
  EXPECT_EQ(dot.re(), 16);
  EXPECT_EQ(dot.im(), -8);
}

TEST(ComplexOperands, RoundOnceOverAllTerms) {
  // Re C = 1 + 2^-53 + eta: a tie that one term far below decides. The tiny term takes each possible place.
  const Number one{1, 0};
  EXPECT_EQ((Dot{{one, {0x1p-53, 0}, {0, eta}}, {one, one, {0, -1}}}).re(), 1 + 0x1p-52);
  EXPECT_EQ((Dot{{one, {0x1p-53, 0}, {0, eta}}, {one, one, {0, 1}}}).re(), 1);
  EXPECT_EQ((Dot{{one, {0x1p-53, -eta}}, {one, one}, {1, 1}}).re(), 1 + 0x1p-52);
  EXPECT_EQ((Dot{{one, {0x1p-53, 0}}, {one, one}, 1, {1, 1}, {0, -eta}}).re(), 1 + 0x1p-52);
  EXPECT_EQ((Dot{{{0, 1}, {0, 0x1p-53}}, {one, one}, 1, {1, 1}, {eta, 0}}).im(), 1 + 0x1p-52);
  // Terms that cancel exactly give +0, and an overflow between terms does not count.
  EXPECT_FALSE(std::signbit(Dot({{{1, 1}}, {{1, 1}}}).re()));
  EXPECT_EQ((Dot{{{largest, largest}}, {{largest, largest}}}).re(), 0);
  EXPECT_EQ((Dot{{{largest, 0}}, {{largest, 0}}, {largest, 0}, {largest, -largest}, {1, 1}}).im(), 0);
  EXPECT_EQ((Dot{{{largest, 0}}, {{largest, 0}}, {largest, 0}, {largest, -largest}, {1, 1}}).re(), inf);
}

TEST(ComplexOperands, SpecialsAreOfTheTermsThatAreThere) {
  const Number one{1, 0}, i{0, 1};
  EXPECT_EQ((Dot{{{inf, 1}}, {one}}).part(0).kind, Kind::positive_infinity);
  EXPECT_EQ((Dot{{{inf, 1}}, {one}}).part(1).kind, Kind::nan);  // inf * 0
  EXPECT_EQ((Dot{{{inf, 1}}, {{1, 1}}}).part(1).kind, Kind::positive_infinity);
  EXPECT_EQ((Dot{{{1, inf}}, {{1, 1}}}).part(0).kind, Kind::negative_infinity);
  EXPECT_EQ((Dot{{{1, nan}}, {{1, 1}}}).part(0).kind, Kind::nan);
  EXPECT_EQ((Dot{{{inf, 1}}, {{1, 1}}, i}).part(0).kind, Kind::negative_infinity);
  EXPECT_EQ((Dot{{one}, {one}, {inf, 0}}).part(1).kind, Kind::nan);
  EXPECT_EQ((Dot{{{1, 1}}, {{2, 1}}, {1, inf}}).part(0).kind, Kind::negative_infinity);
  // A zero part of a scalar reads nothing; no product is left if both parts are zero.
  EXPECT_EQ((Dot{{one}, {one}, 1, i, {nan, 2}}).part(0).kind, Kind::finite);
  EXPECT_EQ((Dot{{one}, {one}, 1, i, {nan, 2}}).re(), -1);
  EXPECT_EQ((Dot{{one}, {one}, 1, i, {nan, 2}}).part(1).kind, Kind::nan);
  EXPECT_EQ((Dot{{{nan, inf}}, {{nan, inf}}, {0, -0.0}, i, {3, 4}}).im(), 3);
}

TEST(ComplexOperands, TheOraclesAgreeOnRandomNumbers) {
  RandomStream random(4);
  const auto number = [&random] {
    const auto part = [&random] {
      const double x = random.signed_unit();
      const auto exponent = static_cast<int>(random.integer(-300, 300));
      return random.below(8) == 0 ? 0.0 : std::ldexp(x, random.below(2) == 0 ? 0 : exponent);
    };
    const double re = part(), im = part();
    return Number{re, im};
  };
  for (int t = 0; t < 200; ++t) {
    Dot dot{std::vector<Number>(5), std::vector<Number>(5), number(), number(), number(), t % 2 == 0, t % 3 == 0};
    for (std::size_t l = 0; l < 5; ++l) dot.a[l] = number(), dot.b[l] = number();
    (void)dot.part(0, 1.5);
    (void)dot.part(1, -0x1p-300);
  }
}

TEST(ComplexOperands, EveryEntryHasItsOwnRowsAndColumns) {
  // A is 2 x 3 with leading dimension 4, B 3 x 2 by columns: integers, so that doubles hold every sum.
  std::vector<Number> a(8), b(8);
  for (std::size_t t = 0; t < 8; ++t) {
    const auto x = static_cast<double>(t);
    a[t] = {x + 1, 2 - x}, b[t] = {3 * x - 7, x * x};
  }
  const auto a_view = row_major(std::as_const(a).data(), 2, 3, 4);
  const auto b_view = column_major(std::as_const(b).data(), 3, 2, 4);
  const ComplexOperands copies({a_view}, {b_view});
  const ExactOracle oracle(copies.operands());
  Matrix<Number> c(2, 2);
  Matrix<std::complex<float>> narrow(2, 2);
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 2; ++j) {
      for (Index l = 0; l < 3; ++l) c(i, j) += a_view(i, l) * b_view(l, j);
      narrow(i, j) = std::complex<float>(c(i, j));
    }
  const ComplexResult result(std::as_const(c).view()), floats(std::as_const(narrow).view());
  EXPECT_EQ(floats.view().format(), ResultFormat::of_float);
  ASSERT_EQ(result.view().rows(), 4);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 2; ++j) {
      EXPECT_EQ(result.view()(i, j), oracle.rounded(i, j));
      EXPECT_EQ(floats.view()(i, j), result.view()(i, j));
    }
}

TEST(ComplexOperands, OddRowsHaveNoComplexScalars) {
  const Matrix<double> row(3, 1), column(1, 1);
  EXPECT_THROW(ExactOracle({.a = row.view(), .b = column.view(), .imaginary_alpha = 1}), std::invalid_argument);
  EXPECT_THROW(ExactOracle({.a = row.view(), .b = column.view(), .c0 = row.view(), .imaginary_beta = -1}),
               std::invalid_argument);
  const Matrix<double> two(2, 1);
  EXPECT_THROW(ExactOracle({.a = two.view(), .b = column.view(), .c0 = row.view(), .imaginary_beta = 1}),
               std::invalid_argument);
  EXPECT_NO_THROW(ExactOracle({.a = two.view(), .b = column.view(), .imaginary_alpha = 1}));
}

}  // namespace
}  // namespace ozbound::complex_operands_test
