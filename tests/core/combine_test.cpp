// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/combine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "ozbound/core/digits.hpp"
#include "support/exact.hpp"
#include "support/flush_to_zero.hpp"
#include "support/generators.hpp"
#include "support/wide.hpp"

namespace ozbound::combine_test {
namespace {

using test::cpp_int;
using test::exact;
using test::Exact;
using test::RandomBits;

constexpr Accumulation accumulations[] = {Accumulation::exact, Accumulation::per_product, Accumulation::per_diagonal};

SplitPlan sample_plan(Accumulation accumulation, RandomBits& random) {
  const auto encodings = common_ratio_encodings();
  const auto encoding =
      encodings[static_cast<std::size_t>(random.once_in(2) ? 0 : random.below(static_cast<int>(encodings.size())))];
  const int most = random.once_in(4) ? max_slices : 8;
  const int a = random.between(1, most);
  const int b = random.between(1, most);
  return {{encoding, a}, {encoding, b}, random.between(2, a + b), accumulation};
}

std::int64_t sample_sum(std::int64_t limit, RandomBits& random) {
  const bool negative = random.once_in(2);
  std::int64_t magnitude = limit;
  switch (random.below(5)) {
    case 0: magnitude = random.below(3); break;
    case 1: break;
    case 2: magnitude = static_cast<std::int64_t>(random() >> 33); break;
    case 3: magnitude = std::int64_t{1} << random.below(53); break;
    default: magnitude = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit)); break;
  }
  return negative ? -magnitude : magnitude;
}

std::vector<std::int64_t> sample_sums(int count, std::int64_t limit, RandomBits& random) {
  std::vector<std::int64_t> sums;
  for (int t = 0; t < count; ++t) sums.push_back(sample_sum(limit, random));
  return sums;
}

// ---- The carry chain.

Exact chain_by_definition(const std::vector<std::int64_t>& sums, int stride, int count, int radix_bits) {
  cpp_int total = 0;
  for (int t = 0; t < count; ++t) total = (total << radix_bits) + sums[static_cast<std::size_t>(t * stride)];
  return {total, 0};
}

TEST(ChainTest, IsThePositionalSum) {
  RandomBits random(1);
  const auto limit = max_group_sum(Accumulation::exact);
  EXPECT_EQ(limit, std::int64_t{1} << 62);
  for (int count = 1; count <= 2 * max_slices - 1; ++count)
    for (int radix_bits = 1; radix_bits <= 8; ++radix_bits)
      for (int i = 0; i < 12; ++i) {
        const int stride = random.between(1, 3);
        const auto sums = sample_sums(count * stride, limit, random);
        ASSERT_EQ(exact(chain_diagonals(sums.data(), stride, count, radix_bits)),
                  chain_by_definition(sums, stride, count, radix_bits))
            << count << " diagonals, radix 2^" << radix_bits;
      }
}

TEST(ChainTest, HoldsTheLargestSums) {
  const auto limit = max_group_sum(Accumulation::exact);
  for (int count = 1; count <= 2 * max_slices - 1; ++count)
    for (int radix_bits = 1; radix_bits <= 8; ++radix_bits)
      for (const auto& [first, rest] :
           {std::pair{limit, limit}, {-limit, -limit}, {limit, -limit}, {-limit, limit}, {0l, -1l}, {1l, -limit}}) {
        std::vector<std::int64_t> sums(static_cast<std::size_t>(count), rest);
        sums[0] = first;
        ASSERT_EQ(exact(chain_diagonals(sums.data(), 1, count, radix_bits)), chain_by_definition(sums, 1, count, radix_bits))
            << count << " diagonals, radix 2^" << radix_bits << ", " << first << " and " << rest;
      }
}

// ---- Layouts and published orders.

