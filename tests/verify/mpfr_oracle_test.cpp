// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/mpfr_oracle.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "ozbound/verify/exact_oracle.hpp"
#include "print.hpp"
#include "support/classified.hpp"

namespace ozbound::mpfr_oracle_test {
namespace {

constexpr ResultFormat formats[] = {ResultFormat::of_double, ResultFormat::of_float};

bool same_bits(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

/// Checks that an exact enclosure agrees with the exact oracle, bit for bit.
void expect_same(const OracleEntry& x, const OracleEntry& y) {
  EXPECT_EQ(x.kind, y.kind);
  EXPECT_TRUE(same_bits(x.rounded, y.rounded) || (std::isnan(x.rounded) && std::isnan(y.rounded)))
      << x.rounded << ' ' << y.rounded;
  EXPECT_TRUE(x.rounding_known && y.rounding_known);
  EXPECT_EQ(x.error_upper, y.error_upper);
  EXPECT_EQ(x.value_lower, y.value_lower);
  EXPECT_EQ(x.value_upper, y.value_upper);
  EXPECT_EQ(x.scale_lower, y.scale_lower);
  EXPECT_EQ(x.scale_upper, y.scale_upper);
}

/// Values near the rounded one and far from it.
std::vector<double> computed_values(double rounded, ResultFormat format) {
  const double inf = std::numeric_limits<double>::infinity();
  if (format == ResultFormat::of_double)
    return {rounded, std::nextafter(rounded, inf), std::nextafter(rounded, -inf), 0, inf, -inf, std::nan("")};
  const auto single = static_cast<float>(rounded);
  const auto infinity = std::numeric_limits<float>::infinity();
  return {rounded,
          static_cast<double>(std::nextafter(single, infinity)),
          static_cast<double>(std::nextafter(single, -infinity)),
          0,
          inf,
          -inf,
          std::nan("")};
}

void expect_agreement(const Operands& operands) {
  const ExactOracle exact(operands);
  const MpfrOracle mpfr(operands, MpfrOracle::exact_bits(operands.a.cols()));
  for (const auto format : formats)
    for (Index i = 0; i < exact.rows(); ++i)
      for (Index j = 0; j < exact.cols(); ++j)
        for (const double computed : computed_values(exact.evaluate(i, j, 0, format).rounded, format))
          expect_same(mpfr.evaluate(i, j, computed, format), exact.evaluate(i, j, computed, format));
}

TEST(MpfrOracle, agreesWithTheExactOracleOnEveryFamily) {
  for (const auto family : all_families())
    for (const double phi : {0.0, 2.0, 40.0})
      for (const Recipe& recipe : {Recipe{family, 5, 5, 5, phi, 1}, Recipe{family, 2, 3, 23, phi, 2}}) {
        const auto problem = generate(recipe);
        expect_agreement(operands(problem));
        if (testing::Test::HasFailure()) FAIL() << generate_command(recipe);
      }
}

/// Matrices of the given sizes with elements of every class.
Matrix<double> classified(Index rows, Index cols, bool specials, test::RandomBits& random) {
  Matrix<double> matrix(rows, cols);
  for (Index t = 0; t < rows * cols; ++t)
    matrix.data()[t] =
        specials && random.once_in(8) ? test::sample_with_specials<double>(random) : test::sample<double>(random);
  return matrix;
}

void expect_agreement_on_classified(test::RandomBits& random) {
  const auto k = static_cast<Index>(random.below(6));
  const bool specials = random.once_in(2);
  const auto a = classified(2, k, specials, random);
  const auto b = classified(k, 2, specials, random);
  const auto c0 = classified(2, 2, specials, random);
  const auto scalars = classified(1, 2, specials, random);
  const double alpha = random.once_in(3) ? 1 : scalars(0, 0);
  const double beta = random.once_in(3) ? 0 : scalars(0, 1);
  expect_agreement({.a = a.view(), .b = b.view(), .alpha = alpha, .beta = beta, .c0 = c0.view()});
}

RC_GTEST_PROP(MpfrOracle, agreesWithTheExactOracleOnEveryClassOfNumber, (std::uint64_t seed)) {
  test::RandomBits random(seed);
  for (int trial = 0; trial < 10; ++trial) expect_agreement_on_classified(random);
  RC_ASSERT(!testing::Test::HasFailure());
}

/// Compares the oracles on x + half an ulp (in either format) plus a tiny term or none, formed from beta c0 and two products.
void expect_agreement_near_midpoint(test::RandomBits& random) {
  const double x = random.once_in(2) ? test::sample<double>(random) : static_cast<double>(test::sample<float>(random));
  const double inf = std::numeric_limits<double>::infinity();
  const double magnitude = std::abs(x);
  const bool single = random.once_in(2) && magnitude < 0x1p127;
  const auto next = std::nextafter(static_cast<float>(magnitude), std::numeric_limits<float>::infinity());
  const double gap = single ? std::abs(static_cast<double>(next) - magnitude) : std::nextafter(magnitude, inf) - magnitude;
  const double a[] = {std::isfinite(gap) ? gap : 0x1p971, random.once_in(3) ? 0 : 0x1p-1074};
  const double b[] = {random.once_in(2) ? 0.5 : -0.5, test::sample<double>(random)};
  expect_agreement({.a = row_major(a, 1, 2, 2), .b = row_major(b, 2, 1, 1), .beta = 1, .c0 = row_major(&x, 1, 1, 1)});
}

RC_GTEST_PROP(MpfrOracle, agreesWithTheExactOracleNearMidpoints, (std::uint64_t seed)) {
  test::RandomBits random(seed);
  for (int trial = 0; trial < 50; ++trial) expect_agreement_near_midpoint(random);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(MpfrOracle, accountsForItsOwnError) {
  int unknown = 0;
  for (const auto family : all_families())
    for (const long bits : {2L, 24L, 53L, 70L, 120L, 300L}) {
      const auto problem = generate({family, 6, 6, 9, 1, 3});
      const ExactOracle exact(problem);
      const MpfrOracle mpfr(problem, bits);
      for (Index t = 0; t < 36; ++t) {
        const double computed = static_cast<double>(t % 2) * exact.rounded(t / 6, t % 6);
        const auto truth = exact.evaluate(t / 6, t % 6, computed);
        const auto entry = mpfr.evaluate(t / 6, t % 6, computed);
        EXPECT_GE(entry.error_upper, truth.error_upper) << name(family) << ' ' << bits;
        EXPECT_LE(entry.value_lower, truth.value_lower);
        EXPECT_GE(entry.value_upper, truth.value_upper);
        EXPECT_LE(entry.scale_lower, truth.scale_lower);
        EXPECT_GE(entry.scale_upper, truth.scale_upper);
        EXPECT_TRUE(!entry.rounding_known || same_bits(entry.rounded, truth.rounded)) << name(family) << ' ' << bits;
        if (entry.rounding_known) continue;
        ++unknown;
        EXPECT_THROW(static_cast<void>(mpfr.rounded(t / 6, t % 6)), std::domain_error);
      }
    }
  EXPECT_GT(unknown, 1000);
}

TEST(MpfrOracle, aNegativeAlphaKeepsTheEnclosure) {
  const double a[] = {0x1.fffffffffffffp0, 0x1.fffffffffffffp0};
  const double b[] = {0x1.fffffffffffffp0, -0x1.0000000000001p0};
  for (const double alpha : {-0x1.5555555555555p0, 0x1.5555555555555p0}) {
    const Operands in{
        .a = row_major(a, 1, 2, 2), .b = row_major(b, 2, 1, 1), .alpha = alpha, .beta = alpha, .c0 = row_major(a, 1, 1, 1)};
    const auto truth = ExactOracle(in).evaluate(0, 0, 1);
    for (long bits = 2; bits < 200; ++bits) {
      const auto entry = MpfrOracle(in, bits).evaluate(0, 0, 1);
      EXPECT_LE(entry.value_lower, truth.value_lower) << bits;
      EXPECT_GE(entry.value_upper, truth.value_upper) << bits;
      EXPECT_LE(entry.scale_lower, truth.scale_lower) << bits;
      EXPECT_GE(entry.scale_upper, truth.scale_upper) << bits;
    }
  }
}

TEST(MpfrOracle, refusesAbsurdPrecisions) {
  const Matrix<double> one(1, 1);
  const Operands in{.a = one.view(), .b = one.view()};
  EXPECT_THROW(MpfrOracle(in, 1), std::invalid_argument);
  EXPECT_THROW(MpfrOracle(in, (1L << 20) + 1), std::invalid_argument);
  EXPECT_EQ(MpfrOracle(in, 100).precision_bits(), 100);
  EXPECT_THROW(MpfrOracle(Operands{.a = one.view(), .b = {}}, 100), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::mpfr_oracle_test
