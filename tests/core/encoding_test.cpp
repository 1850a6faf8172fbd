// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/encoding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/exact.hpp"
#include "support/generators.hpp"

namespace ozbound::encoding_test {
namespace {

using Kind = Encoding::Kind;
using test::Exact;

/// The exponent e of the scale 2^e by docs/derivations/slicing.md (S1)-(S3), (S8), in exact arithmetic.
int scale_by_definition(const Encoding& encoding, double top) {
  if (top == 0) return 0;
  const Exact x(std::abs(top));
  const int e = x.top_exponent();
  switch (encoding.kind) {
    case Kind::truncated:
    case Kind::ozimmu:
    case Kind::unsigned8: return e + 1;
    case Kind::nearest:
    case Kind::nearest_adaptive: return x == test::power_of_two_exact(e) ? e : e + 1;
    case Kind::balanced: return x >= Exact{0x1FD, e - 8} ? e + 2 : e + 1;
  }
  return 0;
}

TEST(EncodingTest, HasItsRadixAndDigits) {
  EXPECT_EQ(Encoding{}, Encoding::balanced());
  EXPECT_EQ(Encoding::balanced().radix_bits(), 8);
  EXPECT_EQ(Encoding::balanced().digit_magnitude(), 128);
  EXPECT_EQ(Encoding::unsigned8().radix_bits(), 8);
  EXPECT_EQ(Encoding::unsigned8().digit_magnitude(), 255);
  for (int beta = 1; beta <= 7; ++beta) {
    EXPECT_EQ(Encoding::truncated(beta).radix_bits(), beta);
    EXPECT_EQ(Encoding::ozimmu(beta).radix_bits(), beta);
    EXPECT_EQ(Encoding::nearest(beta).radix_bits(), beta);
    EXPECT_EQ(Encoding::truncated(beta).digit_magnitude(), (1 << beta) - 1);
    EXPECT_EQ(Encoding::ozimmu(beta).digit_magnitude(), (1 << beta) - 1);
    EXPECT_EQ(Encoding::nearest(beta).digit_magnitude(), 1 << (beta - 1));
    EXPECT_EQ(Encoding::nearest_adaptive(beta).digit_magnitude(), 1 << (beta - 1));
  }
}

TEST(EncodingTest, WeightsAreThoseOfTheTable) {
  for (int p = 1; p <= max_slices; ++p) {
    EXPECT_EQ(Encoding::balanced().weight_exponent(p), 1 - 8 * p);
    EXPECT_EQ(Encoding::unsigned8().weight_exponent(p), 1 - 8 * p);
    for (int beta = 1; beta <= 7; ++beta) {
      EXPECT_EQ(Encoding::truncated(beta).weight_exponent(p), -beta * p);
      EXPECT_EQ(Encoding::ozimmu(beta).weight_exponent(p), 1 - beta * p);
      EXPECT_EQ(Encoding::nearest(beta).weight_exponent(p), 1 - beta * p);
    }
  }
}

/// A byte is read as a signed digit, except in all slices of unsigned8 after the first.
TEST(EncodingTest, ReadsDigitsFromBytes) {
  for (const auto& encoding : all_encodings())
    for (int p = 1; p <= max_slices; ++p)
      for (int byte = -128; byte <= 127; ++byte) {
        const bool as_unsigned = encoding == Encoding::unsigned8() && p >= 2;
        EXPECT_EQ(encoding.unsigned_digit(p), as_unsigned);
        EXPECT_EQ(encoding.digit(p, static_cast<std::int8_t>(byte)), as_unsigned && byte < 0 ? byte + 256 : byte);
      }
}

TEST(EncodingTest, RefusesDigitsThatDoNotFit) {
  for (const int beta : {-1, 0, 8, 9, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    EXPECT_THROW(Encoding::truncated(beta), std::invalid_argument) << beta;
    EXPECT_THROW(Encoding::ozimmu(beta), std::invalid_argument) << beta;
    EXPECT_THROW(Encoding::nearest(beta), std::invalid_argument) << beta;
    EXPECT_THROW(Encoding::nearest_adaptive(beta), std::invalid_argument) << beta;
  }
  try {
    Encoding::nearest(8);
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()), "beta must be 1 … 7: 8");
  }
}

TEST(EncodingTest, AllButTheAdaptiveOnesHaveACommonRatio) {
  std::size_t adaptive = 0;
  for (const auto& encoding : all_encodings()) adaptive += encoding.kind == Kind::nearest_adaptive ? 1 : 0;
  for (const auto& encoding : common_ratio_encodings()) EXPECT_TRUE(encoding.common_ratio());
  EXPECT_EQ(adaptive, 7u);
  EXPECT_EQ(common_ratio_encodings().size() + adaptive, all_encodings().size());
}

TEST(EncodingTest, ReadsWhatItPrints) {
  for (const auto& encoding : all_encodings()) EXPECT_EQ(parse_encoding(to_string(encoding)), encoding);
  EXPECT_EQ(to_string(Encoding::balanced()), "balanced");
  EXPECT_EQ(to_string(Encoding::truncated(7)), "truncated7");
  EXPECT_EQ(to_string(Encoding::ozimmu(7)), "ozimmu7");
  EXPECT_EQ(to_string(Encoding::nearest(1)), "nearest1");
  EXPECT_EQ(to_string(Encoding::unsigned8()), "unsigned8");
  EXPECT_EQ(to_string(Encoding::nearest_adaptive(7)), "nearest_adaptive7");
}

TEST(EncodingTest, RefusesEverythingElse) {
  for (const char* text :
       {"",           "balanced8",   "Balanced",    " balanced",   "balanced ", "truncated",        "truncated0",
        "truncated8", "truncated07", "truncated-1", "truncated7 ", "nearest",   "nearest10",        "nearest8",
        "nearest+7",  "ozimmu",      "ozimmu8",     "unsigned",    "unsigned7", "nearest_adaptive", "nearest_adaptive8",
        "7"})
    EXPECT_THROW(parse_encoding(text), std::invalid_argument) << text;
  EXPECT_THROW(parse_encoding(std::string_view("balanced\0", 9)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(to_string(Encoding{static_cast<Kind>(9), 7})), std::invalid_argument);
}

TEST(ScaleTest, OfNotableMaxima) {
  struct Case {
    double top;
    int truncated, nearest, balanced;
  };
  constexpr Case cases[] = {
      {0.0, 0, 0, 0},
      {1.0, 1, 0, 1},
      {0x1.0000000000001p0, 1, 1, 1},
      {0x1.fffffffffffffp-1, 0, 0, 1},
      {0x1.fcfffffffffffp0, 1, 1, 1},
      {0x1.fdp0, 1, 1, 2},
      {0x1.fd00000000001p0, 1, 1, 2},
      {0x1p-1074, -1073, -1074, -1073},
      {0x3p-1074, -1072, -1072, -1072},
      {0x1FDp-1074, -1065, -1065, -1064},
      {0x1FCp-1074, -1065, -1065, -1065},
      {0x0.fffffffffffffp-1022, -1022, -1022, -1021},
      {0x1p-1022, -1021, -1022, -1021},
      {0x1p1023, 1024, 1023, 1024},
      {std::numeric_limits<double>::max(), 1024, 1024, 1025},
  };
  for (const auto& expected : cases)
    for (const double top : {expected.top, -expected.top}) {
      EXPECT_EQ(Encoding::truncated(7).scale_exponent(to_dyadic(top)), expected.truncated) << std::hexfloat << top;
      EXPECT_EQ(Encoding::ozimmu(7).scale_exponent(to_dyadic(top)), expected.truncated) << std::hexfloat << top;
      EXPECT_EQ(Encoding::unsigned8().scale_exponent(to_dyadic(top)), expected.truncated) << std::hexfloat << top;
      EXPECT_EQ(Encoding::nearest(7).scale_exponent(to_dyadic(top)), expected.nearest) << std::hexfloat << top;
      EXPECT_EQ(Encoding::nearest_adaptive(7).scale_exponent(to_dyadic(top)), expected.nearest) << std::hexfloat << top;
      EXPECT_EQ(Encoding::balanced().scale_exponent(to_dyadic(top)), expected.balanced) << std::hexfloat << top;
    }
}

RC_GTEST_PROP(ScaleTest, IsTheDefinition, ()) {
  const double top = (*test::gen::number<double>()).value;
  for (const auto& encoding : all_encodings())
    RC_ASSERT(encoding.scale_exponent(to_dyadic(top)) == scale_by_definition(encoding, top));
}

TEST(ScaleTest, IsTheDefinitionForManyNumbers) {
  test::RandomBits random(3);
  for (int i = 0; i < 10000; ++i) {
    const double top = test::sample<double>(random);
    for (const auto& encoding : {Encoding::balanced(), Encoding::nearest(7), Encoding::truncated(7), Encoding::ozimmu(7)})
      ASSERT_EQ(encoding.scale_exponent(to_dyadic(top)), scale_by_definition(encoding, top)) << std::hexfloat << top;
    const auto narrow = test::sample<float>(random);
    for (const auto& encoding : {Encoding::balanced(), Encoding::nearest(7), Encoding::truncated(7), Encoding::ozimmu(7)})
      ASSERT_EQ(encoding.scale_exponent(to_dyadic(narrow)), scale_by_definition(encoding, narrow)) << std::hexfloat << narrow;
  }
}

}  // namespace
}  // namespace ozbound::encoding_test