TEST(SumLayoutTest, IsThatOfThePlan) {
  RandomBits random(2);
  for (int i = 0; i < 300; ++i) {
    const auto plan = sample_plan(random.pick(accumulations), random);
    const Index k = Index{1} << random.below(20);
    const auto layout = sum_layout(plan, k);
    const auto groups = plan.groups(k);
    ASSERT_EQ(layout.accumulation, plan.accumulation);
    ASSERT_EQ(layout.radix_bits, plan.a.encoding.radix_bits());
    ASSERT_EQ(layout.count, static_cast<int>(groups.size()));
    for (int t = 0; t < layout.count; ++t)
      ASSERT_EQ(layout.weight_exponent[t], plan.weight_exponent(groups[static_cast<std::size_t>(t)].diagonal))
          << to_string(plan);
  }
  EXPECT_EQ(sum_layout({{Encoding::balanced(), 20}, {Encoding::balanced(), 20}, 40, Accumulation::per_product}, 1).count,
            SumLayout::max_groups);
}

TEST(PowerOfTwoTest, IsExact) {
  for (int e = -1022; e <= 1023; ++e) EXPECT_EQ(power_of_two(e), std::ldexp(1.0, e));
}

/// A term is rounded once, wherever it lies: exact, subnormal, half of the least number, far below.
TEST(ScaledTermTest, IsRoundedOnce) {
  RandomBits random(8);
  for (int i = 0; i < 20000; ++i) {
    const auto sum = sample_sum(max_group_sum(Accumulation::per_product), random);
    const int exponent = random.once_in(2) ? random.between(-1140, -1000) : random.between(-2300, 20);
    ASSERT_EQ(bits_of(scaled_term(sum, exponent)) & ~binary64.sign,
              bits_of(std::abs(test::rounded<double>(Exact{sum, exponent}))))
        << sum << ' ' << exponent;
    ASSERT_TRUE(scaled_term(sum, exponent) == 0 || (scaled_term(sum, exponent) < 0) == (sum < 0));
  }
  EXPECT_EQ(scaled_term(1, -1075), 0);
  EXPECT_EQ(scaled_term(3, -1075), 0x1p-1073);
  EXPECT_EQ(scaled_term((std::int64_t{1} << 53) - 1, -1075), 0x1p-1022);
  EXPECT_EQ(scaled_term(-1, -4480), 0);
}

double accumulate_by_definition(const std::vector<std::int64_t>& sums, int stride, const SumLayout& layout) {
  volatile double total = 0;
  for (int t = 0; t < layout.count; ++t)
    total = total + std::ldexp(static_cast<double>(sums[static_cast<std::size_t>(t * stride)]), layout.weight_exponent[t]);
  return total;
}

TEST(AccumulateTest, IsThePlainLoop) {
  RandomBits random(3);
  EXPECT_EQ(max_group_sum(Accumulation::per_product), std::int64_t{1} << 53);
  EXPECT_EQ(max_group_sum(Accumulation::per_diagonal), std::int64_t{1} << 53);
  int inexact = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto plan = sample_plan(random.once_in(2) ? Accumulation::per_product : Accumulation::per_diagonal, random);
    const auto layout = sum_layout(plan, 1);
    const int stride = random.between(1, 3);
    const auto sums = sample_sums(layout.count * stride, max_group_sum(plan.accumulation), random);
    const double total = accumulate_groups(sums.data(), stride, layout);
    ASSERT_EQ(bits_of(total), bits_of(accumulate_by_definition(sums, stride, layout))) << to_string(plan);
    Exact sum;
    for (int t = 0; t < layout.count; ++t)
      sum = sum + Exact{sums[static_cast<std::size_t>(t * stride)], layout.weight_exponent[t]};
    inexact += sum == Exact(total) ? 0 : 1;
  }
  EXPECT_GT(inexact, 500);
}

// ---- One entry.

struct EntryCase {
  SplitPlan plan;
  SumLayout layout;
  std::vector<std::int64_t> sums;
  int stride;
  int scale;
  double alpha;
  double beta;
  double c0;
  double error;

  [[nodiscard]] Rounded combined(Format format) const {
    return combine(sums.data(), stride, layout, scale, {to_dyadic(alpha), to_dyadic(beta), format}, to_dyadic(c0), error);
  }

