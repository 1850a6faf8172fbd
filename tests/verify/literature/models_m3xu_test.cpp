// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/m3xu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::models::m3xu::models_m3xu_test {
namespace {

using Complex = std::complex<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest_float = 0x1.fffffep127;
constexpr double all_ones = 0x1.fffffep0;  // 24 bits

/// A unit whose register has 48 bits, as printed, or more.
Unit with_register(int width, int headroom = 0) { return {.width = width, .headroom = headroom}; }

/// A unit that sums every product of FP32 and FP64 exactly, and a whole dot product in one instruction.
Unit exact_unit() { return {.multipliers = 1 << 20, .width = 5000, .headroom = 40}; }

Sum dot_of(Mode mode, const Unit& unit, const std::vector<double>& a, const std::vector<double>& b, double sum = 0) {
  return dot(mode, unit, a, b, sum);
}

double fp32_dot(const Unit& unit, const std::vector<double>& a, const std::vector<double>& b) {
  return dot_of(Mode::fp32, unit, a, b).value;
}

/// True if the register holds the running sum plus `terms` products x x, bit for bit.
bool holds(Mode mode, Unit unit, double x, int terms, double sum = 0) {
  unit.multipliers = terms * pieces(mode, unit);
  const std::vector<double> factors(static_cast<std::size_t>(terms), x);
  const auto result = dot(mode, unit, factors, factors, sum);
  return result.overflows == 0 && result.losses == 0;
}

/// The least width of a register that holds this sum, for any share of headroom.
int smallest_width(Mode mode, double x, int terms, double sum = 0) {
  for (int width = 1;; ++width)
    for (int headroom = 0; headroom < std::min(width, 8); ++headroom)
      if (holds(mode, with_register(width, headroom), x, terms, sum)) return width;
}

/// The largest significand of p bits.
double ones(int precision) { return 2 - std::ldexp(1.0, 1 - precision); }

TEST(M3xu, takesTheStepsAndElementsOfThePaper) {
  EXPECT_EQ(pieces(Mode::fp16, {}), 1);
  EXPECT_EQ(pieces(Mode::bf16, {}), 1);
  EXPECT_EQ(pieces(Mode::fp32, {}), 2);
  EXPECT_EQ(elements(Mode::fp16, {}), 8);
  EXPECT_EQ(elements(Mode::bf16, {}), 8);
  EXPECT_EQ(elements(Mode::fp32, {}), 4);
  EXPECT_EQ(elements(Mode::fp32, {}, true), 2);
}

TEST(M3xu, fp32NeedsMultipliersOf12Bits) {
  EXPECT_EQ(pieces(Mode::fp32, {.piece_bits = 11}), 3);
  EXPECT_EQ(pieces(Mode::fp32, {.piece_bits = 12}), 2);
}

TEST(M3xu, oneProductFitsARegisterOfTwicePrecision) {
  EXPECT_EQ(smallest_width(Mode::bf16, ones(8), 1), 16);
  EXPECT_EQ(smallest_width(Mode::fp16, ones(11), 1), 22);
  EXPECT_EQ(smallest_width(Mode::fp32, ones(24), 1), 48);
  EXPECT_EQ(smallest_width(Mode::fp64, ones(53), 1), 106);
}

TEST(M3xu, oneFp32ProductIsCorrectlyRoundedIn48Bits) {
  RandomStream random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto element = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(random.bits())); };
    const float a = element(), b = element();
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const double product = fp32_dot(with_register(48), {a}, {b});
    EXPECT_EQ(product, static_cast<double>(a * b)) << a << " " << b;
  }
}

TEST(M3xu, with47BitsOneProductIsNot) {
  const double a = 0x1.c79506p0, b = 0x1.dca856p0;  // half a unit and 2^-46 more
  EXPECT_EQ(fp32_dot(with_register(48), {a}, {b}), static_cast<double>(static_cast<float>(a) * static_cast<float>(b)));
  EXPECT_EQ(fp32_dot(with_register(47), {a}, {b}), 0x1.a82254p+1);
  EXPECT_EQ(fp32_dot(with_register(48), {a}, {b}), 0x1.a82256p+1);
  EXPECT_EQ(fp32_dot(with_register(48, 1), {a}, {b}), 0x1.a82254p+1);
}

