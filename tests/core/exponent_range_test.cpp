// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/exponent_range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/verify/number_classes.hpp"

// The least and largest exponents found in one sweep equal those found element by element.

namespace ozbound::exponent_range_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<double> edges{0,       -0.0, 0x1p-1074,  -0x1p-1074, 0x0.fffffffffffffp-1022, 0x1p-1022, -1, 0x1p1023,
                                0x1.8p0, -2,   0x1.fp-600, 1e300};

double element(sampling::RandomBits& random) {
  if (random.once_in(3)) return edges[random() % edges.size()];
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random()) >> 10), static_cast<int>(random() % 1900) - 1100);
}

TEST(Magnitudes, OfEveryKernelAreTheElements) {
  sampling::RandomBits random(1);
  for (const auto* kernel : kernels())
    for (Index count = 0; count < 70; ++count) {
      std::vector<double> x(static_cast<std::size_t>(count) + 1, inf);  // the last element is outside the view
      std::uint64_t least = UINT64_MAX, top = 0;
      for (Index l = 0; l < count; ++l) {
        auto& at = x[static_cast<std::size_t>(l)];
        at = random.once_in(40) ? (random.once_in(2) ? -inf : nan) : random.once_in(2) ? 0 : element(random);
        const auto magnitude = bits_of(at) & ~binary64.sign;
        if (magnitude != 0) least = std::min(least, magnitude);
        top = std::max(top, magnitude);
      }
      std::uint64_t found_least = 1, found_top = 1;
      kernel->functions->magnitudes(x.data(), count, &found_least, &found_top);
      ASSERT_EQ(found_least, least) << kernel->name << ' ' << count;
      ASSERT_EQ(found_top, top) << kernel->name << ' ' << count;
    }
}

TEST(ExponentRange, OfAMatrixIsThatOfItsElements) {
  sampling::RandomBits random(2);
  for (int round = 0; round < 400; ++round) {
    const auto rows = static_cast<Index>(random() % 9), cols = static_cast<Index>(random() % 40);
    const auto padding = static_cast<Index>(random() % 3);
    const bool by_rows = random.once_in(2), apart = random.once_in(8);
    const Index step = apart ? 2 : 1, ld = step * (by_rows ? cols : rows) + padding;
    std::vector<double> memory(static_cast<std::size_t>((by_rows ? rows : cols) * ld + 1), nan);  // also beside elements
    const MatrixView<double> x(memory.data(), rows, cols, by_rows ? ld : step, by_rows ? step : ld);
    ExponentRange range;
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) {
        const double value = x(i, j) = element(random);
        if (value == 0) continue;
        range.least = std::min(range.least, to_dyadic(value).top_exponent());
        range.top = std::max(range.top, to_dyadic(value).top_exponent());
      }
    const auto found = range_if_finite(MatrixView<const double>(x));
    const bool side_by_side = rows == 0 || cols == 0 || x.row_stride() == 1 || x.col_stride() == 1;
    ASSERT_EQ(found.has_value(), side_by_side);
    if (found) {
      ASSERT_TRUE(found->least == range.least && found->top == range.top) << rows << " x " << cols;
    }
    const auto of_host = HostMatrices(1).exponent_range(MatrixView<const double>(x));
    ASSERT_TRUE(of_host.least == range.least && of_host.top == range.top);
  }
}

TEST(ExponentRange, IsNotToldWhereAnElementIsNotFinite) {
  for (const double special : {inf, -inf, nan})
    for (Index place = 0; place < 3 * 70000; place += 69999) {
      Matrix<double> x(3, 70000);
      std::fill_n(x.data(), 3 * 70000, 1.0);
      ASSERT_TRUE(range_if_finite(x));
      x.data()[place] = special;
      EXPECT_FALSE(range_if_finite(x)) << place;
      EXPECT_EQ(HostMatrices(1).exponent_range(x).top, 0);
    }
}

TEST(ExponentRange, IsToldOfFloatsAndOfBothParts) {
  for (const bool special : {false, true}) {
    Matrix<float> x(3, 700);
    x(0, 5) = -0x1p-149F, x(1, 6) = 0x1.8p100F, x(2, 699) = special ? -HUGE_VALF : 1;
    EXPECT_EQ(range_if_finite(x).has_value(), !special);
    Matrix<std::complex<double>> z(3, 700);
    z(0, 5) = {0, -0x1p-1074}, z(1, 6) = {0x1.8p1000, 0}, z(2, 699) = {1, special ? nan : 0};
    EXPECT_EQ(range_if_finite(ComplexInputView(z)).has_value(), !special);
    EXPECT_FALSE(range_if_finite(ComplexInputView(MatrixView<const std::complex<double>>(z.data(), 2, 3, 2, 700))));
    if (special) continue;
    EXPECT_EQ(range_if_finite(x)->least, to_dyadic(0x1p-149).top_exponent());
    EXPECT_EQ(range_if_finite(x)->top, to_dyadic(0x1p100).top_exponent());
    for (const auto& view : {ComplexInputView(z), ComplexInputView(z).conjugate(), ComplexInputView(z.view().transposed())}) {
      EXPECT_EQ(range_if_finite(view)->least, to_dyadic(0x1p-1074).top_exponent());
      EXPECT_EQ(range_if_finite(view)->top, to_dyadic(0x1p1000).top_exponent());
    }
  }
}

}  // namespace
}  // namespace ozbound::exponent_range_test