  /// The exact value of alpha S + beta c0, and below it that of |alpha| * error.
  [[nodiscard]] Exact value() const {
    Exact sum;
    if (plan.accumulation == Accumulation::exact)
      for (int t = 0; t < layout.count; ++t)
        sum = sum + Exact{sums[static_cast<std::size_t>(t * stride)], layout.weight_exponent[t]};
    else
      sum = Exact(accumulate_by_definition(sums, stride, layout));
    return sum.times_power_of_two(scale) * Exact(alpha) + Exact(beta) * Exact(c0);
  }
  [[nodiscard]] Exact radius() const { return (Exact(alpha) * Exact(error)).magnitude().times_power_of_two(scale); }

  [[nodiscard]] std::string describe() const {
    std::ostringstream text;
    text << to_string(plan) << std::hexfloat << " alpha " << alpha << " beta " << beta << " c0 " << c0 << " error " << error
         << std::dec << " scale 2^" << scale << " sums";
    for (const auto sum : sums) text << ' ' << sum;
    return text.str();
  }
};

double sample_scalar(RandomBits& random) {
  static constexpr double usual[] = {1, 1, -1, 0, 2, 0.5, 3, 0x1p-10};
  return random.once_in(3) ? test::sample<double>(random) : random.pick(usual);
}

template <class T>
EntryCase sample_entry(Accumulation accumulation, RandomBits& random) {
  EntryCase entry{sample_plan(accumulation, random), {}, {}, random.between(1, 2), 0, 0, 0, 0, 0};
  entry.layout = sum_layout(entry.plan, 1);
  entry.sums = sample_sums(entry.layout.count * entry.stride, max_group_sum(accumulation), random);
  if (random.once_in(3)) {  // a midpoint of T, or next to one
    for (auto& sum : entry.sums) sum = random.once_in(10) ? random.between(-1, 1) : 0;
    const int bits =
        accumulation == Accumulation::exact ? test::Anatomy<T>::precision : std::min(52, test::Anatomy<T>::precision);
    entry.sums[0] =
        static_cast<std::int64_t>(2 * test::sample_significand(random.pick(test::significand_classes), bits, random) | 1);
  }
  static constexpr int targets[] = {0, -1074, -1022, 1023, -149, -126, 127};
  const int target = random.pick(targets);
  entry.scale = random.once_in(6) ? random.between(-2148, 2050)
                                  : target + random.between(-60, 20) - (entry.layout.weight_exponent[0] + 53);
  entry.alpha = sample_scalar(random);
  entry.beta = sample_scalar(random);
  entry.c0 = test::sample<double>(random);
  if (random.once_in(4)) {  // cancels the leading sum, or the whole sum
    entry.beta = 1;
    entry.alpha = 1;
    entry.c0 = -test::rounded<double>(Exact{entry.sums[0], entry.layout.weight_exponent[0] + entry.scale});
    if (!std::isfinite(entry.c0)) entry.c0 = 0;
  }
  const auto value = entry.value();
  const auto distance = test::distance_to_boundary<T>(value);
  const int top = distance.is_zero() ? -60 : distance.top_exponent();
  const int alpha_top = entry.alpha == 0 ? 0 : std::ilogb(entry.alpha);
  entry.error = test::assemble<double>(test::sample_significand(random.pick(test::significand_classes), 53, random),
                                       std::max(top - entry.scale - alpha_top + random.between(-6, 3), -1100), false);
  return entry;
}

template <class T>
void check_entries(Accumulation accumulation, int rounds, std::uint64_t seed) {
  const auto format = sizeof(T) == sizeof(double) ? binary64 : binary32;
  RandomBits random(seed);
  int decided = 0;
  int undecided = 0;
  int owed = 0;
  int subnormal = 0;
  int infinite = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto entry = sample_entry<T>(accumulation, random);
    const auto result = entry.combined(format);
    const auto value = entry.value();
    const auto expected = test::rounded<T>(value);
    ASSERT_EQ(result.bits, bits_of(expected)) << entry.describe();
    const auto radius = entry.radius();
    if (result.decided) {
      ASSERT_EQ(test::rounded_bits<T>(value - radius), result.bits) << entry.describe();
      ASSERT_EQ(test::rounded_bits<T>(value + radius), result.bits) << entry.describe();
    }
    // The grid has 512 bits below the larger term. If the value keeps some of them, an error of a quarter of the distance must
    // be decided.
    const auto distance = test::distance_to_boundary<T>(value);
    const auto larger =
        std::max((Exact(entry.beta) * Exact(entry.c0)).magnitude(), (value - Exact(entry.beta) * Exact(entry.c0)).magnitude());
    const bool resolved = radius.is_zero() || (!distance.is_zero() && distance.top_exponent() > larger.top_exponent() - 490);
    if (resolved && (radius.is_zero() || radius < distance.times_power_of_two(-2))) {
      ASSERT_TRUE(result.decided) << entry.describe();
      ++owed;
    }
    ++(result.decided ? decided : undecided);
    infinite += std::isinf(expected) ? 1 : 0;
    subnormal += expected != 0 && std::abs(expected) < std::numeric_limits<T>::min() ? 1 : 0;
  }
  for (const int count : {decided, undecided, owed, infinite, subnormal}) EXPECT_GT(count, rounds / 50);
}