TEST(M3xuErrata, theSecondStepShiftsBy12Not16) {
  Unit printed = with_register(60);
  printed.second_step_shift = 16;
  EXPECT_EQ(fp32_dot(with_register(60), {1 + 0x1p-23}, {1}), 1 + 0x1p-23);
  EXPECT_EQ(fp32_dot(printed, {1 + 0x1p-23}, {1}), 1 + 0x1p-19);
  EXPECT_EQ(fp32_dot(printed, {1}, {1 + 0x1p-23}), 1 + 0x1p-19);
  EXPECT_EQ(fp32_dot(printed, {1 + 0x1p-11}, {1 + 0x1p-11}), 1 + 0x1p-10 + 0x1p-22);  // only the upper halves
}

TEST(M3xuErrata, sumsNeedMoreThan48Bits) {
  EXPECT_EQ(smallest_width(Mode::fp32, all_ones, 2), 49);
  EXPECT_EQ(smallest_width(Mode::fp32, all_ones, 3), 50);
  EXPECT_EQ(smallest_width(Mode::fp32, all_ones, 4), 50);
  EXPECT_EQ(smallest_width(Mode::fp32, all_ones, 4, 0x1.fffffep1), 51);  // with a running sum as large as a product
}

TEST(M3xuErrata, in48BitsTwoMaximalProductsChangeTheirSign) {
  const std::vector<double> two{all_ones, all_ones};
  const auto sum = dot(Mode::fp32, with_register(48), two, two);
  EXPECT_EQ(sum.overflows, 1);
  EXPECT_EQ(sum.value, -0x1p-20);  // 2^-46 (2 (2^24 - 1)^2 - 2^49), rounded
  EXPECT_EQ(fp32_dot(with_register(49, 1), two, two), 0x1.fffffcp2);
}

TEST(M3xuErrata, bitsAreNotThoseOfFp32) {
  const float x = 1 + 0x1p-12F, y = 1 + 0x1p-11F;
  EXPECT_EQ(std::fma(-y, 1.0F, std::fma(x, x, 0.0F)), 0);
  const std::vector<double> a{x, -y}, b{x, 1};
  EXPECT_EQ(fp32_dot(with_register(50, 2), a, b), 0x1p-24);
  EXPECT_EQ(fp32_dot(exact_unit(), a, b), 0x1p-24);
  Unit one_by_one = with_register(50, 2);
  one_by_one.multipliers = 2;  // one element an instruction
  EXPECT_EQ(fp32_dot(one_by_one, a, b), 0);
}

/// Multiplies and adds with one product an instruction, to compare with a fused multiply-add.
double fused(int width, int headroom, float a, float b, float c) {
  Unit unit = with_register(width, headroom);
  unit.multipliers = 2;
  return dot_of(Mode::fp32, unit, {a}, {b}, c).value;
}

TEST(M3xuErrata, bitsOfFp32TakeOneProductAnInstructionAnd278Bits) {
  RandomStream random(4);
  for (int i = 0; i < 4000; ++i) {
    const auto element = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(random.bits())); };
    const float a = element(), b = element();
    const float near = static_cast<float>(static_cast<double>(a) * static_cast<double>(b) * random.signed_unit());
    const float c = i % 2 == 0 ? element() : near;
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    EXPECT_EQ(fused(278, 1, a, b, c), static_cast<double>(std::fma(a, b, c))) << a << " " << b << " " << c;
  }
  const float a = 18631 * 0x1p51F, b = 1801 * 0x1p52F,
              tiny = -0x1p-149F;  // a b is the tie between the largest number and 2^128
  EXPECT_EQ(std::fma(a, b, tiny), std::numeric_limits<float>::max());
  EXPECT_EQ(fused(278, 1, a, b, tiny), largest_float);
  EXPECT_EQ(fused(277, 1, a, b, tiny), inf);
  EXPECT_EQ(fused(277, 0, a, b, tiny), largest_float);
  EXPECT_EQ(fused(277, 0, 1.5F, 1, 1.5F), -1);  // without headroom 3 wraps around
}

