// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "bounds/published/entry_errors.hpp"
#include "ozbound/bounds/published/selector.hpp"
#include "ozbound/bounds/truncation_bound.hpp"

// The entries of docs/errata.md about choosing slice counts.

namespace ozbound::errata_selectors_test {
namespace {

using test::Exact;
using Vector = std::vector<double>;

Exact dot(const Vector& x, const Vector& y) {
  Exact sum;
  for (std::size_t l = 0; l < x.size(); ++l) sum = sum + Exact(x[l]) * Exact(y[l]);
  return sum;
}

double norm(const Vector& x) {
  double largest = 0;
  for (const double element : x) largest = std::max(largest, std::abs(element));
  return largest;
}

/// ceil(log2 x) for x > 0.
int ceil_log2(double x) {
  int e = 0;
  return std::frexp(x, &e) == 0.5 ? e - 1 : e;
}

// 8. Mukunoki's Algorithm 3.

/// Algorithm 1 of Mukunoki, Ozaki, Ogita and Imamura for FP16 units with FP32 accumulation. Slices keep their scales.
std::vector<Vector> split(Vector rest) {
  const int rho = static_cast<int>(std::ceil(53 - (24 - std::log2(static_cast<double>(rest.size()))) / 2));
  std::vector<Vector> slices;
  for (double top = norm(rest); top != 0; top = norm(rest)) {
    const double sigma = std::ldexp(1.0, rho + ceil_log2(top));
    slices.emplace_back();
    for (double& x : rest) {
      volatile double sum = x + sigma;
      slices.back().push_back(sum - sigma);
      x -= slices.back().back();
    }
  }
  return slices;
}

/// |slice d| times |y|; 0 if there is no slice d.
double estimate(const std::vector<Vector>& slices, std::size_t d, const Vector& y) {
  double sum = 0;
  for (std::size_t l = 0; d <= slices.size() && l < y.size(); ++l) sum += std::abs(slices[d - 1][l] * y[l]);
  return sum;
}

/// Algorithm 3 for one row and one column: the least d >= 2 with 2 sqrt(k) u |x||y| > (d + 1) |slice d of x||y|. With `both`,
/// the same must hold for y's slices.
std::size_t slices_by_algorithm_3(const Vector& x, const Vector& y, bool both) {
  const auto x_slices = split(x), y_slices = split(y);
  const double target = 2 * std::sqrt(static_cast<double>(x.size())) * 0x1p-53 * estimate({x}, 1, y);
  for (std::size_t d = 2;; ++d) {
    const double of_x = estimate(x_slices, d, y), of_y = both ? estimate(y_slices, d, x) : 0;
    if (target > static_cast<double>(d + 1) * std::max(of_x, of_y)) return d;
  }
}

/// The error of their fast mode (slices p + q <= d + 1), summed exactly, relative to |x||y|.
double fast_mode_error(const Vector& x, const Vector& y, std::size_t d) {
  const auto x_slices = split(x), y_slices = split(y);
  Exact sum;
  for (std::size_t p = 1; p <= std::min(d, x_slices.size()); ++p)
    for (std::size_t q = 1; q <= d + 1 - p && q <= y_slices.size(); ++q) sum = sum + dot(x_slices[p - 1], y_slices[q - 1]);
  Vector magnitudes_x, magnitudes_y;
  for (const double element : x) magnitudes_x.push_back(std::abs(element));
  for (const double element : y) magnitudes_y.push_back(std::abs(element));
  return test::quotient((dot(x, y) - sum).magnitude(), dot(magnitudes_x, magnitudes_y));
}

TEST(ErrataOfSelectors, E8_MukunokiAlgorithm3IgnoresTheSlicesOfB) {
  const Vector x{1, 0x1p-60}, y{1.0 / 3, 1.0 / 7};
  const double wanted = 2 * std::sqrt(2) * 0x1p-53;
  EXPECT_EQ(slices_by_algorithm_3(x, y, false), 2U);
  EXPECT_GT(fast_mode_error(x, y, 2), 1e-7);
  const auto right = slices_by_algorithm_3(x, y, true);
  EXPECT_GT(right, 2U);
  EXPECT_LT(fast_mode_error(x, y, right), wanted);
  EXPECT_EQ(slices_by_algorithm_3(y, x, true), right);  // exchanging the operands must not matter
}

// 10. Ootomo's T = 0.

/// The fewest slices that represent a number exactly.
int slices_without_loss(double x, Encoding encoding) {
  for (int s = 1;; ++s) {
    const SliceFacts facts(row_major(&x, 1, 1, 1), Side::rows_of_a, {encoding, s}, 1);
    if (facts.vectors[0].tails.back().zero()) return s;
  }
}

TEST(ErrataOfSelectors, E10_NoMantissaLossIsNoErrorFreeProduct) {
  const auto x = test::single(1 + 0x1p-5 - 0x1p-52);
  const auto encoding = Encoding::ozimmu(7);
  const int s = slices_without_loss(x(0, 0), encoding);
  EXPECT_EQ(s, 8);
  const SplitPlan triangle{{encoding, s}, {encoding, s}, s + 1, Accumulation::exact};
  const test::PlannedProduct product(x, x, triangle);
  const auto errors = product.errors(0, 0);
  EXPECT_NEAR(test::quotient(errors.truncation, errors.magnitudes) * 0x1p53, 12.96, 0.01);  // 0 according to "no mantissa loss"
  EXPECT_LE(errors.truncation, Exact(truncation_a_priori_upper(triangle, 1)));
  auto full = triangle;
  full.cut = 2 * s;  // multiplies without an error
  EXPECT_TRUE(test::PlannedProduct(x, x, full).errors(0, 0).truncation.is_zero());
  EXPECT_EQ(truncation_a_posteriori_upper(product.inputs.rows, product.inputs.columns, full).upper(0, 0), 0);
}

// 11. ESC.

constexpr int minus_infinity = -10000;

/// floor(log2 |x|), and -infinity for 0.
int exponent_of(double x) { return x == 0 ? minus_infinity : std::ilogb(x); }

/// The coarse span over one block: max x + max y - max(max x + min y, min x + max y).
int coarse_span(const std::vector<int>& x, const std::vector<int>& y) {
  const auto [min_x, max_x] = std::minmax_element(x.begin(), x.end());
  const auto [min_y, max_y] = std::minmax_element(y.begin(), y.end());
  return *max_x + *max_y - std::max(*max_x + *min_y, *min_x + *max_y);
}

/// The exact span: max x + max y - max over l of x_l + y_l.
int exact_span(const std::vector<int>& x, const std::vector<int>& y) {
  int largest = 2 * minus_infinity;
  for (std::size_t l = 0; l < x.size(); ++l) largest = std::max(largest, x[l] + y[l]);
  return *std::max_element(x.begin(), x.end()) + *std::max_element(y.begin(), y.end()) - largest;
}

std::vector<int> exponents(const Vector& x) {
  std::vector<int> all;
  for (const double element : x) all.push_back(exponent_of(element));
  return all;
}

/// The exponents of the elements that are not zero.
std::vector<int> exponents_of_nonzero(const Vector& x) {
  auto all = exponents(x);
  all.erase(std::remove(all.begin(), all.end(), minus_infinity), all.end());
  return all;
}

Matrix<double> row_of(const Vector& x) {
  Matrix<double> a(1, static_cast<Index>(x.size()));
  std::copy(x.begin(), x.end(), a.data());
  return a;
}

Matrix<double> column_of(const Vector& y) {
  Matrix<double> b(static_cast<Index>(y.size()), 1);
  std::copy(y.begin(), y.end(), b.data());
  return b;
}

/// The library's span over blocks of the inner dimension.
int library_span(const Vector& x, const Vector& y, Index block) {
  return exponent_span(row_of(x), column_of(y), block, 1).value();
}

/// The error of x times y over |x||y|, with `slices` balanced digits each and every pair multiplied.
double balanced_error(const Vector& x, const Vector& y, int slices) {
  const auto a = row_of(x), b = column_of(y);
  const auto errors = test::PlannedProduct(a, b, SplitPlan::balanced(slices, slices, 2 * slices)).errors(0, 0);
  return test::quotient(errors.truncation, errors.magnitudes);
}

/// W = 53 + ESC + 1 bits.
int bits_for(int span) { return 53 + span + 1; }

/// The number of balanced digits that hold all W bits: W <= 8 s - 2.
int slices_for(int bits) { return (bits + 2 + 7) / 8; }

TEST(ErrataOfSelectors, E11_EscThatSkipsZerosIsUnsafe) {
  const Vector x{0, 0x1p-40}, y{0x1p30, 4.0 / 3};
  const int printed = coarse_span(exponents_of_nonzero(x), exponents_of_nonzero(y));
  const int right = coarse_span(exponents(x), exponents(y));
  EXPECT_EQ(printed, 0);
  EXPECT_EQ(right, 30);
  EXPECT_EQ(library_span(x, y, 2), right);
  EXPECT_EQ(library_span(x, y, 1), exact_span(exponents(x), exponents(y)));
  EXPECT_GT(balanced_error(x, y, slices_for(bits_for(printed))), 1e-9);
  EXPECT_LT(balanced_error(x, y, slices_for(bits_for(right))), 0x1p-53);
}

/// For W = 55 and 56 (ESC = 1 and 2), ceil(W / 8) = 7 digits miss the last bit of a number near the scale.
TEST(ErrataOfSelectors, E11_WBitsTakeMoreThanTheirEighth) {
  for (const auto& [span, top] : {std::pair{1, 0x1.FDp54}, std::pair{2, 0x1p55}}) {
    const int bits = bits_for(span), printed = (bits + 7) / 8;
    EXPECT_EQ(std::ilogb(top) + 1, bits);  // W bits from top down to 1
    EXPECT_EQ(printed, 7);
    EXPECT_EQ(slices_for(bits), 8);
    EXPECT_EQ(balanced_error({top, 1}, {0, 1}, printed), 1);  // gives 0 instead of 1
    EXPECT_EQ(balanced_error({top, 1}, {0, 1}, slices_for(bits)), 0);
  }
  for (int bits = 54; bits < 200; ++bits)
    EXPECT_EQ(slices_for(bits) - (bits + 7) / 8, bits % 8 == 7 || bits % 8 == 0 ? 1 : 0) << bits;  // ESC = 1, 2 mod 8
}

/// Clamping exponents at -1022 treats a subnormal number as one up to 2^52 times as large.
TEST(ErrataOfSelectors, E11_EscMustNotClampSubnormals) {
  const Vector x{0x1p-1074, 7 * 0x1p-1024}, y{1, -7 * 0x1p-59};
  auto clamped = exponents(x);
  for (int& e : clamped) e = std::max(e, -1022);
  const int printed = exact_span(clamped, exponents(y)), right = exact_span(exponents(x), exponents(y));
  EXPECT_EQ(printed, 0);
  EXPECT_EQ(right, 52);
  EXPECT_EQ(library_span(x, y, 1), right);
  EXPECT_GT(balanced_error(x, y, slices_for(bits_for(printed))), 0.01);
  EXPECT_LT(balanced_error(x, y, slices_for(bits_for(right))), 0x1p-53);
}

}  // namespace
}  // namespace ozbound::errata_selectors_test