TEST(CombineTest, ExactToBinary64) { check_entries<double>(Accumulation::exact, 20000, 4); }
TEST(CombineTest, ExactToBinary32) { check_entries<float>(Accumulation::exact, 20000, 5); }
TEST(CombineTest, PerProduct) {
  check_entries<double>(Accumulation::per_product, 6000, 6);
  check_entries<float>(Accumulation::per_product, 3000, 7);
}
TEST(CombineTest, PerDiagonal) {
  check_entries<double>(Accumulation::per_diagonal, 6000, 8);
  check_entries<float>(Accumulation::per_diagonal, 3000, 9);
}

/// One product of one digit each: sums = {sum}, weight 2^(2 - 16) * 2^scale.
Rounded one_sum(std::int64_t sum, int scale, double alpha, double beta, double c0, double error = 0, Format format = binary64) {
  const auto layout = sum_layout(SplitPlan::balanced(1, 1, 2), 1);
  return combine(&sum, 1, layout, scale + 14, {to_dyadic(alpha), to_dyadic(beta), format}, to_dyadic(c0), error);
}

TEST(CombineTest, RoundsOnceIntoTheSubnormals) {
  const auto sum = (std::int64_t{1} << 60) + (std::int64_t{1} << 52) + 1;
  EXPECT_EQ(one_sum(sum, -1127, 1, 0, 0).bits, bits_of(0x81p-1074));
  EXPECT_EQ(one_sum(-sum, -1127, 1, 0, 0).bits, bits_of(-0x81p-1074));
  EXPECT_EQ(one_sum(sum, -1127 + 64, 0x1p-64, 0, 0).bits, bits_of(0x81p-1074));  // alpha joins before the rounding
}

TEST(CombineTest, IntermediatesDoNotOverflow) {
  EXPECT_EQ(one_sum(1, 1024, 0x1p-10, 0, 0).bits, bits_of(0x1p1014));  // 2^512 * 2^512 with alpha = 2^-10
  EXPECT_EQ(one_sum(1, 2046, 0x1p-1074, 0, 0).bits, bits_of(0x1p972));
  EXPECT_EQ(one_sum(1, 1024, 1, -1, 0x1p1023).bits, bits_of(0x1p1023));
  EXPECT_EQ(one_sum(1, 0, 1, 0x1p1023, 0x1p1023).bits, binary64.inf);
  EXPECT_EQ(one_sum(-1, 1024, 1, 0, 0).bits, binary64.inf | binary64.sign);
  EXPECT_EQ(one_sum(1, 128, 1, 0, 0, 0, binary32).bits, binary32.inf);
  EXPECT_EQ(one_sum(1, 128, 0.5, 0, 0, 0, binary32).bits, bits_of(0x1p127f));
}

TEST(CombineTest, ZerosArePositive) {
  for (const double alpha : {0.0, -0.0, 1.0, -1.0})
    for (const double c0 : {0.0, -0.0})
      for (const double beta : {0.0, -0.0, 1.0, -1.0}) {
        EXPECT_EQ(one_sum(0, 0, alpha, beta, c0).bits, 0u);
        EXPECT_EQ(one_sum(-5, 0, alpha, 1, alpha * 5).bits, 0u);
      }
  EXPECT_EQ(one_sum(-1, -1080, 1, 0, 0).bits, binary64.sign);
}