TEST(M3xu, twoFp32ElementsAreOneRoundingOnly) {
  // Rounded after each product, the second product is lost: a tie, then 1 again.
  const std::vector<double> a{1, 0x1p-24, 0x1p-24}, b{1, 1, 1};
  EXPECT_EQ(fp32_dot(with_register(50, 2), a, b), 1 + 0x1p-23);
  EXPECT_EQ(std::fma(0x1p-24F, 1.0F, 1.0F), 1);
}

TEST(M3xu, subnormalNumbersHaveNoHiddenBit) {
  for (const double x : {0x1p-149, 0x1p-130 + 0x1p-149, 0x1p-126 - 0x1p-149, 0x1p-126}) {
    EXPECT_EQ(fp32_dot(with_register(48), {x}, {1}), x);
    EXPECT_EQ(fp32_dot(with_register(48), {x, -x}, {0x1p127, 1}), std::ldexp(x, 127));
    EXPECT_EQ(fp32_dot(exact_unit(), {x, -1}, {0x1p127, std::ldexp(x, 127)}), 0);
  }
  EXPECT_EQ(fp32_dot(with_register(48), {0x1.8p-75}, {0x1p-75}), 0x1p-149);
  EXPECT_EQ(fp32_dot(with_register(48), {0x1p-75}, {0x1p-75}), 0);  // the tie
  EXPECT_FALSE(std::signbit(fp32_dot(with_register(48), {-0x1p-75}, {0x1p-75})));
}

TEST(M3xu, sumsOfWhateverFp32NumbersTake555Bits) {
  const auto exactly = [](const Unit& unit) {
    const auto sum =
        dot_of(Mode::fp32, unit, {largest_float, largest_float, 0x1p-149}, {largest_float, largest_float, 0x1p-149});
    return sum.overflows == 0 && sum.losses == 0;
  };
  EXPECT_TRUE(exactly(with_register(555, 1)));
  EXPECT_FALSE(exactly(with_register(554, 1)));
  EXPECT_FALSE(exactly(with_register(554, 0)));
}

TEST(M3xu, exponentFieldsOfZerosHideWhatIsSmall) {
  Unit unit = with_register(50, 2);
  EXPECT_EQ(fp32_dot(unit, {0, 0x1p-60}, {0x1p127, 1}), 0x1p-60);
  unit.alignment = Alignment::fields;
  EXPECT_EQ(fp32_dot(unit, {0, 0x1p-60}, {0x1p127, 1}), 0);
  unit.width = 65;  // the field of the first product counts as 2^3
  EXPECT_EQ(fp32_dot(unit, {0, 0x1p-60}, {0x1p127, 1}), 0x1p-60);
  unit.width = 64;
  EXPECT_EQ(fp32_dot(unit, {0, 0x1p-60}, {0x1p127, 1}), 0);
}

TEST(M3xu, exponentFieldsOfSubnormalNumbersCostMoreThanFp32) {
  // 2^-22 and three products just below the unit 2^-45 give 2.99 units in FP32's last place, where four roundings allow 2.
  Unit unit = with_register(48);
  const std::vector<double> a{0x1p-149, 0x1.ffp-46, 0x1.ffp-46, 0x1.ffp-46}, b{0x1p127, 1, 1, 1};
  EXPECT_EQ(fp32_dot(unit, a, b), 0x1.000006p-22);
  unit.alignment = Alignment::fields;
  EXPECT_EQ(fp32_dot(unit, a, b), 0x1p-22);
}

TEST(M3xu, doesNotOverflowWithinAnInstruction) {
  const std::vector<double> a{0x1p127, 0x1p127, 1}, b{2, -2, 3};
  EXPECT_EQ(fp32_dot(with_register(50, 2), a, b), 0);  // 3 lies below the register
  EXPECT_EQ(fp32_dot(exact_unit(), a, b), 3);
  Unit one_by_one = with_register(50, 2);
  one_by_one.multipliers = 2;
  EXPECT_EQ(fp32_dot(one_by_one, a, b), inf);  // like FP32
  EXPECT_EQ(std::fma(0x1p127F, -2.0F, std::fma(0x1p127F, 2.0F, 0.0F)), std::numeric_limits<float>::infinity());
}

