// SPDX-License-Identifier: BSD-3-Clause
// The theory of matrix units of Ootomo, Ozaki, Yokota: Table 2, section 3.2 and Fig. 4.

#include "ozbound/core/matrix_unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ozbound/core/plan.hpp"

namespace ozbound::matrix_unit_test {
namespace {

using testing::ElementsAre;

constexpr auto fp16 = matrix_units[0], int4 = matrix_units[1], int8 = matrix_units[2], int12 = matrix_units[3];

/// Equations (4) and (5) as printed, with exact logarithms of powers of two, for comparison.
int printed_bits(const MatrixUnit& unit, Index k) {
  const double alpha = std::floor((unit.accumulator_bits - std::log2(static_cast<double>(k))) / 2);
  return std::min(static_cast<int>(alpha), unit.input_bits);
}

/// The largest possible sum of k products, in integers that do not overflow for the tested values.
Index largest_dot(int bits, Index k) { return k * ((Index{1} << bits) - 1) * ((Index{1} << bits) - 1); }

TEST(MatrixUnit, Table2) {
  std::vector<std::string> names;
  std::vector<double> bytes;
  for (const auto& unit : matrix_units) {
    names.emplace_back(unit.name);
    bytes.push_back(unit.bytes_per_element(1));
  }
  EXPECT_THAT(names, ElementsAre("FP16-FP32", "INT4-INT32", "INT8-INT32", "INT12-INT32"));
  EXPECT_THAT(bytes, ElementsAre(2, 0.5, 1, 1.5));
  EXPECT_EQ(int8.largest_sum(), 2147483647);
  EXPECT_EQ(fp16.largest_sum(), 16777216);
}

/// For every unit and every number of bits, the last k with that number of bits is exactly the last one whose sums are exact.
TEST(MatrixUnit, SlicesHoldTheBitsThatSumExactly) {
  for (const auto& unit : matrix_units)
    for (int bits = 1; bits <= unit.input_bits; ++bits) {
      const Index last = unit.largest_sum() / largest_dot(bits, 1);
      EXPECT_LE(largest_dot(bits, last), unit.largest_sum());
      EXPECT_GT(largest_dot(bits, last + 1), unit.largest_sum());
      EXPECT_GE(unit.bits_per_slice(last), bits) << unit.name << " " << last;
      EXPECT_EQ(unit.bits_per_slice(last + 1), bits - 1) << unit.name << " " << last + 1;
    }
}

TEST(MatrixUnit, LimitsOfTheInnerDimension) {
  EXPECT_EQ(int8.bits_per_slice(133144), 7);
  EXPECT_EQ(int8.bits_per_slice(133145), 6);
  EXPECT_EQ(int8.bits_per_slice(2147483647), 1);
  EXPECT_EQ(int8.bits_per_slice(2147483648), 0);
  EXPECT_EQ(int12.bits_per_slice(512), 11);
  EXPECT_EQ(int12.bits_per_slice(513), 10);
  EXPECT_EQ(fp16.bits_per_slice(4), 11);  // 4 * 2047^2 <= 2^24
  EXPECT_EQ(fp16.bits_per_slice(5), 10);
  EXPECT_EQ(int4.bits_per_slice(Index{1} << 20), 3);
  EXPECT_EQ(int8.exact_terms(127, 127), 133144);
  EXPECT_EQ(int8.exact_terms(128, 128), 131071);  // balanced digits: 2^17 would be one too many
}

/// Fig. 4, upper left: at powers of two the exact integers and the printed equation agree in its range, 2^11 … 2^20.
TEST(MatrixUnit, Figure4BitsPerSlice) {
  std::vector<std::vector<int>> bits(4);
  for (int log_k = 11; log_k <= 20; ++log_k)
    for (std::size_t unit = 0; unit < 4; ++unit) {
      bits[unit].push_back(matrix_units[unit].bits_per_slice(Index{1} << log_k));
      EXPECT_EQ(bits[unit].back(), printed_bits(matrix_units[unit], Index{1} << log_k));
    }
  EXPECT_THAT(bits[0], ElementsAre(6, 6, 5, 5, 4, 4, 3, 3, 2, 2));
  EXPECT_THAT(bits[1], ElementsAre(3, 3, 3, 3, 3, 3, 3, 3, 3, 3));
  EXPECT_THAT(bits[2], ElementsAre(7, 7, 7, 7, 7, 7, 7, 6, 6, 5));
  EXPECT_THAT(bits[3], ElementsAre(10, 9, 9, 8, 8, 7, 7, 6, 6, 5));
}

/// The other panels of Fig. 4 follow from those bits for a mantissa space of 70 bits.
TEST(MatrixUnit, Figure4SlicesMemoryAndProducts) {
  const auto at = [](const MatrixUnit& unit, int log_k) {
    const int slices = unit.slices(70, Index{1} << log_k);
    return std::vector<double>{static_cast<double>(slices), unit.bytes_per_element(slices),
                               static_cast<double>(triangle_products(slices))};
  };
  EXPECT_THAT(at(fp16, 11), ElementsAre(12, 24, 78));
  EXPECT_THAT(at(fp16, 20), ElementsAre(35, 70, 630));
  EXPECT_THAT(at(int4, 11), ElementsAre(24, 12, 300));
  EXPECT_THAT(at(int8, 11), ElementsAre(10, 10, 55));
  EXPECT_THAT(at(int8, 18), ElementsAre(12, 12, 78));
  EXPECT_THAT(at(int12, 11), ElementsAre(7, 10.5, 28));
  EXPECT_THAT(at(int12, 13), ElementsAre(8, 12, 36));  // "about 1.52 times" fewer than the 55 of INT8
  EXPECT_THAT(at(int12, 16), ElementsAre(10, 15, 55));
}

/// The printed equation is safe but loses a bit where k is slightly above an even power of two; the text beside it allows an
/// overflow.
TEST(MatrixUnit, ThePrintedEquationIsSafeAndItsTextIsNot) {
  for (const auto& unit : matrix_units)
    for (Index k = 1; k < 300000; k += 1 + k / 1000) EXPECT_LE(printed_bits(unit, k), unit.bits_per_slice(k)) << unit.name << k;
  EXPECT_EQ(printed_bits(int8, 133144), 6);
  EXPECT_EQ(int8.bits_per_slice(133144), 7);
  EXPECT_GT(largest_dot(7, (Index{1} << 18) - 1), int8.largest_sum());  // "a BPS that is equal to l_in for k < 2^18"
}

/// At the end of the target range the waste exceeds the printed "they are up to 1 bit in the target range" (INT8) and "up to 5
/// bits" (INT12), by the paper's own equation.
TEST(MatrixUnit, WasteAtTheEndOfTheTargetRange) {
  EXPECT_EQ(int8.input_bits - printed_bits(int8, Index{1} << 20), 2);
  EXPECT_EQ(int12.input_bits - printed_bits(int12, Index{1} << 20), 6);
  EXPECT_EQ(int8.input_bits - int8.bits_per_slice(Index{1} << 19), 1);
  EXPECT_EQ(int12.input_bits - int12.bits_per_slice(Index{1} << 19), 5);
}

TEST(MatrixUnit, PlansCountTheProductsOfATriangle) {
  for (int s = 1; s <= max_slices; ++s) EXPECT_EQ(SplitPlan::balanced(s, s, s + 1).products(), triangle_products(s));
}

TEST(MatrixUnit, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(static_cast<void>(int8.bits_per_slice(0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(int8.slices(0, 1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(int8.slices(53, 2147483648)), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::matrix_unit_test
