// SPDX-License-Identifier: BSD-3-Clause
#include "models_operands.hpp"

#include "ozbound/verify/literature/models/tensor_core.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <stdexcept>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/random_stream.hpp"

namespace ozbound::models::models_tensor_core_test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr auto toward_zero = Rounding::toward_zero;

float step(const TensorCore& unit, float accumulator, const std::vector<float>& a, const std::vector<float>& b) {
  return fused_step(unit, accumulator, a, b).value;
}

/// A random finite number of binary32, uniform over its bits.
float any_float(RandomStream& random) {
  while (true) {
    const float x = float_from_bits(random.bits() >> 32);
    if (std::isfinite(x)) return x;
  }
}

TEST(WordFormat, RoundsLikeBinary32) {
  RandomStream random(1);
  for (int t = 0; t < 20000; ++t) {
    const double x = static_cast<double>(any_float(random)) * (1 + random.normal() * 0x1p-22);
    EXPECT_EQ(round_to(binary32_word, x), static_cast<float>(x)) << std::hexfloat << x;
  }
}

TEST(WordFormat, TiesSubnormalsAndTheEndOfTheRange) {
  EXPECT_EQ(round_to(binary16_word, 0x1.002p0), 1);  // a tie
  EXPECT_EQ(round_to(binary16_word, 0x1.006p0), 0x1.008p0F);
  EXPECT_EQ(round_to(binary16_word, 0x1.00200001p0), 0x1.004p0F);
  EXPECT_EQ(round_to(binary16_word, -0x1.006p0, toward_zero), -0x1.004p0F);
  EXPECT_EQ(round_to(binary16_word, 0x1p-25), 0);
  EXPECT_EQ(round_to(binary16_word, 0x1.8p-25), 0x1p-24F);
  EXPECT_EQ(round_to(binary16_word, 0x1.8p-25, toward_zero), 0);
  EXPECT_EQ(round_to(binary16_word, 0x1p-1074), 0);
  EXPECT_EQ(round_to(binary16_word, 65519), 65504);
  EXPECT_EQ(round_to(binary16_word, -65520), -inf);
  EXPECT_EQ(round_to(binary16_word, -1e300, toward_zero), -65504);
  EXPECT_EQ(round_to(bfloat16_word, 0x1.01p0), 1);
  EXPECT_EQ(round_to(bfloat16_word, 0x1.03p0), 0x1.04p0F);
  EXPECT_EQ(round_to(bfloat16_word, 0x1.ffp127), inf);
  EXPECT_FALSE(std::signbit(round_to(bfloat16_word, -0.0)));
  EXPECT_THROW(round_to(binary16_word, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

/// One term with every bit kept, rounded to nearest, is fmaf for any operands.
TEST(TensorCore, OneTermToNearestIsAFusedMultiplyAdd) {
  RandomStream random(2);
  for (int t = 0; t < 20000; ++t) {
    const float a = any_float(random), b = any_float(random);
    const float c = t % 2 == 0 ? any_float(random) : -a * b * static_cast<float>(1 + random.normal());
    if (!std::isfinite(c)) continue;
    EXPECT_EQ(step(TensorCore::nearest(), c, {a}, {b}), std::fmaf(a, b, c)) << std::hexfloat << a << " " << b << " " << c;
  }
}

TEST(TensorCore, TermsAreCutBelowTheLargest) {
  const std::vector<float> small(4, 0x1p-24F), ones(4, 1);
  EXPECT_EQ(step(TensorCore::truncating(4), 1, small, ones), 1);
  const std::array<float, 1> half{0x1p127F}, two{2}, one{1};
  EXPECT_FALSE(fused_step(TensorCore::truncating(4), 0, half, two).exact) << "saturated";
  EXPECT_TRUE(fused_step(TensorCore::truncating(4), 0, half, one).exact);
  EXPECT_EQ(step(TensorCore::truncating(4, 1), 1, small, ones), 1 + 0x1p-22F);
  EXPECT_EQ(step(TensorCore::truncating(4, 1), 1, {0x1p-24F, 0x1p-24F, 0x1p-25F, 0x1p-25F}, ones), 1 + 0x1p-23F);
  EXPECT_EQ(step(TensorCore::truncating(4, 2), -1, {-0x1p-24F, -0x1p-25F, -0x1p-25F}, {1, 1, 1}), -1 - 0x1p-23F);
  // Negative terms are also cut towards zero, and the sum is cut once more.
  EXPECT_EQ(step(TensorCore::truncating(4), 1, {-0x1.8p-24F}, {1}), 1);
  EXPECT_EQ(step(TensorCore::truncating(4, 8), 1, {0x1.ffp-24F}, {1}), 1);
  EXPECT_EQ(step(TensorCore::truncating(4, 8), 1, {-0x1p-26F}, {1}), 1 - 0x1p-24F);
}

/// A product is aligned by its factors' exponents, as if two significands could not reach 2.
TEST(TensorCore, ProductsAreAlignedByTheirFactorsExponents) {
  EXPECT_EQ(step(TensorCore::truncating(4), 0, {1.5F, 0x1p-23F, 0x1p-23F}, {1.5F, 1, 1}), 2.25F + 0x1p-22F);
  EXPECT_EQ(step(TensorCore::truncating(4), 2.25F, {0x1p-23F, 0x1p-23F}, {1, 1}), 2.25F);
}

TEST(TensorCore, TermsAreRoundedToNearestWhereTheUnitDoes) {
  const TensorCore unit{4, 24, Rounding::nearest_even, Rounding::nearest_even};
  EXPECT_EQ(step(unit, 1, {0x1.8p-24F, 0x1.8p-24F}, {1, 1}), 1 + 0x1p-22F);
  EXPECT_EQ(step(unit, 1, {0x1p-24F, 0x1p-24F}, {1, 1}), 1);  // two ties
  const TensorCore mixed{4, 24, Rounding::toward_zero, Rounding::nearest_even};
  EXPECT_EQ(step(mixed, 1, {0x1.8p-24F, 0x1.8p-24F}, {1, 1}), 1);
  EXPECT_EQ(step(mixed, 1, {1, 0x1.8p-23F}, {1, 1}), 2);  // 2 + 2^-23, a tie
}

/// Steps follow one another: cancellation within a step loses nothing, cancellation between steps does.
TEST(TensorCore, StepsFollowOneAnother) {
  const std::vector<float> a{0x1p24F, 1, -0x1p24F, 0, 1}, b(5, 1);
  EXPECT_EQ(dot({4, exact_alignment, toward_zero, toward_zero}, a, b).value, 2);
  EXPECT_EQ(dot({4, 25, toward_zero, toward_zero}, a, b).value, 2);
  EXPECT_EQ(dot({4, 24, toward_zero, toward_zero}, a, b).value, 1);
  EXPECT_EQ(dot(TensorCore::nearest(), a, b).value, 1);
  EXPECT_EQ(dot(TensorCore::nearest(), {}, {}).value, 0);
}

TEST(TensorCore, TheEndsOfTheRange) {
  const float most = std::numeric_limits<float>::max(), least = 0x1p-149F;
  EXPECT_EQ(step(TensorCore::nearest(), most, {most}, {1}), inf);
  EXPECT_EQ(step(TensorCore::truncating(4), most, {most}, {most}), most);
  EXPECT_EQ(step(TensorCore::nearest(), -inf, {1}, {1}), -inf);
  EXPECT_EQ(step(TensorCore::nearest(), 0, {0x1p-75F}, {0x1.8p-75F}), least);
  EXPECT_EQ(step(TensorCore::truncating(4), 0, {0x1p-75F}, {0x1.8p-75F}), 0);
  EXPECT_EQ(step({4, exact_alignment, toward_zero, toward_zero}, most, {least, -most}, {-least, 1}), -0.0F);
  EXPECT_FALSE(std::signbit(step(TensorCore::nearest(), -1, {1}, {1})));
}

std::vector<TensorCore> units() {
  std::vector<TensorCore> all{TensorCore::nearest()};
  for (const int terms : {1, 4, 8, 16})
    for (const int width : {24, 25, 27, 60, exact_alignment})
      for (const auto alignment : {Rounding::nearest_even, toward_zero})
        for (const auto accumulator : {Rounding::nearest_even, toward_zero})
          all.push_back({terms, width, alignment, accumulator});
  return all;
}

double accumulation_ratio(const TensorCore& unit, const Binary32Operands& operands) {
  const auto k = operands.a.cols();
  const double factor = accumulation_factor_upper(unit, k);
  const auto underflow = multiply_upper(Magnitude::of((1 + factor) * static_cast<double>(k)), Magnitude::power_of_two(-149));
  return worst_ratio(gemm(unit, operands.a.view(), operands.b.view()), operands, [&](Index, Index, const OracleEntry& entry) {
    return add_upper(multiply_upper(Magnitude::of(factor), entry.scale_lower), underflow);
  });
}

TEST(TensorCore, ErrorsAreWithinTheBoundForEveryFamilyAndUnit) {
  for (const auto family : all_families()) {
    const auto operands = binary32_operands(Recipe{family, 3, 4, 37, 1, 5});
    for (const auto& unit : units())
      EXPECT_LE(accumulation_ratio(unit, operands), 1) << name(family) << ", " << unit.terms << " terms of " << unit.width;
  }
}

/// The bound is nearly attained if every term but the first is cut off and is almost one unit.
TEST(TensorCore, TheBoundIsNearlyAttained) {
  std::vector<double> row{1, 0, 0, 0}, column(400, 1);
  row.resize(400, 0x1.ffep-24);
  EXPECT_GE(accumulation_ratio(TensorCore::truncating(4), binary32_operands(row, column)), 0.6);
  std::vector<double> ties{1};
  ties.resize(400, 0x1p-24);
  EXPECT_GE(accumulation_ratio(TensorCore::nearest(), binary32_operands(ties, column)), 0.95);
}

TEST(TensorCore, RefusesWhatIsNone) {
  const Matrix<float> a(2, 3), b(3, 2);
  EXPECT_THROW(gemm({}, a.view(), a.view()), std::invalid_argument);
  EXPECT_THROW(gemm({.terms = 0}, a.view(), b.view()), std::invalid_argument);
  EXPECT_THROW(gemm({.terms = 1025}, a.view(), b.view()), std::invalid_argument);
  EXPECT_THROW(gemm({.width = 23}, a.view(), b.view()), std::invalid_argument);
  EXPECT_THROW(accumulation_factor_upper({}, -1), std::invalid_argument);
  EXPECT_EQ(accumulation_factor_upper({}, Index{1} << 40), std::numeric_limits<double>::infinity());
  EXPECT_EQ(accumulation_factor_upper({}, std::numeric_limits<Index>::max()), std::numeric_limits<double>::infinity());
  auto bad = a;
  bad(1, 1) = inf;
  EXPECT_THROW(gemm({}, bad.view(), b.view()), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::models::models_tensor_core_test