TEST(M3xu, resultsOverflowWhereFp32Does) {
  Unit unit = with_register(51, 2);
  EXPECT_EQ(fp32_dot(unit, {largest_float}, {largest_float}), inf);
  EXPECT_EQ(fp32_dot(unit, {largest_float}, {-largest_float}), -inf);
  EXPECT_EQ(fp32_dot(unit, {largest_float, 0x1p103}, {1, 1}), inf);  // the tie
  EXPECT_EQ(fp32_dot(unit, {largest_float, 0x1.fffffep102}, {1, 1}), largest_float);
  unit.result = Rounding::toward_zero;
  EXPECT_EQ(fp32_dot(unit, {largest_float}, {-largest_float}), -largest_float);
}

TEST(M3xu, roundsAsAsked) {
  Unit unit = with_register(50, 2);
  EXPECT_EQ(fp32_dot(unit, {1, 0x1.8p-24}, {1, 1}), 1 + 0x1p-23);
  unit.result = Rounding::toward_zero;
  EXPECT_EQ(fp32_dot(unit, {-1, -0x1.8p-24}, {1, 1}), -1);
  unit = with_register(24);
  EXPECT_EQ(fp32_dot(unit, {1, 0x1.8p-24}, {1, 1}), 1);
  unit.aligned = Rounding::nearest_even;
  EXPECT_EQ(fp32_dot(unit, {1, 0x1.8p-24}, {1, 1}), 1 + 0x1p-23);
  EXPECT_EQ(fp32_dot(unit, {1, 0x1p-24}, {1, 1}), 1);
}

TEST(M3xu, fp16AndBf16AreUnchanged) {
  // FP16 needs 83 bits for any eight products, however far apart: from 2^-48 to 8 (2^16 - 2^5)^2.
  std::vector<double> factors(8, 0x1.ffcp15);
  factors.back() = 0x1p-24;
  const auto exactly = [&](int width) {
    const auto sum = dot(Mode::fp16, with_register(width, 3), factors, factors);
    return sum.overflows == 0 && sum.losses == 0;
  };
  EXPECT_TRUE(exactly(83));
  EXPECT_FALSE(exactly(82));
  // Pieces of 11 bits give the same numbers, as the twelfth bit of a buffer is 0.
  RandomStream random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> a, b;
    for (int l = 0; l < 24; ++l) {
      a.push_back(std::ldexp(static_cast<double>(random.integer(-2047, 2047)), static_cast<int>(random.integer(-24, 5))));
      b.push_back(std::ldexp(static_cast<double>(random.integer(-2047, 2047)), static_cast<int>(random.integer(-24, 5))));
    }
    Unit narrow = with_register(83, 3);
    narrow.piece_bits = 11;
    const auto sum = dot(Mode::fp16, with_register(83, 3), a, b);
    EXPECT_EQ(sum.value, dot(Mode::fp16, narrow, a, b).value);
    EXPECT_EQ(sum.losses + sum.overflows, 0);
  }
  EXPECT_EQ(dot_of(Mode::bf16, with_register(16), {0x1.22p0}, {0x1.e2p0}).value, 0x1.22p0 * 0x1.e2p0);
}

TEST(M3xu, fp64Takes25ProductsOf12Bits) {
  EXPECT_EQ(pieces(Mode::fp64, {}), 5);
  EXPECT_EQ(elements(Mode::fp64, {}), 1);
  RandomStream random(3);
  for (int i = 0; i < 500; ++i) {
    const double a = random.signed_unit(), b = random.signed_unit();
    EXPECT_EQ(dot_of(Mode::fp64, with_register(106), {a}, {b}).value, a * b);
  }
  EXPECT_EQ(dot_of(Mode::fp64, with_register(106), {0x1p-1074}, {0x1p1023}).value, 0x1p-51);
}

TEST(M3xuErrata, fp64InFourComponentsNeedsMultipliersOf27Bits) {
  EXPECT_EQ(pieces(Mode::fp64, {.piece_bits = 26}), 3);
  EXPECT_EQ(pieces(Mode::fp64, {.piece_bits = 27}), 2);
  const Unit wide{.piece_bits = 27, .width = 106};
  EXPECT_EQ(dot_of(Mode::fp64, wide, {0x1.a2862e6c3f339p0}, {0x1.cdcb477f10b09p0}).value,
            0x1.a2862e6c3f339p0 * 0x1.cdcb477f10b09p0);
}

