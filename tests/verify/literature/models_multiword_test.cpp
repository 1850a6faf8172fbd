// SPDX-License-Identifier: BSD-3-Clause
#include "models_operands.hpp"

#include "ozbound/verify/literature/models/multiword.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ozbound::models::models_multiword_test {
namespace {

constexpr auto all = WordProducts::all;
constexpr auto reduced = WordProducts::reduced;

std::string describe(const Multiword& method) {
  return std::to_string(method.words) + " words of " + std::string(method.format.name) +
         (method.products == all ? ", all" : ", reduced") + ", unit of " + std::to_string(method.unit.terms) + " terms";
}

std::vector<Multiword> methods(const TensorCore& unit) {
  std::vector<Multiword> methods;
  for (const auto& format : {binary16_word, bfloat16_word})
    for (const int words : {1, 2, 3})
      for (const auto products : {all, reduced}) methods.push_back({format, words, products, unit});
  return methods;
}

enum class Which { printed, upper };

/// The largest error / bound of a product.
double ratio(const Multiword& method, const Binary32Operands& operands, Which which) {
  const auto c = multiply(method, operands.a.view(), operands.b.view());
  const auto limits = bounds(method, operands.a.view(), operands.b.view());
  return worst_ratio(c, operands, [&](Index i, Index j, const OracleEntry&) {
    return which == Which::printed ? limits.printed(i, j) : limits.upper(i, j);
  });
}

float multiply_scalars(const Multiword& method, double a, double b) {
  const auto operands = binary32_operands({a}, {b});
  return multiply(method, operands.a.view(), operands.b.view())(0, 0);
}

TEST(Multiword, WordsAreRoundedOneAfterTheOther) {
  Matrix<float> x(1, 1);
  x(0, 0) = 0x1.ffe7fep0F;
  const auto words = split_words(x.view(), binary16_word, 3);
  EXPECT_EQ(words[0](0, 0), 2);
  EXPECT_EQ(words[1](0, 0), -0x1.8p-12F);
  EXPECT_EQ(words[2](0, 0), -0x1p-23F);
}

TEST(Multiword, WhatIsLeftIsWithinTheBoundAndEachWordIsOne) {
  for (const auto family : all_families()) {
    const auto operands = binary32_operands(Recipe{family, 5, 5, 30, 1, 3});
    for (const auto& format : {binary16_word, bfloat16_word})
      for (const int count : {1, 2, 3}) {
        const auto words = split_words(operands.a.view(), format, count);
        const double u = std::pow(format.unit_roundoff(), count);
        for (Index t = 0; t < operands.a.rows() * operands.a.cols(); ++t) {
          double left = static_cast<double>(operands.a.data()[t]);
          const double limit = std::max(u * std::fabs(left), format.half_subnormal());
          for (const auto& word : words) {
            EXPECT_EQ(round_to(format, static_cast<double>(word.data()[t])), word.data()[t]);
            left -= static_cast<double>(word.data()[t]);
          }
          EXPECT_LE(std::fabs(left), limit) << name(family) << " " << format.name << " " << count;
        }
      }
  }
}

/// Enough words leave no rest: three words of bfloat16 hold all of a binary32 number.
TEST(Multiword, EnoughWordsLeaveNothing) {
  Matrix<float> x(1, 1);
  x(0, 0) = 0x1.fedcbap-40F;
  const auto words = split_words(x.view(), bfloat16_word, 3);
  EXPECT_EQ(static_cast<double>(words[0](0, 0)) + static_cast<double>(words[1](0, 0)) + static_cast<double>(words[2](0, 0)),
            0x1.fedcbap-40);
}

/// Reduced products omit the smallest one: a = b = 1 + 2^-11 has words 1 and 2^-11, and the last product is 2^-22.
TEST(Multiword, ReducedProductsLeaveOutTheLeast) {
  EXPECT_EQ(multiply_scalars({binary16_word, 2, all, {}}, 0x1.002p0, 0x1.002p0), 0x1.004004p0F);
  EXPECT_EQ(multiply_scalars({binary16_word, 2, reduced, {}}, 0x1.002p0, 0x1.002p0), 0x1.004p0F);
  EXPECT_EQ(multiply_scalars({binary16_word, 1, all, {}}, 0x1.002p0, 0x1.002p0), 1);
}

/// The least products are added first: for a = b = 11/8 + 2^-23, 2.75 units join 121/64 together; added one by one, 1.375 would
/// be rounded to 1 twice.
TEST(Multiword, LeastProductsAreAddedFirst) {
  const double a = 1.375 + 0x1p-23;
  EXPECT_EQ(multiply_scalars({binary16_word, 2, all, {}}, a, a), 1.890625F + 3 * 0x1p-23F);
}

/// The bound is (W1): for a = b = 1 + 2^-11, with words 1 and 2^-11, 2^-22 is left out.
TEST(Multiword, OurBoundIsItsFormula) {
  const auto operands = binary32_operands({0x1.002p0}, {0x1.002p0});
  const Multiword method{binary16_word, 2, reduced, TensorCore::truncating(4)};
  const double f = accumulation_factor_upper(method.unit, 1), g = accumulation_factor_upper(TensorCore::nearest(), 2);
  const double both = f + g + f * g, h = 0x1p-25, u2 = 0x1p-22, a = 0x1.002p0, omitted = 0x1p-22;
  const double expected = (2 * u2 + u2 * u2) * a * a + h * (1 + u2) * 2 * a + h * h + omitted + both * (a * a - omitted);
  const double upper = to_double_upper(bounds(method, operands.a.view(), operands.b.view()).upper(0, 0));
  EXPECT_GE(upper, expected * (1 - 0x1p-50));
  EXPECT_LE(upper, expected * (1 + 0x1p-46));
}

TEST(Multiword, ErrorsAreWithinOurBoundForEveryFamily) {
  for (const auto& unit : {TensorCore::nearest(), TensorCore::truncating(4), TensorCore::truncating(8, 1),
                           TensorCore{16, 26, Rounding::toward_zero, Rounding::nearest_even}})
    for (const auto family : all_families())
      for (const auto& [phi, k] : {std::pair{1.0, 33}, std::pair{0.25, 7}, std::pair{0.0, 1}}) {
        const auto operands = binary32_operands(Recipe{family, 3, 3, k, phi, 7});
        for (const auto& method : methods(unit))
          EXPECT_LE(ratio(method, operands, Which::upper), 1) << describe(method) << " " << name(family) << " " << k;
      }
}

/// Without underflow and with a unit that rounds to nearest, the printed bound (4) holds, and (5) even without its O. Words of
/// bfloat16 do not underflow in this test.
TEST(Multiword, PrintedBoundsHoldWithoutUnderflowToNearest) {
  for (const auto& unit :
       {TensorCore::nearest(), TensorCore{8, exact_alignment, Rounding::nearest_even, Rounding::nearest_even}})
    for (const auto family : all_families())
      for (const Index k : {1, 2, 33}) {
        const auto operands = binary32_operands(Recipe{family, 3, 3, k, 0.25, 11});
        for (const auto products : {all, reduced})
          for (const int words : {1, 2, 3}) {
            const Multiword method{bfloat16_word, words, products, unit};
            EXPECT_LE(ratio(method, operands, Which::printed), 1) << describe(method) << " " << name(family) << " " << k;
          }
      }
}

/// docs/errata.md, 17: (4) ignores words that underflow. 2^-25 is half the smallest subnormal of binary16, so the second word
/// is 0.
TEST(ErrataOfModels, Bound4LeavesOutWordsThatUnderflow) {
  const auto fails = [](double leading, WordProducts products, double by) {
    const auto operands = binary32_operands({leading + 0x1p-25}, {1});
    const Multiword method{binary16_word, 2, products, TensorCore::nearest()};
    EXPECT_EQ(multiply(method, operands.a.view(), operands.b.view())(0, 0), static_cast<float>(leading));
    EXPECT_GT(ratio(method, operands, Which::printed), by);
    EXPECT_LE(ratio(method, operands, Which::upper), 1);
  };
  fails(0x1p-5, all, 1.33);                                      // (4)
  fails(0x1p-6, reduced, 1.99);                                  // (5)
  const auto held = binary32_operands({0x1p-4 + 0x1p-24}, {1});  // twice as large: nothing is lost
  EXPECT_EQ(ratio({binary16_word, 2, all, TensorCore::nearest()}, held, Which::printed), 0);
}

/// docs/errata.md, 18: (4) fails if the unit truncates. Every product after the first is cut off completely, nearly 2 u_high
/// each.
TEST(ErrataOfModels, Bound4IsForRoundingToNearest) {
  const auto operands_of = [](std::size_t k) {
    std::vector<double> row(k, 0x1.ffcp-24 * 0x1p12), column(k, 0x1p-12);
    row[0] = column[0] = 1;
    return binary32_operands(row, column);
  };
  const auto method = [](const TensorCore& unit) { return Multiword{binary16_word, 2, all, unit}; };
  const auto truncating = method(TensorCore::truncating(4));
  EXPECT_LE(ratio(truncating, operands_of(13), Which::printed), 1);
  EXPECT_GT(ratio(truncating, operands_of(14), Which::printed), 1);
  EXPECT_GT(ratio(truncating, operands_of(1000), Which::printed), 1.96);
  EXPECT_LE(ratio(truncating, operands_of(1000), Which::upper), 1);
  EXPECT_LE(ratio(method(TensorCore::nearest()), operands_of(1000), Which::printed), 1);
}

TEST(Multiword, RefusesWhatIsNone) {
  const auto operands = binary32_operands({65520}, {1});
  EXPECT_THROW(split_words(operands.a.view(), binary16_word, 2), std::invalid_argument);
  EXPECT_NO_THROW(split_words(operands.a.view(), bfloat16_word, 2));
  EXPECT_THROW(split_words(operands.a.view(), bfloat16_word, 0), std::invalid_argument);
  EXPECT_THROW(split_words(operands.a.view(), bfloat16_word, 5), std::invalid_argument);
  auto special = operands.b;
  special(0, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(split_words(special.view(), bfloat16_word, 2), std::invalid_argument);
  const Matrix<float> wide(1, 2);
  EXPECT_THROW(multiply({}, wide.view(), operands.b.view()), std::invalid_argument);
  EXPECT_THROW(bounds({}, wide.view(), operands.b.view()), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::models::models_multiword_test
