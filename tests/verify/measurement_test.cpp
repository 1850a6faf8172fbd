// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/measurement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"

namespace ozbound::measurement_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Checks that x is `expected` up to a few upward roundings.
void expect_just_above(double x, double expected) {
  EXPECT_GE(x, expected);
  EXPECT_LE(x, expected * (1 + 0x1p-49));
}

TEST(Measurement, reportsTheWorstOfEachRatio) {
  // C = [7 1], M = [7 7], k = 2.
  const double a[] = {3, 4};
  const double b[] = {1, -1, 1, 1};
  const ExactOracle oracle({.a = row_major(a, 1, 2, 2), .b = row_major(b, 2, 2, 2)});
  const double c[] = {7 + 3 * 0x1p-40, 1 - 4 * 0x1p-40};
  const auto m = measure(row_major(c, 1, 2, 2), oracle);
  EXPECT_EQ(m.entries, 2);
  EXPECT_EQ(m.special_mismatches, 0);
  EXPECT_EQ(m.not_correctly_rounded, 2);
  EXPECT_EQ(m.undecided, 0);
  expect_just_above(m.componentwise_upper, 4 * 0x1p-40 / 7);
  expect_just_above(m.dgemm_upper, 4 * 0x1p-40 / 7 / 0x1p-52);
  expect_just_above(m.dgemm_typical_upper, 4 * 0x1p-40 / 7 / (std::sqrt(2.0) * 0x1p-53) * (1 - 0x1p-51));
  expect_just_above(m.normwise_upper, 5 * 0x1p-40 / std::sqrt(98.0) * (1 - 0x1p-51));
  EXPECT_EQ(m.relative_upper, 4 * 0x1p-40);
}

TEST(Measurement, aCorrectlyRoundedProductIsCounted) {
  const auto p = generate({.family = Family::cancellation, .m = 7, .n = 7, .k = 7, .phi = 1});
  const ExactOracle oracle(p);
  Matrix<double> c(7, 7);
  Matrix<float> single(7, 7);
  for (Index i = 0; i < 7; ++i)
    for (Index j = 0; j < 7; ++j) {
      c(i, j) = oracle.rounded(i, j);
      single(i, j) = oracle.rounded_float(i, j);
    }
  EXPECT_EQ(measure(c, oracle).not_correctly_rounded, 0);
  EXPECT_LE(measure(c, oracle).relative_upper, 0x1p-53);
  EXPECT_EQ(measure(single, oracle).not_correctly_rounded, 0);
  EXPECT_LE(measure(single, oracle).relative_upper, 0x1p-24);
  EXPECT_GT(measure(single, oracle).relative_upper, 0x1p-27);
  c(3, 3) = std::nextafter(c(3, 3), 2.0);
  EXPECT_EQ(measure(c, oracle).not_correctly_rounded, 1);
  EXPECT_GT(measure(c, MpfrOracle(p, 60)).undecided, 0);
}

TEST(Measurement, countsMismatchesAndLeavesThemOut) {
  const double a[] = {inf, 1};
  const double one = 1;
  const ExactOracle oracle({.a = row_major(a, 2, 1, 1), .b = row_major(&one, 1, 1, 1)});
  const double good[] = {inf, 1};
  EXPECT_EQ(measure(row_major(good, 2, 1, 1), oracle).special_mismatches, 0);
  EXPECT_EQ(measure(row_major(good, 2, 1, 1), oracle).not_correctly_rounded, 0);
  EXPECT_EQ(measure(row_major(good, 2, 1, 1), oracle).normwise_upper, 0);
  const double wrong[] = {inf, 2};
  EXPECT_EQ(measure(row_major(wrong, 2, 1, 1), oracle).normwise_upper, 1);
  const double bad[] = {-inf, std::nan("")};
  EXPECT_EQ(measure(row_major(bad, 2, 1, 1), oracle).special_mismatches, 2);
  EXPECT_EQ(measure(row_major(bad, 2, 1, 1), oracle).not_correctly_rounded, 0);
}

TEST(Measurement, anErrorWhereNothingIsSummedIsInfinite) {
  const double zero = 0;
  const double one = 1;
  const ExactOracle oracle({.a = row_major(&zero, 1, 1, 1), .b = row_major(&one, 1, 1, 1)});
  EXPECT_EQ(measure(row_major(&zero, 1, 1, 1), oracle).componentwise_upper, 0);
  const auto m = measure(row_major(&one, 1, 1, 1), oracle);
  EXPECT_EQ(m.componentwise_upper, inf);
  EXPECT_EQ(m.normwise_upper, inf);
  EXPECT_EQ(m.relative_upper, inf);
  EXPECT_EQ(m.not_correctly_rounded, 1);
}

TEST(Measurement, dgemmCountsInTheFormatsOwnRoundoff) {
  const double c0 = 1;
  const ExactOracle oracle({.a = MatrixView<const double>(&c0, 1, 0, 1, 1),
                            .b = MatrixView<const double>(&c0, 0, 1, 1, 1),
                            .beta = 1,
                            .c0 = row_major(&c0, 1, 1, 1)});
  const float c = 1 + 0x1p-22F;
  EXPECT_EQ(measure(row_major(&c, 1, 1, 1), oracle).dgemm_upper, 4);
  const double wide = static_cast<double>(c);
  EXPECT_EQ(measure(row_major(&wide, 1, 1, 1), oracle).dgemm_upper, 0x1p31);
  EXPECT_EQ(measure(row_major(&wide, 1, 1, 1), oracle).dgemm_typical_upper, 0x1p31);  // k = 0 counts as 1
}

TEST(Measurement, measuresASample) {
  const auto p = generate({.family = Family::uniform, .m = 40, .n = 40, .k = 4});
  const ExactOracle oracle(p);
  const Matrix<double> c(40, 40);
  const auto m = measure(c, oracle, EntrySelection::sample(100, 1));
  EXPECT_EQ(m.entries, 100);
  EXPECT_EQ(m.not_correctly_rounded, 100);
  expect_just_above(m.relative_upper, 1);
  EXPECT_THROW(measure(Matrix<double>(40, 39), oracle), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::measurement_test
