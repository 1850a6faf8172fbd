// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/exact_dot.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "support/exact.hpp"
#include "support/generators.hpp"
#include "support/wide.hpp"

namespace ozbound::exact_dot_test {
namespace {

using test::exact;
using test::Exact;
using test::RandomBits;
using Pairs = std::vector<std::pair<double, double>>;

ExactDot dot_of(const Pairs& pairs) {
  ExactDot dot;
  for (const auto& [x, y] : pairs) dot.add_product(to_dyadic(x), to_dyadic(y));
  return dot;
}

Exact dot_by_definition(const Pairs& pairs) {
  Exact sum;
  for (const auto& [x, y] : pairs) sum = sum + Exact(x) * Exact(y);
  return sum;
}

/// Pairs of every class of exponents; half of the products are cancelled by a later one.
Pairs sample_pairs(int count, RandomBits& random) {
  Pairs pairs;
  while (static_cast<int>(pairs.size()) < count) {
    const double x = test::sample<double>(random);
    const double y = test::sample<double>(random);
    pairs.emplace_back(x, y);
    if (random.once_in(2)) pairs.emplace_back(y, -x);
  }
  for (std::size_t i = pairs.size() - 1; i > 0; --i)
    std::swap(pairs[i], pairs[static_cast<std::size_t>(random.below(static_cast<int>(i) + 1))]);
  return pairs;
}

static_assert(64 * ExactDot::limbs >= 2148 + 2048 + 60);

RC_GTEST_PROP(ExactDotTest, IsTheSum, ()) {
  RandomBits random(*test::gen::seed());
  for (int i = 0; i < 10; ++i) {
    const auto pairs = sample_pairs(random.between(1, 12), random);
    RC_ASSERT(exact(dot_of(pairs).value()) == dot_by_definition(pairs));
  }
}

/// More terms than fit between two carries give exact sums: thousands of products of full significands in the same bins, with
/// equal or mixed signs.
TEST(ExactDotTest, MoreTermsThanCarriesWaitFor) {
  const double full = 0x1.fffffffffffffp0;
  for (const bool alternating : {false, true})
    for (const double other : {full, -full * 0x1p31, 0x1p-1074}) {
      Pairs pairs(5000, {full, other});
      for (std::size_t i = 0; alternating && i < pairs.size(); i += 2) pairs[i].first = -0x1p-20;
      ASSERT_EQ(exact(dot_of(pairs).value()), dot_by_definition(pairs));
    }
}

RC_GTEST_PROP(ExactDotTest, RoundsOnce, ()) {
  RandomBits random(*test::gen::seed());
  for (int i = 0; i < 10; ++i) {
    const auto pairs = sample_pairs(random.between(1, 8), random);
    const double alpha = random.once_in(2) ? 1 : test::sample<double>(random);
    const double beta = random.once_in(2) ? 0 : test::sample<double>(random);
    const double c0 = test::sample<double>(random);
    const auto value = dot_by_definition(pairs) * Exact(alpha) + Exact(beta) * Exact(c0);
    const auto dot = dot_of(pairs);
    RC_ASSERT(dot.round({to_dyadic(alpha), to_dyadic(beta), binary64}, to_dyadic(c0)) == test::rounded_bits<double>(value));
    RC_ASSERT(dot.round({to_dyadic(alpha), to_dyadic(beta), binary32}, to_dyadic(c0)) == test::rounded_bits<float>(value));
  }
}

TEST(ExactDotTest, EndsOfTheRange) {
  const double max = std::numeric_limits<double>::max();
  const double least = 0x1p-1074;
  for (const Pairs& pairs :
       {Pairs{{max, max}}, Pairs{{max, -max}}, Pairs{{least, least}}, Pairs{{-least, least}}, Pairs{{max, max}, {least, least}},
        Pairs{{max, -max}, {least, least}}, Pairs{{max, max}, {-least, least}}, Pairs{{max, max}, {least, -least}, {-max, max}},
        Pairs{{max, least}, {1, -1}}, Pairs{{0.0, max}, {-0.0, least}}})
    EXPECT_EQ(exact(dot_of(pairs).value()), dot_by_definition(pairs));
  EXPECT_EQ(dot_of({{max, max}, {least, -least}, {-max, max}}).round({to_dyadic(1.0), {}, binary64}, {}), binary64.sign);
  EXPECT_EQ(dot_of({{max, max}, {3, 5}, {-max, max}}).round({to_dyadic(1.0), {}, binary64}, {}), bits_of(15.0));
}

TEST(ExactDotTest, ManyOfTheLargestProducts) {
  const double max = std::numeric_limits<double>::max();
  ExactDot dot;
  for (int i = 0; i < 100000; ++i) dot.add_product(to_dyadic(max), to_dyadic(i % 4 == 0 ? -max : max));
  EXPECT_EQ(exact(dot.value()), (Exact{50000, 0} * Exact(max) * Exact(max)));
}

TEST(ExactDotTest, EmptyAndCancelledSumsArePositiveZero) {
  EXPECT_EQ(ExactDot().round({to_dyadic(1.0), to_dyadic(-1.0), binary64}, to_dyadic(0.0)), 0u);
  EXPECT_EQ(dot_of({{-3, 5}, {5, 3}}).round({to_dyadic(-1.0), {}, binary64}, {}), 0u);
  EXPECT_FALSE(dot_of({{-3, 5}, {5, 3}}).value().negative);
  EXPECT_TRUE(dot_of({{-3, 5}}).value().negative);
}

TEST(ExactDotTest, OrderDoesNotMatter) {
  RandomBits random(1);
  for (int i = 0; i < 100; ++i) {
    auto pairs = sample_pairs(20, random);
    const auto forwards = exact(dot_of(pairs).value());
    ASSERT_EQ(exact(dot_of({pairs.rbegin(), pairs.rend()}).value()), forwards);
  }
}

}  // namespace
}  // namespace ozbound::exact_dot_test
