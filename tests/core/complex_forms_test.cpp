// SPDX-License-Identifier: BSD-3-Clause
// Complex products by three real products of slices instead of four (docs/adr/0012): the digits they need and their cost.

#include <gtest/gtest.h>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound::complex_forms_test {
namespace {

/// The largest sum of two digits of an encoding.
int largest_sum(const Encoding& encoding) { return 2 * encoding.digit_magnitude(); }

/// INT8 holds sums of two 6-bit digits. Sums of 7-bit digits exceed it by one, which is attained; those of 8 bits need 9 bits.
TEST(ComplexForms, WhichSumsOfDigitsInt8Holds) {
  EXPECT_LE(largest_sum(Encoding::nearest(6)), 127);
  EXPECT_EQ(largest_sum(Encoding::nearest(7)), 128);
  EXPECT_EQ(largest_sum(Encoding::balanced()), 256);
  Matrix<double> one(1, 2);
  one(0, 0) = one(0, 1) = 1;  // a power of two is the largest digit of nearest slices
  const auto slices = CpuEngine({.threads = 1}).slice(one, Side::rows_of_a, {Encoding::nearest(7), 1});
  EXPECT_EQ(slices.digit(0, 1, 0) + slices.digit(0, 1, 1), 128);
}

/// Products of slices that hold 53 bits under the usual cut: three products that fit INT8 cost more than four. With one bit
/// more they cost 4 % less, but need sums of digits, a third set of slices and another type for them.
TEST(ComplexForms, CountsOfProducts) {
  const auto products = [](const char* plan) { return parse_plan(plan).products(); };
  EXPECT_EQ(4 * products("balanced:7x7:cut=8:exact"), 112);
  EXPECT_EQ(3 * products("nearest7:8x8:cut=9:exact"), 108);
  EXPECT_EQ(3 * products("nearest6:9x9:cut=10:exact"), 135);
}

}  // namespace
}  // namespace ozbound::complex_forms_test