TEST(M3xuErrata, anFp64RegisterDoesNotMakeFp64Products) {
  const double a = 0x1.a2862e6c3f339p0, b = 0x1.cdcb477f10b09p0;  // half a unit and 2^-104 more
  const auto product = [&](int width) { return dot_of(Mode::fp64, with_register(width), {a}, {b}).value; };
  EXPECT_EQ(product(106), a * b);
  EXPECT_LT(product(105), a * b);
  EXPECT_LT(product(53), product(105));
}

TEST(M3xu, complexProductsFlipTheSignOfImaginaryByImaginary) {
  const auto product = [](const Unit& unit, Complex a, Complex b) {
    const auto [real, imaginary] = dot(Mode::fp32, unit, std::vector{a}, std::vector{b});
    return Complex(real.value, imaginary.value);
  };
  EXPECT_EQ(product(with_register(49, 1), {3, 5}, {7, 11}), Complex(-34, 68));
  EXPECT_EQ(product(with_register(49, 1), {0, 1}, {0, 1}), Complex(-1, 0));
  const auto parts = [](int width, int headroom, Complex b) {
    const std::vector<Complex> x{{all_ones, all_ones}}, y{b};
    return dot(Mode::fp32, with_register(width, headroom), x, y);
  };
  EXPECT_EQ(parts(48, 0, {all_ones, all_ones}).real.overflows, 0);       // cancels
  EXPECT_EQ(parts(48, 0, {all_ones, all_ones}).imaginary.overflows, 1);  // two products take 49 bits
  EXPECT_EQ(parts(48, 0, {all_ones, -all_ones}).real.overflows, 1);
  EXPECT_EQ(parts(49, 1, {all_ones, all_ones}).imaginary.overflows + parts(49, 1, {all_ones, all_ones}).imaginary.losses, 0);
  EXPECT_EQ(parts(48, 1, {all_ones, all_ones}).imaginary.losses, 1);
}

TEST(M3xu, twoComplexElementsAreAnInstruction) {
  const auto real = [](const std::vector<Complex>& a, const std::vector<Complex>& b) {
    return dot(Mode::fp32, with_register(50, 2), a, b).real.value;
  };
  EXPECT_EQ(real({{1, 0x1p-24}, 0x1p-40}, {{1, -1}, 1}), 1 + 0x1p-23);
  EXPECT_EQ(real({{1, 0x1p-24}, 0, 0x1p-40}, {{1, -1}, 1, 1}), 1);  // the tie is rounded first
}

TEST(M3xu, countsALossFromBelowTheUnitOn) {
  EXPECT_EQ(dot_of(Mode::fp32, with_register(25), {1, 0x1p-24}, {1, 1}).losses, 0);
  EXPECT_EQ(dot_of(Mode::fp32, with_register(24), {1, 0x1p-24}, {1, 1}).losses, 1);
}

TEST(M3xu, specialValuesAreThoseOfTheTerms) {
  const Unit unit = with_register(50, 2);
  EXPECT_TRUE(std::isnan(fp32_dot(unit, {nan, 1}, {1, 1})));
  EXPECT_TRUE(std::isnan(fp32_dot(unit, {inf, 1}, {0, 1})));
  EXPECT_TRUE(std::isnan(fp32_dot(unit, {inf, inf}, {1, -1})));
  EXPECT_EQ(fp32_dot(unit, {inf, -largest_float}, {1, largest_float}), inf);
  EXPECT_EQ(fp32_dot(unit, {1, 1, 1, 1, 1, 1}, {-inf, 1, 1, 1, 1, largest_float}), -inf);
  EXPECT_EQ(dot(Mode::fp32, unit, std::vector<Complex>{{0, inf}}, std::vector<Complex>{{1, 1}}).real.value, -inf);
}

