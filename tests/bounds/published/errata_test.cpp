// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bounds/published/entry_errors.hpp"
#include "ozbound/bounds/published/abdelfattah_bound.hpp"
#include "ozbound/bounds/published/uchino_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/matrix_unit.hpp"
#include "ozbound/core/scheme.hpp"

// docs/errata.md, entry by entry: the printed statement, coded in this file, fails on the smallest example, and the library's
// correction holds.

namespace ozbound::errata_test {
namespace {

using properties::EntryErrors;
using test::Exact;
using test::PlannedProduct;
using test::single;

SplitPlan square(Encoding encoding, int slices, int cut, Accumulation accumulation = Accumulation::exact) {
  return {{encoding, slices}, {encoding, slices}, cut, accumulation};
}

SplitPlan triangle(Encoding encoding, int slices, Accumulation accumulation = Accumulation::exact) {
  return square(encoding, slices, slices + 1, accumulation);
}

/// The errors of a times b under a plan, relative to rho sigma.
EntryErrors errors(double a, double b, const SplitPlan& plan) {
  const auto x = single(a), y = single(b);
  return PlannedProduct(x, y, plan).errors(0, 0);
}

/// The ratio of error to the library's bound.
double library_ratio(const char* bound, double a, double b, const SplitPlan& plan) {
  const auto x = single(a), y = single(b);
  return PlannedProduct(x, y, plan).worst_ratio(find_bound(bound));
}

constexpr double all_ones = 2 - 0x1p-52;
constexpr double just_above_one = 1 + 0x1p-6 - 0x1p-52;  ///< the digits 64, 127, 127, …

/// The digits of one number.
std::vector<int> digits_of(double x, Slicing slicing) {
  const CpuEngine engine({.threads = 1});
  const auto sliced = engine.slice(row_major(&x, 1, 1, 1), Side::rows_of_a, slicing);
  std::vector<int> digits;
  for (int p = 1; p <= slicing.slices; ++p) digits.push_back(sliced.digit(0, p, 0));
  return digits;
}

// 1. Uchino (18) and the released ozIMMU.

/// Bound (18), relative to 4 g f.
double printed_18(int s, double k, int beta) { return std::ldexp((s + 1) * k, -beta * s); }

TEST(Errata, E1_Uchino18DoesNotHoldForReleasedDigits) {
  for (const auto& [slices, ratio] : {std::pair{1, 1.98}, std::pair{7, 3.46}}) {
    const auto plan = triangle(Encoding::ozimmu(7), slices);
    const auto error = errors(all_ones, all_ones, plan).truncation;  // rho sigma = 4 g f
    EXPECT_NEAR(test::quotient(error, Exact(printed_18(slices, 1, 7))), ratio, 0.01);
    EXPECT_LE(error, Exact(uchino_released_truncation_upper(plan, 1)));
    EXPECT_FALSE(uchino_truncation_covers(plan));
  }
}

// 2. Uchino (19), (20).

/// Bound (20), as a multiple of |A||B|.
double printed_20(int s, int beta) { return std::ldexp(s + 1.0, -beta * s); }

TEST(Errata, E2_Uchino20TakesKgfForFourTimesAsMuch) {
  const double a = just_above_one;  // |a| is nearly its ufp
  EXPECT_LT(3.8 * a * a, 4);        // (19) says that |A||B| is about 4 k g f = 4
  for (const auto& [slices, ratio] : {std::pair{1, 1.95}, std::pair{7, 3.34}}) {
    const auto entry = errors(a, a, triangle(Encoding::truncated(7), slices));
    EXPECT_NEAR(test::quotient(entry.truncation, Exact(printed_20(slices, 7)) * entry.magnitudes), ratio, 0.01);
    EXPECT_LE(entry.truncation, Exact(uchino_truncation_upper(triangle(Encoding::truncated(7), slices), 1)));
  }
}

// 3. Uchino (30), (21).

/// x rounded to the nearest number of the given bits.
Exact rounded_to_bits(const Exact& x, int bits) {
  if (x.is_zero()) return x;
  const int unit = x.top_exponent() - bits + 1;
  return {test::nearest_in_units(x, unit), unit};
}

/// The products of one a and one b under a plan, in accumulation order, relative to rho sigma.
std::vector<Exact> terms_of(double a, double b, const SplitPlan& plan, bool by_diagonals) {
  const auto x = digits_of(a, plan.a), y = digits_of(b, plan.b);
  std::vector<std::pair<int, int>> pairs;
  for (int p = 1; p <= plan.a.slices; ++p)
    for (int q = 1; q <= plan.last_b(p); ++q) pairs.emplace_back(p, q);
  if (by_diagonals)
    std::stable_sort(pairs.begin(), pairs.end(), [](auto s, auto t) { return s.first + s.second < t.first + t.second; });
  std::vector<Exact> terms;
  for (const auto& [p, q] : pairs)
    terms.emplace_back(x[static_cast<std::size_t>(p - 1)] * y[static_cast<std::size_t>(q - 1)], plan.weight_exponent(p + q));
  return terms;
}

/// |sum in a format of the given bits - exact sum| in units of u|ab|, u = 2^-bits.
double accumulation_error(const std::vector<Exact>& terms, double a, double b, const SplitPlan& plan, int bits) {
  Exact sum, computed;
  for (const auto& term : terms) {
    EXPECT_EQ(rounded_to_bits(term, bits), term);  // every product is a number of the format
    sum = sum + term;
    computed = rounded_to_bits(computed + term, bits);
  }
  const auto magnitudes = errors(a, b, plan).magnitudes;
  return test::quotient((computed - sum).magnitude(), magnitudes.times_power_of_two(-bits));
}

/// Bound (30), as a multiple of u|A||B|, with k'max at most the number of slices.
int printed_30(int s, int beta, Index k, int bits) {
  const int exact = std::min(uchino_exact_diagonals(beta, k, bits), s);
  return s * (s + 1) / 2 - exact * (exact + 1) / 2 - 1;
}

TEST(Errata, E3_Uchino30CountsOneRoundingTooFew) {
  const double a = 41.0 / 32, b = 59.0 / 32;
  const auto plan = triangle(Encoding::truncated(3), 2, Accumulation::per_product);
  const double error = accumulation_error(terms_of(a, b, plan, true), a, b, plan, 8);
  EXPECT_EQ(printed_30(2, 3, 1, 8), 1);
  EXPECT_NEAR(error, 1.69, 0.01);
  EXPECT_LE(error, uchino_rounded_additions(plan, 1, 8));
}

/// The number with these 7-bit truncated digits and scale 2.
double number_of(const std::vector<int>& digits) {
  double x = 0;
  for (std::size_t p = 0; p < digits.size(); ++p) x += std::ldexp(digits[p], 1 - 7 * (static_cast<int>(p) + 1));
  return x;
}

/// (30) counts one rounding too few: every product of the seventh diagonal is a tie that is rounded down, half a unit above an
/// even number of units.
TEST(Errata, E3_Uchino30CountsOneRoundingTooFewInBinary64) {
  const double a = number_of({65, 1, 1, 1, 2, 2, 2}), b = number_of({65, 1, 1, 2, 2, 2, 2});
  const auto plan = triangle(Encoding::truncated(7), 7, Accumulation::per_product);
  EXPECT_EQ(printed_30(7, 7, 1, 53), 6);
  const double by_diagonals = accumulation_error(terms_of(a, b, plan, true), a, b, plan, 53);
  EXPECT_NEAR(by_diagonals, 6.78, 0.01);
  EXPECT_LE(by_diagonals, 28 - 6 * 7 / 2);
  const auto entry = errors(a, b, plan);
  EXPECT_NEAR(test::quotient(entry.accumulation, entry.magnitudes) * 0x1p53, 6.78, 0.01);
  EXPECT_LE(library_ratio("uchino-refined-accumulation", a, b, plan), 1);
}

TEST(Errata, E3_Uchino30IsNegativeWhereEverySumIsExact) {
  const auto plan = triangle(Encoding::truncated(7), 1, Accumulation::per_product);
  EXPECT_EQ(printed_30(1, 7, 1, 53), -1);
  EXPECT_EQ(uchino_rounded_additions(plan, 1), 0);
  EXPECT_TRUE(errors(1, 1, plan).accumulation.is_zero());
}

/// sum |A_p| / |A| for one number.
double digit_magnitudes(double a, Slicing slicing) {
  const auto digits = digits_of(a, slicing);
  double sum = 0;
  for (int p = 1; p <= slicing.slices; ++p)
    sum += std::ldexp(std::abs(digits[static_cast<std::size_t>(p - 1)]), slicing.encoding.weight_exponent(p));
  return sum / std::ldexp(a, -slicing.encoding.scale_exponent(to_dyadic(a)));
}

TEST(Errata, E3_Uchino21IsNoEquality) {
  EXPECT_LT(digit_magnitudes(1 + 0x1p-52, {Encoding::truncated(7), 7}), 1);  // the residual is missing
  EXPECT_EQ(digit_magnitudes(1 + 0x1p-40, {Encoding::truncated(7), 7}), 1);
}

/// The digits of an element to nearest can add up to three times its magnitude: the row makes its first digit 1 although it is
/// hardly more than half a unit.
TEST(Errata, E3_DigitsToNearestAddUpToThreeTimesTheNumber) {
  const double row[] = {1.5, 0x1p-6 + 0x1p-40};  // rho = 2, the first unit 2^-5
  const CpuEngine engine({.threads = 1});
  const Slicing slicing{Encoding::nearest(7), 8};
  const auto sliced = engine.slice(row_major(row, 1, 2, 2), Side::rows_of_a, slicing);
  Exact sum;
  for (int p = 1; p <= 8; ++p)
    sum = sum + Exact{std::abs(sliced.digit(0, p, 1)), slicing.encoding.weight_exponent(p) + sliced.exponent(0)};
  const double ratio = test::quotient(sum, Exact(row[1]));
  EXPECT_GT(ratio, 2.999);
  EXPECT_LE(ratio, 3);
}

// 4. Abdelfattah's kappa bound.

/// The last display as printed, read with the parenthesis that closes before |A||B| opening before 1.
double printed_kappa(double kappa_a, double kappa_b, double u_a, double u_b, int terms, double magnitudes) {
  const double kappa = kappa_a * u_a + kappa_b * u_b + kappa_a * kappa_b * u_a * u_b;
  const double gamma = (terms - 1) * 0x1p-53 / (1 - (terms - 1) * 0x1p-53);
  return kappa + gamma * (1 + kappa) * magnitudes;
}

TEST(Errata, E4_KappaBoundMissesAParenthesis) {
  const double a = 0x1p10 * just_above_one;
  const auto plan = square(Encoding::truncated(7), 1, 2, Accumulation::per_product);
  const auto error = errors(a, a, plan).total.times_power_of_two(22);  // rho sigma = 2^22
  const double printed = printed_kappa(2, 2, 0x1p-7, 0x1p-7, 1, a * a);
  EXPECT_GT(test::quotient(error, Exact(printed)), 1e6);
  EXPECT_LE(library_ratio("abdelfattah", a, a, plan), 1);
}

/// The bound with its parenthesis, computed as if the plan multiplied every pair: the multiple of |A||B|.
double kappa_of_every_pair(const SplitPlan& plan) {
  auto full = plan;
  full.cut = plan.a.slices + plan.b.slices;
  return abdelfattah_upper(full, {2, 0}, {2, 0});
}

TEST(Errata, E4_KappaBoundIsForEveryPairAlone) {
  struct Example {
    Encoding encoding;
    int slices;
    double a, ratio;
  };
  for (const auto& [encoding, slices, a, ratio] :
       {Example{Encoding::truncated(7), 2, just_above_one, 1.94}, Example{Encoding::truncated(7), 4, just_above_one, 3.86},
        Example{Encoding::nearest(7), 3, 0x1.0407f0000e8p0, 2.9}}) {
    const auto plan = triangle(encoding, slices, Accumulation::per_product);
    const auto entry = errors(a, a, plan);
    EXPECT_NEAR(test::quotient(entry.total, Exact(kappa_of_every_pair(plan)) * entry.magnitudes), ratio, 0.02);
    EXPECT_FALSE(abdelfattah_covers(plan));
    EXPECT_LE(entry.truncation, Exact(truncation_a_priori_upper(plan, 1)));
    auto full = plan;
    full.cut = 2 * slices;
    EXPECT_LE(library_ratio("abdelfattah", a, a, full), 1);
  }
}

// 5. Abdelfattah's q and (6).

/// ceil((31 - log2 k) / 2), with the accumulator's 31 bits.
int printed_q(Index k) {
  for (int q = 0;; ++q)
    if (std::ldexp(static_cast<double>(k), 2 * q) >= 0x1p31) return q;
}

/// True if k D^2 <= 2^31 - 1 for digits of the given bits.
bool fits_int32(Index k, int bits) {
  const Index largest = (Index{1} << bits) - 1;
  return k * largest * largest <= 0x7fffffff;
}

TEST(Errata, E5_AbdelfattahQMustBeRoundedDown) {
  EXPECT_EQ(printed_q(1), 16);
  EXPECT_FALSE(fits_int32(1, printed_q(1)));  // 65535^2
  EXPECT_EQ((MatrixUnit{"INT16-INT32", 15, 31, false, 4}.bits_per_slice(1)), 15);
  EXPECT_TRUE(fits_int32(1, 15));
  const Index k = 133145;  // the first at which 7 bits overflow
  EXPECT_EQ(printed_q(k), 7);
  EXPECT_FALSE(fits_int32(k, 7));
  EXPECT_EQ(digit_bits(Encoding::truncated, k), 6);
  EXPECT_TRUE(fits_int32(k, 6));
}

/// The rest after (6) in a format of q bits: a = fl(fl(alpha + rest) - alpha) is subtracted from the rest, and alpha is
/// multiplied by `shrink` for the next slice.
Exact residual_of_6(double x, int slices, int q, double shrink) {
  Exact rest(x), alpha(2.0);
  for (int p = 1; p <= slices; ++p) {
    rest = rest - rounded_to_bits(rounded_to_bits(alpha + rest, q) - alpha, q);
    alpha = alpha * Exact(shrink);
  }
  return rest.magnitude();
}

TEST(Errata, E5_AlphaMustShrinkFromSliceToSlice) {
  const double x = 1 + 0x1p-8;
  const auto allowed = Exact(2 * 0x1p-14);  // (8): alpha u_A for two slices of 7 bits
  EXPECT_EQ(residual_of_6(x, 2, 7, 1), Exact(0x1p-8));
  EXPECT_GT(residual_of_6(x, 2, 7, 1), allowed);
  EXPECT_LT(residual_of_6(x, 2, 7, 0x1p-7), allowed);
  EXPECT_LT(errors(x, 1, square(Encoding::nearest(7), 2, 4)).truncation, Exact(0x1p-14));
}

// 6. Ootomo's bits of a slice.

/// Algorithm 4, line 1: floor((31 + log2 k) / 2), u = 2^-31 for INT32.
int printed_alpha(Index k) { return static_cast<int>(std::floor((31 + std::log2(static_cast<double>(k))) / 2)); }

TEST(Errata, E6_OotomoAlgorithm4HasTheSignOfLog2k) {
  for (const Index k : {Index{2}, Index{1} << 18}) EXPECT_FALSE(fits_int32(k, std::min(printed_alpha(k), k == 2 ? 99 : 7)));
  for (const Index k : {Index{2}, Index{1} << 18}) EXPECT_TRUE(fits_int32(k, int8_int32.bits_per_slice(k)));
}

TEST(Errata, E6_SevenBitsEndAt133144) {
  const Index k = 133145;  // "for k < 2^18"
  EXPECT_LT(k, 1 << 18);
  EXPECT_FALSE(fits_int32(k, 7));
  EXPECT_EQ(int8_int32.bits_per_slice(k), 6);
  EXPECT_EQ(int8_int32.bits_per_slice(k - 1), 7);
}

/// INT8 wastes 2 bits where the paper says "up to 1 bit", INT12 wastes 6 where it says "up to 5 bits", for inner dimensions
/// from 2^11 to 2^20.
TEST(Errata, E6_WastedBitsAreOneMoreThanSaid) {
  const Index k = 1 << 20;
  const auto printed_bps = [](const MatrixUnit& unit) { return std::min((31 - 20) / 2, unit.input_bits); };  // (4), (5)
  EXPECT_EQ(int8_int32.input_bits - printed_bps(int8_int32), 2);
  EXPECT_EQ(int8_int32.input_bits - int8_int32.bits_per_slice(k), 2);
  EXPECT_EQ(matrix_units[3].input_bits - printed_bps(matrix_units[3]), 6);
  EXPECT_EQ(matrix_units[3].input_bits - matrix_units[3].bits_per_slice(k), 6);
}

// 7. Uchino's digits to nearest.

constexpr double eighth = 1 + 0x1p-8;  ///< a unit of the first digit of 1 is 2^-5, of the second 2^-12

TEST(Errata, E7_UchinoAlgorithm8Line6HasTheSignOfAnExponent) {
  const double unit = 0x1p-5, second = eighth - 1;
  EXPECT_EQ(second / unit * 0x1p-7, 0x1p-10);  // as printed, the digit is no integer
  EXPECT_EQ(second / unit * 0x1p+7, 16);
  EXPECT_THAT(digits_of(eighth, {Encoding::nearest(7), 2}), testing::ElementsAre(32, 16));
}

/// Section 3.3: (rest + 2^(beta (s - 1)) sigma) - 2^(beta (s - 1)) sigma, sigma = 0.75 2^(53 - beta (s - 1)) unit.
double printed_slice(double rest, int s, double unit) {
  const double sigma = 0.75 * std::ldexp(unit, 53 - 7 * (s - 1));
  const double shifted = std::ldexp(sigma, 7 * (s - 1));
  volatile double sum = rest + shifted;
  return sum - shifted;
}

TEST(Errata, E7_UchinoSection33ShrinksNoUnit) {
  const double first = printed_slice(eighth, 1, 0x1p-5);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(printed_slice(eighth - first, 2, 0x1p-5), 0);  // the second slice is lost
  EXPECT_TRUE(errors(eighth, 1, triangle(Encoding::nearest(7), 2)).truncation.is_zero());
}

/// Algorithm 5 finds the unit of each slice anew, 2^ceil(log2 of the rest) 2^(1 - beta), but Algorithm 6 takes each to be the
/// first unit times 2^(-beta (s - 1)).
TEST(Errata, E7_UchinoAlgorithm5DoesNotGoWithAlgorithm6) {
  const double x = 1 + 0x1p-20, left = x - 1;
  const auto digits = digits_of(x, {Encoding::nearest_adaptive(7), 2});
  EXPECT_EQ(digits[0] * 0x1p-5 + digits[1] * (left * 0x1p-6), x);
  const double printed = digits[0] * 0x1p-5 + digits[1] * (0x1p-5 * 0x1p-7);
  EXPECT_EQ((printed - 1) / left, 0x1p14);
  const auto plan = triangle(Encoding::nearest(7), 2, Accumulation::per_diagonal);  // Algorithms 8 and 6
  EXPECT_GT(printed - x, 40 * (2 * uchino_truncation_upper(plan, 1)));              // rho sigma = 2
  EXPECT_LE(library_ratio("uchino-total", x, 1, plan), 1);
}

TEST(Errata, E7_The377OfUchinoSection31Is351) {
  EXPECT_EQ(0b101011111, 351);
  EXPECT_EQ((256 + 64) + (16 + 8) + (4 + 2 + 1), 351);
  EXPECT_EQ((256 + 64) + 32 - 1, 351);
}

// 13. Ootomo's scale at powers of two.

/// Algorithm 4, line 2: e = 2^ceil(log2 max). Line 7 of Algorithm 3 gives digit p the weight 2^(-p alpha) e.
double printed_first_digit(double x, double top, int alpha) {
  int e = 0;
  const double significand = std::frexp(top, &e);
  return std::floor(x / std::ldexp(1.0, (significand == 0.5 ? e - 1 : e) - alpha));
}

TEST(Errata, E13_OotomoScaleIsTooSmallAtPowersOfTwo) {
  EXPECT_EQ(printed_first_digit(1, 1, 7), 128);  // beyond 7 bits, and beyond INT8
  EXPECT_EQ(printed_first_digit(1.5, 1.5, 7), 96);
  EXPECT_EQ(std::ldexp(64, -7), 0.5);  // with e as the first bit, line 4, the digit of 1 is 64: line 7 halves it
  EXPECT_THAT(digits_of(1, {Encoding::truncated(7), 1}), testing::ElementsAre(64));
  EXPECT_THAT(digits_of(1.5, {Encoding::truncated(7), 1}), testing::ElementsAre(96));
}

// 14. Uchino's bounds for digits to nearest.

/// Bound (22), as a multiple of u|A||B|. The paper says that it also holds for digits to nearest.
int printed_22(int s) { return s * (s + 1) / 2 - 1; }

TEST(Errata, E14_Uchino22DoesNotHoldForDigitsToNearest) {
  const double a = 165.0 / 128, b = 197.0 / 128;
  const auto plan = triangle(Encoding::nearest(3), 2, Accumulation::per_product);
  const double error = accumulation_error(terms_of(a, b, plan, false), a, b, plan, 6);
  EXPECT_EQ(printed_22(2), 2);
  EXPECT_NEAR(error, 2.016, 0.001);
  EXPECT_LE(error, uchino_accumulation_upper(plan) * 0x1p53);
}

// 15. Digits to nearest are not always better.

/// Contradicts "In the worst case, the results of the splitting with bit mask and the nearest strategy are the same."
TEST(Errata, E15_DigitsToNearestMayBeWorseThanBits) {
  const double a = 1 + 0x1p-6;  // 65 units of the first truncated digit, which has a bit more
  EXPECT_TRUE(errors(a, 1, triangle(Encoding::truncated(7), 1)).truncation.is_zero());
  const auto plan = triangle(Encoding::nearest(7), 1);
  EXPECT_EQ(errors(a, 1, plan).truncation, Exact(0x1p-7));  // 2^-6 of rho sigma = 2
  EXPECT_LE(library_ratio("uchino-truncation", a, 1, plan), 1);
}

// 16. Uchino's bound as Abdelfattah cites it.

/// 4 (s + 1) k 2^(-qs) alpha beta^T + (s - 1) u |A||B|, alpha and beta the least powers of two above the elements, relative to
/// alpha beta.
Exact cited_bound(int s, int q, const Exact& magnitudes) {
  return Exact(std::ldexp(4 * (s + 1.0), -q * s)) + Exact((s - 1) * 0x1p-53) * magnitudes;
}

TEST(Errata, E16_UchinosBoundIsCitedForOneAdditionADiagonal) {
  const double a = 0x1.28204fc30a2dep+0, b = 0x1.ca78ef137efa4p+0;
  const auto plan = triangle(Encoding::truncated(7), 9, Accumulation::per_product);
  const auto entry = errors(a, b, plan);  // rho sigma = alpha beta
  EXPECT_NEAR(test::quotient(entry.total, cited_bound(9, 7, entry.magnitudes)), 1.39, 0.02);
  EXPECT_LE(library_ratio("uchino-total", a, b, plan), 1);
  auto by_diagonals = plan;
  by_diagonals.accumulation = Accumulation::per_diagonal;
  EXPECT_LE(library_ratio("uchino-groups-total", a, b, by_diagonals), 1);
}

}  // namespace
}  // namespace ozbound::errata_test