TEST(CombineTest, BoundsThatSayNothing) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double error : {inf, nan, -inf}) {
    EXPECT_FALSE(one_sum(1, 0, 1, 0, 0, error).decided);
    EXPECT_TRUE(one_sum(1, 0, 0, 1, 1, error).decided);  // alpha = 0: S does not matter
    EXPECT_TRUE(one_sum(1, 0, -0.0, 1, 1, error).decided);
    EXPECT_EQ(one_sum(1, 0, 1, 0, 0, error).bits, bits_of(1.0));
    EXPECT_EQ(one_sum(1, 0, 0, 1, 3, error).bits, bits_of(3.0));
  }
  for (const double error : {0.0, -0.0}) EXPECT_TRUE(one_sum((std::int64_t{1} << 54) + 1, 0, 1, 0, 0, error).decided);
  EXPECT_TRUE(one_sum(1, 0, 0, 1, 1, 0x1p1000).decided);
  EXPECT_FALSE(one_sum(0, 0, 1, 0, 0, 0x1p-1074).decided);  // +0 or -0
}

/// Bits do not depend on the caller's flushing of subnormals, also in the bound and the scalars.
TEST(CombineTest, IgnoresFlushToZero) {
  if (!test::FlushToZero::available) GTEST_SKIP();
  RandomBits random(10);
  for (int i = 0; i < 3000; ++i) {
    auto entry = sample_entry<double>(random.pick(accumulations), random);
    if (random.once_in(3)) entry.error = 0x3p-1074;
    const auto expected = entry.combined(binary64);
    Rounded flushed;
    {
      const test::FlushToZero flush;
      ASSERT_TRUE(test::flushes());
      flushed = entry.combined(binary64);
    }
    ASSERT_EQ(flushed.bits, expected.bits) << entry.describe();
    ASSERT_EQ(flushed.decided, expected.decided) << entry.describe();
  }
  ASSERT_FALSE(test::flushes());
}

/// Digits, sums and combine together give the dot product rounded once if the slices hold the operands.
RC_GTEST_PROP(CombineTest, DigitsGiveTheDotProduct, ()) {
  RandomBits random(*test::gen::seed());
  for (const auto& encoding : common_ratio_encodings()) {
    if (encoding.beta < 4) continue;
    const int k = random.between(1, 6);
    const int spread = encoding.beta * max_slices - 56;
    std::vector<double> rows[2];
    int scales[2];
    std::vector<std::vector<std::int8_t>> digits[2];
    for (int side = 0; side < 2; ++side) {
      const int e = random.between(-500, 500);
      double top = 0;
      for (int l = 0; l < k; ++l) {
        rows[side].push_back(test::sample_below<double>(e, random.below(spread), random));
        top = std::max(top, std::abs(rows[side].back()));
      }
      scales[side] = encoding.scale_exponent(to_dyadic(top));
      for (const double x : rows[side]) {
        digits[side].emplace_back(max_slices);
        split(to_dyadic(x), {encoding, max_slices}, scales[side], digits[side].back().data());
      }
    }
    const SplitPlan plan{{encoding, max_slices}, {encoding, max_slices}, 2 * max_slices, Accumulation::exact};
    std::vector<std::int64_t> sums;
    for (const auto& group : plan.groups(1)) {
      std::int64_t sum = 0;
      for (int p = group.first_a; p <= group.last_a; ++p)
        for (std::size_t l = 0; l < rows[0].size(); ++l)
          sum += encoding.digit(p, digits[0][l][static_cast<std::size_t>(p - 1)]) *
                 encoding.digit(group.diagonal - p, digits[1][l][static_cast<std::size_t>(group.diagonal - p - 1)]);
      sums.push_back(sum);
    }
    Exact dot;
    for (std::size_t l = 0; l < rows[0].size(); ++l) dot = dot + Exact(rows[0][l]) * Exact(rows[1][l]);
    const auto c =
        combine(sums.data(), 1, sum_layout(plan, 1), scales[0] + scales[1], {to_dyadic(1.0), to_dyadic(0.0), binary64}, {}, 0);
    RC_ASSERT(c.bits == test::rounded_bits<double>(dot));
  }
}

}  // namespace
}  // namespace ozbound::combine_test