TEST(M3xu, refusesWhatItCannotMean) {
  const std::vector<double> one{1}, two{1, 1};
  EXPECT_THROW((void)dot(Mode::fp32, Unit{}, one, two), std::invalid_argument);
  EXPECT_THROW((void)dot(Mode::fp32, Unit{}, std::vector<Complex>(1), std::vector<Complex>(2)), std::invalid_argument);
  EXPECT_THROW((void)dot_of(Mode::fp32, {}, {1 + 0x1p-24}, {1}), std::invalid_argument);
  EXPECT_THROW((void)dot_of(Mode::fp32, {}, {0x1p128}, {1}), std::invalid_argument);
  EXPECT_THROW((void)dot_of(Mode::fp32, {}, {inf, 0x1p128}, {1, 1}), std::invalid_argument);
  EXPECT_THROW((void)dot_of(Mode::fp32, {}, {0x1p-150}, {1}), std::invalid_argument);
  EXPECT_THROW((void)dot_of(Mode::fp32, {}, {1}, {1}, 1 + 0x1p-24), std::invalid_argument);
  EXPECT_THROW((void)dot_of(Mode::fp16, {}, {0x1p16}, {1}), std::invalid_argument);
  EXPECT_THROW((void)dot_of(Mode::bf16, {}, {1 + 0x1p-8}, {1}), std::invalid_argument);
  for (const Unit& unit : {Unit{.piece_bits = 0}, Unit{.piece_bits = 28}, Unit{.multipliers = 0}, Unit{.width = 0},
                           Unit{.headroom = -1}, Unit{.width = 5, .headroom = 5}, Unit{.second_step_shift = 64}})
    EXPECT_THROW((void)pieces(Mode::fp32, unit), std::invalid_argument);
  const Matrix<double> a(2, 3);
  EXPECT_THROW((void)gemm(Mode::fp32, {}, a.view(), a.view()), std::invalid_argument);
  const Matrix<double> no_columns(3, 0);
  EXPECT_THROW((void)gemm(Mode::fp32, {.width = 0}, a.view(), no_columns.view()), std::invalid_argument);
  Matrix<double> odd(2, 3);
  odd(1, 2) = 1 + 0x1p-24;
  EXPECT_THROW((void)gemm(Mode::fp32, {}, odd.view(), no_columns.view()), std::invalid_argument);
  Matrix<Complex> odd_part(3, 1);
  odd_part(2, 0) = {0, 0x1p128};
  EXPECT_THROW((void)gemm(Mode::fp32, {}, Matrix<Complex>(0, 3).view(), odd_part.view()), std::invalid_argument);
  Unit roomy = with_register(60, 3);
  EXPECT_NO_THROW((void)error_bound_upper(Mode::fp32, roomy, 9));
  EXPECT_THROW((void)error_bound_upper(Mode::fp32, roomy, -1), std::invalid_argument);
  EXPECT_EQ(error_bound_upper(Mode::fp32, roomy, std::numeric_limits<Index>::max()).relative,
            std::numeric_limits<double>::infinity());
  EXPECT_THROW((void)error_bound_upper(Mode::fp32, with_register(std::numeric_limits<int>::max(), 2), 9),
               std::invalid_argument);
  EXPECT_THROW((void)error_bound_upper(Mode::fp32, with_register(60, 2), 9), std::invalid_argument);
  roomy.second_step_shift = 16;
  EXPECT_THROW((void)error_bound_upper(Mode::fp32, roomy, 9), std::invalid_argument);
}

/// The number format of a mode.
struct Numbers {
  Mode mode;
  int precision, least, largest;
};
constexpr Numbers all_numbers[] = {
    {Mode::fp16, 11, -14, 15}, {Mode::bf16, 8, -126, 127}, {Mode::fp32, 24, -126, 127}, {Mode::fp64, 53, -1022, 1023}};

/// x as a number of the mode: its exponent is reduced in the ratio of the ranges, then bits that do not fit are cut off.
double member(double x, const Numbers& numbers) {
  if (numbers.mode == Mode::fp64 || x == 0) return x;
  int exponent = 0;
  const double significand = std::frexp(x, &exponent);
  const int shrunk = static_cast<int>(std::floor(exponent * (numbers.largest + 1) / 1024.0));
  const int last = std::max(shrunk - numbers.precision, numbers.least - numbers.precision + 1);
  return std::ldexp(std::trunc(std::ldexp(significand, shrunk - last)), last);
}

