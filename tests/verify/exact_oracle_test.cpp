// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/exact_oracle.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "print.hpp"

namespace ozbound::exact_oracle_test {
namespace {

using Kind = OracleEntry::Kind;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double largest_float = 0x1.fffffep127;
constexpr double eta = 0x1p-1074;
constexpr double eta_float = 0x1p-149;

/// One entry: a row times a column, with alpha, beta and c0.
struct Dot {
  std::vector<double> a, b;
  double alpha = 1;
  double beta = 0;
  double c0 = nan;  // must not be read if beta is 0

  [[nodiscard]] OracleEntry evaluate(double computed = 0, ResultFormat format = ResultFormat::of_double) const {
    const auto k = static_cast<Index>(a.size());
    const ExactOracle oracle({.a = row_major(a.data(), 1, k, k + 1),
                              .b = row_major(b.data(), k, 1, 1),
                              .alpha = alpha,
                              .beta = beta,
                              .c0 = row_major(&c0, 1, 1, 1)});
    return oracle.evaluate(0, 0, computed, format);
  }
  [[nodiscard]] std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(evaluate().rounded); }
  [[nodiscard]] std::uint64_t float_bits() const {
    return std::bit_cast<std::uint64_t>(evaluate(0, ResultFormat::of_float).rounded);
  }
};

#define EXPECT_BITS(actual, expected) EXPECT_EQ(actual, std::bit_cast<std::uint64_t>(static_cast<double>(expected)))

/// The exact x + y as a dot product.
Dot sum(double x, double y) { return {{x, y}, {1, 1}}; }
Dot sum(double x, double y, double z) { return {{x, y, z}, {1, 1, 1}}; }

TEST(ExactOracle, breaksTiesToEven) {
  EXPECT_BITS(sum(1, 0x1p-53).bits(), 1);
  EXPECT_BITS(sum(1 + 0x1p-52, 0x1p-53).bits(), 1 + 0x1p-51);
  EXPECT_BITS(sum(1, 0x1p-53, eta).bits(), 1 + 0x1p-52);
  EXPECT_BITS(sum(1, 0x1p-53, -eta).bits(), 1);
  EXPECT_BITS(sum(1 + 0x1p-52, 0x1p-53, -eta).bits(), 1 + 0x1p-52);
  EXPECT_BITS(sum(-1, -0x1p-53, -eta).bits(), -1 - 0x1p-52);
  EXPECT_BITS(sum(0x1p53, 1).bits(), 0x1p53);
  EXPECT_BITS(sum(0x1.fffffffffffffp0, 0x1p-53).bits(), 2);
  EXPECT_BITS(sum(1, 0x1p-24).float_bits(), 1);
  EXPECT_BITS(sum(1 + 0x1p-23, 0x1p-24).float_bits(), 1 + 0x1p-22);
  EXPECT_BITS(sum(1, 0x1p-24, eta).float_bits(), 1 + 0x1p-23);
  EXPECT_BITS((Dot{{1 + 0x1p-52}, {1 + 0x1p-52}}.bits()), 1 + 0x1p-51);
}

TEST(ExactOracle, roundsFloatsOnce) {
  // Rounded first to a double, 1 + 2^-24 + 2^-54 would become the tie 1 + 2^-24, and then 1.
  EXPECT_BITS(sum(1, 0x1p-24, 0x1p-54).float_bits(), 1 + 0x1p-23);
}

TEST(ExactOracle, roundsSubnormalMidpoints) {
  EXPECT_BITS((Dot{{eta}, {0.5}}.bits()), 0.0);
  EXPECT_BITS((Dot{{eta}, {-0.5}}.bits()), -0.0);
  EXPECT_BITS((Dot{{3 * eta}, {0.5}}.bits()), 2 * eta);
  EXPECT_BITS((Dot{{5 * eta}, {-0.5}}.bits()), -2 * eta);
  EXPECT_BITS((Dot{{eta, eta}, {0.5, eta}}.bits()), eta);
  EXPECT_BITS((Dot{{3 * eta, eta}, {0.5, -eta}}.bits()), eta);
  EXPECT_BITS((Dot{{-eta}, {eta}}.bits()), -0.0);
  EXPECT_BITS((Dot{{0x1.fffffffffffffp-1022}, {0.5}}.bits()), 0x1p-1022);
  EXPECT_BITS((Dot{{eta_float}, {0.5}}.float_bits()), 0.0);
  EXPECT_BITS((Dot{{-eta_float}, {0.5}}.float_bits()), -0.0);
  EXPECT_BITS((Dot{{3 * eta_float}, {0.5}}.float_bits()), 2 * eta_float);
  EXPECT_BITS((Dot{{eta_float, eta}, {0.5, eta}}.float_bits()), eta_float);
  EXPECT_BITS((Dot{{eta}, {1}}.float_bits()), 0.0);
}

TEST(ExactOracle, roundsOnceAfterScaling) {
  // Rounding first and scaling afterwards would give 0x80 eta.
  const Dot dot{{0x1p60, 0x1p52, 1}, {1, 1, 1}, 0x1p-1022 * 0x1p-52};
  EXPECT_BITS((Dot{dot.a, {0x1p-53, 0x1p-53, 0x1p-53}, eta}.bits()), 0x81 * eta);
  EXPECT_BITS((Dot{{0x1p512}, {0x1p512}, 0x1p-10}.bits()), 0x1p1014);
  EXPECT_BITS((Dot{{0x1p-1000}, {0x1p-1000}, 0x1p1000}.bits()), 0x1p-1000);
}

TEST(ExactOracle, overflowsFromTheMidpointOn) {
  EXPECT_BITS(sum(largest, 0x1p969).bits(), largest);
  EXPECT_BITS(sum(largest, 0x1p970).bits(), inf);
  EXPECT_BITS(sum(-largest, -0x1p970).bits(), -inf);
  EXPECT_BITS(sum(largest, 0x1p970, -eta).bits(), largest);
  EXPECT_BITS((Dot{{largest, largest, largest}, {1, largest, -largest}}.bits()), largest);
  EXPECT_BITS((Dot{{largest}, {largest}, largest}.bits()), inf);
  EXPECT_EQ((Dot{{largest}, {largest}, largest}.evaluate().kind), Kind::finite);
  EXPECT_BITS(sum(largest_float, 0x1p103).float_bits(), inf);
  EXPECT_BITS(sum(largest_float, 0x1p103, -eta).float_bits(), largest_float);
  EXPECT_BITS(sum(0x1p128, 0).float_bits(), inf);
}

TEST(ExactOracle, anExactZeroIsPositive) {
  EXPECT_BITS(sum(-1, 1).bits(), 0.0);
  EXPECT_BITS((Dot{{-0.0}, {1}}.bits()), 0.0);
  EXPECT_BITS((Dot{{0}, {-1}, -1, 1, -0.0}.bits()), 0.0);
  EXPECT_BITS((Dot{{}, {}}.bits()), 0.0);
  EXPECT_BITS((Dot{{largest, -largest}, {largest, largest}, largest}.bits()), 0.0);
  const auto entry = sum(-1, 1).evaluate();
  EXPECT_EQ(entry.value_upper, Magnitude{});
  EXPECT_EQ(entry.scale_lower, (Magnitude{1, 1}));
}

TEST(ExactOracle, joinsAlphaBetaAndC0) {
  EXPECT_BITS((Dot{{3}, {5}, 2, 0.5, 8}.bits()), 34);
  EXPECT_BITS((Dot{{3}, {5}, -2, -0.5, 8}.bits()), -34);
  EXPECT_BITS((Dot{{}, {}, nan, 2, 3}.bits()), 6);
  const auto entry = Dot{{3, 1}, {-5, 7}, -2, 0.5, -8}.evaluate(11);
  EXPECT_EQ(entry.rounded, 12);
  EXPECT_EQ(entry.error_upper, (Magnitude{1, 0}));
  EXPECT_EQ(entry.value_lower, (Magnitude{1.5, 3}));
  EXPECT_EQ(entry.scale_lower, (Magnitude{1.5, 5}));  // 30 + 14 + 4
  EXPECT_EQ(entry.scale_upper, entry.scale_lower);
}

TEST(ExactOracle, doesNotReadWhatIsMultipliedByZero) {
  EXPECT_BITS((Dot{{1}, {1}, 1, 0, nan}.bits()), 1);
  EXPECT_BITS((Dot{{nan}, {inf}, 0, 1, 3}.bits()), 3);
  EXPECT_BITS((Dot{{nan}, {inf}, -0.0, 0, nan}.bits()), 0.0);
  EXPECT_BITS((Dot{{nan}, {inf}, 0, 1, -inf}.bits()), -inf);
  const Matrix<double> one(1, 1);
  EXPECT_EQ(ExactOracle({.a = one.view(), .b = one.view()}).rounded(0, 0), 0);  // no c0 at all
}

TEST(ExactOracle, followsNaNAndInfinityOfTheInputs) {
  const auto kind = [](const Dot& dot) { return dot.evaluate().kind; };
  EXPECT_EQ(kind({{nan, 1}, {0, 1}}), Kind::nan);
  EXPECT_EQ(kind({{1, 1}, {0, nan}}), Kind::nan);
  EXPECT_EQ(kind({{0}, {inf}}), Kind::nan);
  EXPECT_EQ(kind({{-inf}, {0}}), Kind::nan);
  EXPECT_EQ(kind({{inf, inf}, {1, -1}}), Kind::nan);
  EXPECT_EQ(kind({{inf, -inf}, {eta, -eta}}), Kind::positive_infinity);
  EXPECT_EQ(kind({{inf, largest}, {-1, largest}}), Kind::negative_infinity);
  EXPECT_EQ(kind({{inf}, {-1}, -1}), Kind::positive_infinity);
  EXPECT_EQ(kind({{1}, {2}, -inf}), Kind::negative_infinity);
  EXPECT_EQ(kind({{1, 1}, {2, 0}, inf}), Kind::nan);
  EXPECT_EQ(kind({{1, 1}, {2, -1}, inf}), Kind::nan);
  EXPECT_EQ(kind({{1}, {1}, nan}), Kind::nan);
  EXPECT_EQ(kind({{1}, {1}, 1, 1, inf}), Kind::positive_infinity);
  EXPECT_EQ(kind({{inf}, {1}, 1, -1, inf}), Kind::nan);
  EXPECT_EQ(kind({{1}, {1}, 1, inf, 0}), Kind::nan);
  EXPECT_EQ(kind({{1}, {1}, 1, nan, 1}), Kind::nan);
  EXPECT_EQ(kind({{}, {}, inf}), Kind::finite);
}

TEST(ExactOracle, specialEntriesErrByClass) {
  const Dot infinite{{inf}, {-2}};
  EXPECT_BITS(infinite.bits(), -inf);
  EXPECT_EQ(infinite.evaluate(-inf).error_upper, Magnitude{});
  EXPECT_TRUE(infinite.evaluate(inf).error_upper.is_infinite());
  EXPECT_TRUE(infinite.evaluate(-largest).error_upper.is_infinite());
  EXPECT_TRUE(infinite.evaluate(nan).error_upper.is_infinite());
  const Dot undefined{{inf}, {0}};
  EXPECT_TRUE(std::isnan(undefined.evaluate().rounded));
  EXPECT_EQ(undefined.evaluate(-nan).error_upper, Magnitude{});
  EXPECT_TRUE(undefined.evaluate(1).error_upper.is_infinite());
  EXPECT_TRUE(sum(1, 1).evaluate(nan).error_upper.is_infinite());
}

TEST(ExactOracle, errorsAreRoundedUpward) {
  EXPECT_EQ(sum(1, eta).evaluate(1).error_upper, (Magnitude{1, -1074}));
  EXPECT_EQ(sum(1, eta).evaluate(2).error_upper, (Magnitude{1, 0}));
  EXPECT_EQ(sum(1, -eta).evaluate(2).error_upper, (Magnitude{0x1.0000000000001p0, 0}));
  const auto entry = sum(1, eta).evaluate(1);
  EXPECT_EQ(entry.value_lower, (Magnitude{1, 0}));
  EXPECT_EQ(entry.value_upper, (Magnitude{0x1.0000000000001p0, 0}));
  EXPECT_EQ((Dot{{eta}, {eta}, eta}.evaluate(0).error_upper), (Magnitude{1, -3222}));
  EXPECT_EQ((Dot{{0x1p1023}, {0x1p1023}, 0x1p1023}.evaluate(1).error_upper), (Magnitude{1, 3069}));
}

TEST(ExactOracle, aComputedInfinityStandsForAllThatRoundsToIt) {
  const double threshold_less = 0x1p970;
  EXPECT_EQ(sum(largest, 0).evaluate(inf).error_upper, Magnitude::of(threshold_less));
  EXPECT_EQ(sum(largest, 0x1p970).evaluate(inf).error_upper, Magnitude{});
  EXPECT_EQ((Dot{{largest}, {2}}.evaluate(inf).error_upper), Magnitude{});
  EXPECT_EQ((Dot{{-largest}, {2}}.evaluate(-inf).error_upper), Magnitude{});
  EXPECT_EQ((Dot{{-0x1p1023}, {1}}.evaluate(inf).error_upper), (Magnitude{0x1.8p0, 1024}));  // upward
  EXPECT_EQ(sum(largest_float, 0).evaluate(inf, ResultFormat::of_float).error_upper, Magnitude::of(0x1p103));
  EXPECT_EQ(sum(-0x1p128, 0).evaluate(-inf, ResultFormat::of_float).error_upper, Magnitude{});
}

TEST(ExactOracle, carriesLongSumsOfLargeProducts) {
  // k x^2 with x = 2^54 - 2: each square is 2^108 - 2^56 + 4, the largest that one sum by exponent holds.
  const Index k = 200001;  // several carries of the sums by exponent, and the last one short
  const double x = 0x1.fffffffffffffp53;
  const std::vector<double> row(static_cast<std::size_t>(k), x);
  const std::vector<double> negative(static_cast<std::size_t>(k), -x);
  const auto kd = static_cast<double>(k);
  const Dot cancelled{row, row, 1, -1, kd * 0x1p108};
  EXPECT_EQ(cancelled.evaluate().rounded, -kd * 0x1p56 + 4 * kd);
  const Dot mirrored{negative, row, 1, 1, kd * 0x1p108};
  EXPECT_EQ(mirrored.evaluate().rounded, kd * 0x1p56 - 4 * kd);
  EXPECT_EQ(mirrored.evaluate(kd * 0x1p56).error_upper, Magnitude::of(4 * kd));
}

TEST(ExactOracle, carriesRipple) {
  // 2^424 - 1, all ones, then 65528 zeros and 1 in a later carry of the sums by exponent.
  Dot dot{{}, {}};
  for (int piece = 0; piece < 8; ++piece) dot.a.push_back(std::ldexp(0x1.fffffffffffffp52, 53 * piece));
  dot.a.resize(1 << 16, 0.0);
  dot.a.push_back(1);
  dot.b.assign(dot.a.size(), 1.0);
  const auto entry = dot.evaluate(0x1p424);
  EXPECT_EQ(entry.error_upper, Magnitude{});
  EXPECT_EQ(entry.scale_upper, (Magnitude{1, 424}));
}

TEST(ExactOracle, readsViewsWithAnyStride) {
  const double a[] = {1, 9, 2, 9, 3, 9, 4, 9};  // 2 x 2 by columns, every other element
  const double b[] = {5, 6, 7, 8};
  const double c0[] = {1, 2, 3, 4};
  const ExactOracle oracle({.a = MatrixView<const double>(a, 2, 2, 2, 4),
                            .b = row_major(b, 2, 2, 2).transposed(),
                            .alpha = 1,
                            .beta = 100,
                            .c0 = column_major(c0, 2, 2, 2)});
  EXPECT_EQ(oracle.rounded(0, 0), 1 * 5 + 3 * 6 + 100);
  EXPECT_EQ(oracle.rounded(0, 1), 1 * 7 + 3 * 8 + 300);
  EXPECT_EQ(oracle.rounded(1, 0), 2 * 5 + 4 * 6 + 200);
  EXPECT_EQ(oracle.rounded_float(1, 1), 2 * 7 + 4 * 8 + 400);
}

TEST(ExactOracle, refusesShapesThatDoNotFit) {
  const Matrix<double> wide(2, 3);
  const Matrix<double> square(3, 3);
  EXPECT_THROW(ExactOracle({.a = wide.view(), .b = wide.view()}), std::invalid_argument);
  EXPECT_THROW(ExactOracle({.a = wide.view(), .b = square.view(), .beta = 1}), std::invalid_argument);
  EXPECT_THROW(ExactOracle({.a = wide.view(), .b = square.view(), .beta = 1, .c0 = square.view()}), std::invalid_argument);
  EXPECT_NO_THROW(ExactOracle({.a = wide.view(), .b = square.view(), .c0 = square.view()}));
}

}  // namespace
}  // namespace ozbound::exact_oracle_test
