// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/unit_slices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"

namespace ozbound::models::models_unit_slices_test {
namespace {

constexpr MatrixUnit int4 = matrix_units[1], int8 = matrix_units[2], int12 = matrix_units[3];

Matrix<double> filled(Index rows, Index cols, double x) {
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = x;
  return matrix;
}

/// 0.11…1 with `bits` bits times itself, k times: digits as large as possible.
UnitProduct maximal(const MatrixUnit& unit, int bits, Index k) {
  const double x = 1 - std::ldexp(1.0, -bits);
  return multiply(unit, {.bits = bits, .slices = 1}, filled(1, k, x).view(), filled(k, 1, x).view());
}

TEST(UnitSlices, sliceBitsAreWhatTheAccumulatorHolds) {
  for (const auto& unit : {int4, int8, int12})
    for (const Index k : {1, 2, 511, 512, 513, 2051, 2052, 8225, 8226, 33000, 133144, 133145, 1 << 18}) {
      const int bits = unit.bits_per_slice(k);
      const auto fits = [&](int more) {
        const auto product = maximal(unit, bits + more, k);
        return product.inputs_fit && product.sums_fit;
      };
      EXPECT_TRUE(fits(0)) << unit.name << " " << k;
      EXPECT_FALSE(fits(1)) << unit.name << " " << k;
    }
}

TEST(UnitSlices, limitsAreThoseOfIntegers) {
  EXPECT_FALSE(multiply(int8, {8, 1}, filled(1, 1, 0.5).view(), filled(1, 1, 0.5).view()).inputs_fit);  // 128
  const auto sum = [](const std::vector<double>& a, const std::vector<double>& b) {
    const auto k = static_cast<Index>(a.size());
    return multiply(int12, {20, 1}, row_major(a.data(), 1, k, k), row_major(b.data(), k, 1, 1));
  };
  const auto largest = sum({-1, 0x1p19, 0}, {1, 0x1p12, 0x1p19});
  EXPECT_EQ(largest.largest_sum, 0x7fffffff);
  EXPECT_TRUE(largest.sums_fit);
  EXPECT_FALSE(sum({0x1p19, -1, 0}, {0x1p12, 1, 0x1p19}).sums_fit);  // a partial sum does not fit
  EXPECT_FALSE(sum({-0x1p19, 1, 0}, {0x1p12, 1, 0x1p19}).sums_fit);
}

TEST(UnitSlices, enoughSlicesRoundCorrectly) {
  const auto problem = generate({Family::uniform, 4, 4, 9, 0, 2});
  const ExactOracle oracle(problem);
  for (const auto& unit : {int4, int8, int12}) {
    const auto product =
        multiply(unit, {unit.bits_per_slice(9), unit.slices(70, 9), SliceProducts::all}, problem.a.view(), problem.b.view());
    EXPECT_TRUE(product.exact_slices);
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 4; ++j) EXPECT_EQ(product.c(i, j), oracle.rounded(i, j)) << unit.name;
  }
}

TEST(UnitSlices, printedBitsOverflowAndWaste) {
  EXPECT_FALSE(maximal(int8, 7, 133145).sums_fit);  // "7 bits for k < 2^18"
  EXPECT_TRUE(maximal(int12, 11, 512).sums_fit);
  EXPECT_FALSE(maximal(int12, 11, 513).sums_fit);
  // (4) gives 8 bits from k = 8193 on.
  EXPECT_TRUE(maximal(int12, 9, 8224).sums_fit);
  EXPECT_FALSE(maximal(int12, 9, 8225).sums_fit);
}

TEST(UnitSlices, slicesOfTheMantissaSpaceAreEnoughAndOneLessIsNot) {
  // Elements of 53 bits whose exponents fill 70: from 2^-17 to 1 in one row, with the last bit set.
  auto a = filled(3, 40, 0), b = filled(40, 2, 0);
  for (Index i = 0; i < 3; ++i)
    for (Index l = 0; l < 40; ++l) a(i, l) = std::ldexp(1 + 0x1p-52 * static_cast<double>(2 * (i + l) + 1), l == 0 ? -1 : -18);
  for (Index l = 0; l < 40; ++l)
    for (Index j = 0; j < 2; ++j) b(l, j) = std::ldexp(-1 - 0x1p-52 * static_cast<double>(2 * (j + l) + 1), l == 1 ? -1 : -18);
  const ExactOracle oracle({.a = a.view(), .b = b.view()});
  for (const auto& unit : {int4, int8, int12}) {
    const UnitSlices slicing{unit.bits_per_slice(40), unit.slices(70, 40), SliceProducts::all};
    const auto product = multiply(unit, slicing, a.view(), b.view());
    EXPECT_TRUE(product.exact_slices && product.inputs_fit && product.sums_fit) << unit.name;
    EXPECT_EQ(product.products, slicing.slices * slicing.slices);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 2; ++j) EXPECT_EQ(product.c(i, j), oracle.rounded(i, j)) << unit.name;
    EXPECT_FALSE(multiply(unit, {slicing.bits, slicing.slices - 1, SliceProducts::all}, a.view(), b.view()).exact_slices)
        << unit.name;
  }
}