Problem members(Recipe recipe, const Numbers& numbers) {
  auto problem = generate(recipe);
  for (auto* matrix : {&problem.a, &problem.b})
    for (Index i = 0; i < matrix->rows(); ++i)
      for (Index j = 0; j < matrix->cols(); ++j) (*matrix)(i, j) = member((*matrix)(i, j), numbers);
  return problem;
}

/// The worst error over the bound that judges every entry, for products that cannot overflow.
double worst_ratio(const Problem& problem, const Numbers& numbers, const Unit& unit, Matrix<double> c) {
  const ExactOracle oracle(problem);
  const auto format = numbers.mode == Mode::fp64 ? ResultFormat::of_double : ResultFormat::of_float;
  const auto [relative, underflow] = error_bound_upper(numbers.mode, unit, problem.a.cols());
  double worst = 0;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto entry = oracle.evaluate(i, j, c(i, j), format);
      if (!(entry.scale_upper < Magnitude::power_of_two(largest_exponent(format)))) continue;
      const auto bound = add_lower(multiply_lower(Magnitude::of(relative), entry.scale_lower), Magnitude::of(underflow));
      const auto ratio = divide_upper(entry.error_upper, bound);
      worst = std::max(worst, to_double_upper(ratio));
    }
  return worst;
}

TEST(M3xu, productsMeetTheirBoundOverTheFamilies) {
  double worst = 0;
  for (const auto& numbers : all_numbers)
    for (const auto family : all_families())
      for (const int width : {30, 60, 120}) {
        const auto problem = members({family, 4, 5, 21, 1.0, 7}, numbers);
        for (const auto& [aligned, alignment] : {std::pair{Rounding::toward_zero, Alignment::leading},
                                                 {Rounding::nearest_even, Alignment::leading},
                                                 {Rounding::toward_zero, Alignment::fields}}) {
          Unit unit = with_register(numbers.mode == Mode::fp64 ? 2 * width : width, 4);
          unit.aligned = aligned;
          unit.alignment = alignment;
          const auto product = gemm(numbers.mode, unit, problem.a.view(), problem.b.view());
          EXPECT_EQ(product.overflows, 0);
          const double ratio = worst_ratio(problem, numbers, unit, product.c);
          EXPECT_LE(ratio, 1) << generate_command(problem.recipe) << " mode " << static_cast<int>(numbers.mode) << " width "
                              << width;
          worst = std::max(worst, ratio);
        }
      }
  EXPECT_GT(worst, 0.1);  // a bound, not a formality
}

/// With alignment by fields, the bound counts losses beside a zero or a subnormal number: 50 bits lose 2^-60 beside 0 2^127.
/// From 160 bits on such a loss is below the smallest subnormal number.
TEST(M3xu, theBoundCountsWhatExponentFieldsHide) {
  const auto by_fields = [](int width) {
    Unit unit = with_register(width, 3);
    unit.alignment = Alignment::fields;
    return unit;
  };
  EXPECT_EQ(fp32_dot(by_fields(50), {0, 0x1p-60}, {0x1p127, 1}), 0);
  EXPECT_GE(error_bound_upper(Mode::fp32, by_fields(50), 2).underflow, 0x1p-60);
  EXPECT_LE(error_bound_upper(Mode::fp32, by_fields(159), 4).underflow, 0x1p-146);
  EXPECT_GT(error_bound_upper(Mode::fp32, by_fields(159), 4).underflow, 0x1p-147);
  EXPECT_LE(error_bound_upper(Mode::fp32, by_fields(160), 4).underflow, 0x1p-147);
  // 1.5 1.5 is 2.25, below 4, but it is aligned as if it could reach 8.
  EXPECT_EQ(error_bound_upper(Mode::fp32, by_fields(61), 9).relative,
            error_bound_upper(Mode::fp32, with_register(60, 3), 9).relative);
}

