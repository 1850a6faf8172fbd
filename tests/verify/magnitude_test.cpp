// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/magnitude.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "print.hpp"
#include "support/classified.hpp"

namespace ozbound::magnitude_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// An exact value to compare with. Its 400 bits hold every sum and product of these tests.
class Reference {
 public:
  Reference() { mpfr_init2(value_, 400); }
  explicit Reference(const Magnitude& x) : Reference() {
    mpfr_set_d(value_, x.significand, MPFR_RNDN);
    mpfr_mul_2si(value_, value_, static_cast<long>(x.exponent), MPFR_RNDN);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// Checks that lower <= truth <= upper and both bounds are nearest neighbours.
void expect_encloses(const Magnitude& lower, const Magnitude& upper, Reference& truth) {
  mpfr_t rounded;
  mpfr_init2(rounded, 53);
  mpfr_set(rounded, truth.get(), MPFR_RNDD);
  EXPECT_TRUE(mpfr_equal_p(Reference(lower).get(), rounded)) << to_string(lower);
  mpfr_set(rounded, truth.get(), MPFR_RNDU);
  EXPECT_TRUE(mpfr_equal_p(Reference(upper).get(), rounded)) << to_string(upper);
  mpfr_clear(rounded);
}

Magnitude sample_magnitude(test::RandomBits& random, int spread) {
  const auto bits = test::sample_significand(random.pick(test::significand_classes), 53, random);
  return {static_cast<double>(bits) * 0x1p-52, random.between(-spread, spread)};
}

TEST(Magnitude, holdsEveryDoubleExactly) {
  EXPECT_EQ(Magnitude::of(-1.5), (Magnitude{1.5, 0}));
  EXPECT_EQ(Magnitude::of(0x1p-1074), (Magnitude{1, -1074}));
  EXPECT_EQ(Magnitude::of(0x3p-1074), (Magnitude{1.5, -1073}));
  EXPECT_EQ(Magnitude::of(0x1.fffffffffffffp1023), (Magnitude{0x1.fffffffffffffp0, 1023}));
  EXPECT_EQ(Magnitude::of(-0.0), Magnitude{});
  EXPECT_TRUE(Magnitude::of(-inf).is_infinite());
  EXPECT_THROW(Magnitude::of(std::nan("")), std::invalid_argument);
}

TEST(Magnitude, isOrderedByValue) {
  const Magnitude ascending[] = {{}, {1.5, -4000}, {1, 0}, {1.5, 0}, {1, 1}, {1, 4000}, Magnitude::infinity()};
  for (std::size_t i = 0; i < std::size(ascending); ++i)
    for (std::size_t j = 0; j < std::size(ascending); ++j) EXPECT_EQ(ascending[i] <=> ascending[j], i <=> j) << i << ' ' << j;
}

TEST(Magnitude, roundsOperationsOutwardToTheNearestNeighbour) {
  test::RandomBits random(1);
  for (int spread : {0, 3, 60, 130})
    for (int trial = 0; trial < 2000; ++trial) {
      const auto x = sample_magnitude(random, spread);
      const auto y = sample_magnitude(random, spread);
      Reference exact_x(x);
      Reference exact_y(y);
      Reference truth;
      mpfr_mul(truth.get(), exact_x.get(), exact_y.get(), MPFR_RNDN);
      expect_encloses(multiply_lower(x, y), multiply_upper(x, y), truth);
      mpfr_add(truth.get(), exact_x.get(), exact_y.get(), MPFR_RNDN);
      expect_encloses(add_lower(x, y), add_upper(x, y), truth);
      mpfr_sqrt(truth.get(), exact_x.get(), MPFR_RNDN);
      expect_encloses(sqrt_lower(x), sqrt_upper(x), truth);
    }
}

TEST(Magnitude, carriesIntoTheNextBinade) {
  const Magnitude below_two{0x1.fffffffffffffp0, 5};
  const Magnitude tiny{1, -300};
  EXPECT_EQ(add_upper(below_two, tiny), (Magnitude{1, 6}));
  EXPECT_EQ(add_lower(below_two, tiny), below_two);
  EXPECT_EQ(sqrt_upper({0x1.fffffffffffffp0, 1}), (Magnitude{1, 1}));
  EXPECT_EQ(distance_upper({1, 6}, tiny), (Magnitude{1, 6}));
}

TEST(Magnitude, roundsDistancesAndQuotientsUpward) {
  test::RandomBits random(2);
  for (int spread : {0, 1, 60, 130})
    for (int trial = 0; trial < 2000; ++trial) {
      const auto x = sample_magnitude(random, spread);
      const auto y = sample_magnitude(random, spread);
      Reference exact_x(x);
      Reference exact_y(y);
      Reference truth;
      mpfr_sub(truth.get(), exact_x.get(), exact_y.get(), MPFR_RNDN);
      mpfr_abs(truth.get(), truth.get(), MPFR_RNDN);
      Reference distance(distance_upper(x, y));
      EXPECT_TRUE(mpfr_greaterequal_p(distance.get(), truth.get()));
      mpfr_mul_d(truth.get(), truth.get(), 1 + 0x1p-51, MPFR_RNDN);
      EXPECT_TRUE(mpfr_lessequal_p(distance.get(), truth.get()));
      mpfr_div(truth.get(), exact_x.get(), exact_y.get(), MPFR_RNDN);
      mpfr_prec_round(truth.get(), 53, MPFR_RNDU);  // exact quotients have few bits here; inexact ones differ much more
      EXPECT_TRUE(mpfr_equal_p(Reference(divide_upper(x, y)).get(), truth.get()));
    }
}

TEST(Magnitude, handlesZeroAndInfinity) {
  const Magnitude zero;
  const Magnitude one{1, 0};
  const auto infinity = Magnitude::infinity();
  EXPECT_EQ(add_upper(zero, one), one);
  EXPECT_EQ(add_lower(infinity, one), infinity);
  EXPECT_EQ(distance_upper(one, infinity), infinity);
  EXPECT_EQ(distance_upper(one, one), zero);
  EXPECT_EQ(multiply_upper(zero, infinity), infinity);
  EXPECT_EQ(multiply_lower(zero, infinity), zero);
  EXPECT_EQ(multiply_lower(one, infinity), infinity);
  EXPECT_EQ(divide_upper(zero, zero), zero);
  EXPECT_EQ(divide_upper(one, zero), infinity);
  EXPECT_EQ(divide_upper(one, infinity), zero);
  EXPECT_EQ(divide_upper(infinity, infinity), infinity);
  EXPECT_EQ(sqrt_upper(zero), zero);
  EXPECT_EQ(sqrt_lower(infinity), infinity);
}

TEST(Magnitude, becomesADoubleOutward) {
  EXPECT_EQ(to_double_upper({1, 1024}), inf);
  EXPECT_EQ(to_double_lower({1, 1024}), std::numeric_limits<double>::max());
  EXPECT_EQ(to_double_upper({1.5, -1074}), 0x2p-1074);
  EXPECT_EQ(to_double_lower({1.5, -1074}), 0x1p-1074);
  EXPECT_EQ(to_double_upper({1, -1074}), 0x1p-1074);
  EXPECT_EQ(to_double_upper({1, -5000}), 0x1p-1074);
  EXPECT_EQ(to_double_lower({1, -5000}), 0);
  EXPECT_EQ(to_double_upper({0x1.fffffffffffffp0, -1023}), 0x1p-1022);
  EXPECT_EQ(to_double_lower({1.25, -1022}), 0x1.4p-1022);
  EXPECT_EQ(to_double_upper({}), 0);
}

TEST(Magnitude, isSpelledInHexadecimal) {
  EXPECT_EQ(to_string(Magnitude{1.5, -2100}), "0x1.8p-2100");
  EXPECT_EQ(to_string(Magnitude{1, 3}), "0x1p+3");
  EXPECT_EQ(to_string(Magnitude{}), "0x0p+0");
  EXPECT_EQ(to_string(Magnitude::infinity()), "inf");
}

}  // namespace
}  // namespace ozbound::magnitude_test