TEST(UnitSlices, productsAndDigitsAreThoseOfTheTheory) {
  const auto x = filled(4, 4, 1 - 0x1p-53);
  for (const auto& unit : {int4, int8, int12}) {
    const int slices = unit.slices(53, 4);
    const auto product = multiply(unit, {unit.bits_per_slice(4), slices}, x.view(), x.view());
    EXPECT_EQ(product.products, triangle_products(slices)) << unit.name;
    EXPECT_EQ(product.largest_digit, (1 << unit.input_bits) - 1) << unit.name;
    EXPECT_EQ(product.largest_sum, 4 * product.largest_digit * product.largest_digit) << unit.name;
    // An element takes as many bytes as its digits with their signs.
    EXPECT_EQ(8 * unit.bytes_per_element(slices), slices * (unit.input_bits + 1)) << unit.name;
  }
}

/// Products meet the bound of truncated slices over all families: k rho sigma (s + 1) 2^(-beta s) for the triangle, 2 k rho
/// sigma 2^(-beta s) for all products, and one rounding.
TEST(UnitSlices, productsMeetTheBoundOfTruncatedSlicesOverTheFamilies) {
  double worst = 0;
  for (const auto family : all_families()) {
    const auto problem = generate({family, 4, 3, 37, 0.5, 11});
    const ExactOracle oracle(problem);
    const auto largest = [](MatrixView<const double> row) {
      double size = 0;
      for (Index l = 0; l < row.cols(); ++l) size = std::max(size, std::abs(row(0, l)));
      return size == 0 ? Magnitude{} : Magnitude::power_of_two(std::ilogb(size) + 1);
    };
    for (const auto& unit : {int4, int8, int12})
      for (const auto products : {SliceProducts::all, SliceProducts::triangle}) {
        const UnitSlices slicing{unit.bits_per_slice(37), unit.slices(40, 37), products};
        const auto product = multiply(unit, slicing, problem.a.view(), problem.b.view());
        EXPECT_TRUE(product.inputs_fit && product.sums_fit);
        const double factor = 37 * (products == SliceProducts::all ? 2.0 : slicing.slices + 1.0);
        for (Index i = 0; i < 4; ++i)
          for (Index j = 0; j < 3; ++j) {
            const double c = product.c(i, j);
            if (!std::isfinite(c)) continue;
            const auto scales = multiply_lower(largest(problem.a.view().block(i, 0, 1, 37)),
                                               largest(problem.b.view().transposed().block(j, 0, 1, 37)));
            const auto cut = multiply_lower(Magnitude::of(factor), Magnitude::power_of_two(-slicing.bits * slicing.slices));
            const auto rounding =
                std::max(multiply_lower(Magnitude::of(c), Magnitude::power_of_two(-53)), Magnitude::power_of_two(-1075));
            const auto bound = add_lower(multiply_lower(scales, cut), rounding);
            const double ratio = to_double_upper(divide_upper(oracle.evaluate(i, j, c).error_upper, bound));
            EXPECT_LE(ratio, 1) << unit.name << " " << generate_command(problem.recipe);
            worst = std::max(worst, ratio);
          }
      }
  }
  EXPECT_GT(worst, 0.1);  // a bound, not a formality
}

TEST(UnitSlices, slicesHoldRowsOfAnyRange) {
  auto a = filled(1, 2, 0x1p1000), b = filled(2, 1, -0x1p-1000);
  a(0, 1) = 0x1.8p-1070;
  b(1, 0) = 0x1.0000000000003p1023;
  const ExactOracle oracle({.a = a.view(), .b = b.view()});
  // 2072 bits, from 2^1000 to 2^-1071, need 296 slices.
  const auto enough = multiply(int8, {7, 296, SliceProducts::all}, a.view(), b.view());
  EXPECT_TRUE(enough.exact_slices);
  EXPECT_EQ(enough.c(0, 0), oracle.rounded(0, 0));
  const auto fewer = multiply(int8, {7, 295, SliceProducts::all}, a.view(), b.view());
  EXPECT_FALSE(fewer.exact_slices);
  EXPECT_EQ(fewer.c(0, 0), -1);  // the small element lies below 2^(1001 - 2065)
}

TEST(UnitSlices, refusesWhatItCannotMean) {
  const Matrix<double> a(2, 3), b(3, 2);
  const auto run = [&](const UnitSlices& slicing, MatrixView<const double> x) { (void)multiply(int4, slicing, x, b.view()); };
  EXPECT_NO_THROW(run({}, a.view()));
  EXPECT_THROW(run({}, b.view()), std::invalid_argument);
  EXPECT_THROW(run({.bits = 0}, a.view()), std::invalid_argument);
  EXPECT_THROW(run({.bits = 21}, a.view()), std::invalid_argument);
  EXPECT_THROW(run({.slices = 0}, a.view()), std::invalid_argument);
  EXPECT_THROW(run({.bits = 20, .slices = 201}, a.view()), std::invalid_argument);
  for (const double x : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(run({}, filled(2, 3, x).view()), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::models::models_unit_slices_test
