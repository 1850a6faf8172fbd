// SPDX-License-Identifier: BSD-3-Clause
// Complex products in three real products of slices instead of four (docs/adr/0012): what it takes, and what it costs.

#include <gtest/gtest.h>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound::complex_forms_test {
namespace {

/// The largest sum of two digits of an encoding.
int largest_sum(const Encoding& encoding) { return 2 * encoding.digit_magnitude(); }

/// INT8 holds sums of 6-bit digits; those of 7 bits pass it by one, and are reached; those of 8 bits take 9.
TEST(ComplexForms, WhichSumsOfDigitsInt8Holds) {
  EXPECT_LE(largest_sum(Encoding::nearest(6)), 127);
  EXPECT_EQ(largest_sum(Encoding::nearest(7)), 128);
  EXPECT_EQ(largest_sum(Encoding::balanced()), 256);
  Matrix<double> one(1, 2);
  one(0, 0) = one(0, 1) = 1;  // a power of two is the largest digit of nearest slices
  const auto slices = CpuEngine({.threads = 1}).slice(one, Side::rows_of_a, {Encoding::nearest(7), 1});
  EXPECT_EQ(slices.digit(0, 1, 0) + slices.digit(0, 1, 1), 128);
}

/// Products of slices that hold 53 bits under the usual cut. What fits INT8 costs more than four products; what takes one more
/// bit costs 4 % less, with sums of digits to be made, a third set of slices to be kept and another type for them.
TEST(ComplexForms, CountsOfProducts) {
  const auto products = [](const char* plan) { return parse_plan(plan).products(); };
  EXPECT_EQ(4 * products("balanced:7x7:cut=8:exact"), 112);
  EXPECT_EQ(3 * products("nearest7:8x8:cut=9:exact"), 108);
  EXPECT_EQ(3 * products("nearest6:9x9:cut=10:exact"), 135);
}

}  // namespace
}  // namespace ozbound::complex_forms_test