/// Section V-B claims "no additional error compared to conventional FP32", whose k roundings cost k u. With w bits below the
/// headroom, (M1) is below k u for every sum of two or more terms if 17 2^(1 - w) <= u, up to second order.
TEST(M3xu, theBoundIsNotAboveFp32sFrom33BitsOn) {
  const auto fp32 = [](Index k) { return static_cast<double>(k) * 0x1p-24; };
  const auto relative = [](int width, Index k) { return error_bound_upper(Mode::fp32, with_register(width, 3), k).relative; };
  for (Index k = 2; k <= 1 << 16; ++k) EXPECT_LE(relative(33, k), fp32(k)) << k;
  EXPECT_LE(relative(33, 1 << 22), fp32(1 << 22));
  EXPECT_GT(relative(32, 2), fp32(2));
}

TEST(M3xu, theBoundCountsWhatEveryTermLoses) {
  const Unit unit = with_register(24, 3);  // in units of 2^-20
  const auto sum = dot_of(Mode::fp32, unit, {1, 0x1.ffep-21, 0x1.ffep-21, 0x1.ffep-21}, {1, 1, 1, 1});
  EXPECT_EQ(sum.value, 1);
  EXPECT_GT(error_bound_upper(Mode::fp32, unit, 4).relative, 0x1.7fp-19);  // 3 units
}

TEST(M3xu, theBoundSeesARegisterThatIsTooNarrow) {
  const auto& numbers = all_numbers[2];
  const auto problem = members({Family::maximal_digits_positive, 4, 4, 8, 0, 7}, numbers);
  const auto product = gemm(Mode::fp32, with_register(48), problem.a.view(), problem.b.view());
  EXPECT_GT(product.overflows, 0);
  EXPECT_GT(worst_ratio(problem, numbers, with_register(48, 3), product.c), 1000);
}

TEST(M3xu, anExactRegisterRoundsCorrectlyOverTheFamilies) {
  for (const auto& numbers : all_numbers)
    for (const auto family : all_families()) {
      const auto problem = members({family, 3, 4, 15, 2.0, 5}, numbers);
      const auto product = gemm(numbers.mode, exact_unit(), problem.a.view(), problem.b.view());
      const ExactOracle oracle(problem);
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 4; ++j) {
          const double exact =
              numbers.mode == Mode::fp64 ? oracle.rounded(i, j) : static_cast<double>(oracle.rounded_float(i, j));
          EXPECT_EQ(product.c(i, j), exact) << generate_command(problem.recipe) << " " << i << " " << j;
        }
      EXPECT_EQ(product.losses + product.overflows, 0);
    }
}

/// A complex product is judged as the real product that it is: [Re -Im; Im Re] for each element of A, [Re; Im] for each of B.
TEST(M3xu, complexProductsAreJudgedAsTheRealOnesThatTheyAre) {
  const auto& numbers = all_numbers[2];
  for (const auto family : all_families()) {
    const Index m = 3, n = 2, k = 7;
    const auto parts = members({family, 2 * m, 2 * n, 2 * k, 1.0, 3}, numbers);
    Matrix<Complex> a(m, k), b(k, n);
    Problem real{parts.recipe, Matrix<double>(2 * m, 2 * k), Matrix<double>(2 * k, n)};
    for (Index l = 0; l < k; ++l) {
      for (Index i = 0; i < m; ++i) {
        a(i, l) = {parts.a(2 * i, l), parts.a(2 * i + 1, l)};
        real.a(2 * i, 2 * l) = real.a(2 * i + 1, 2 * l + 1) = a(i, l).real();
        real.a(2 * i, 2 * l + 1) = -a(i, l).imag();
        real.a(2 * i + 1, 2 * l) = a(i, l).imag();
      }
      for (Index j = 0; j < n; ++j) {
        b(l, j) = {parts.b(l, 2 * j), parts.b(l, 2 * j + 1)};
        real.b(2 * l, j) = b(l, j).real();
        real.b(2 * l + 1, j) = b(l, j).imag();
      }
    }
    const Unit unit = with_register(60, 3);
    const auto product = gemm(Mode::fp32, unit, a.view(), b.view());
    Matrix<double> c(2 * m, n);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        c(2 * i, j) = product.c(i, j).real();
        c(2 * i + 1, j) = product.c(i, j).imag();
      }
    EXPECT_LE(worst_ratio(real, numbers, unit, c), 1) << generate_command(parts.recipe);
  }
}

}  // namespace
}  // namespace ozbound::models::m3xu::models_m3xu_test
