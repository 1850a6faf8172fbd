// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <vector>

#include "ozbound/core/gemm.hpp"
#include "support/full_digits.hpp"
#include "support/gemm_calls.hpp"

// The statements of the other tests, for many more calls and longer vectors.

namespace ozbound::gemm_long_test {
namespace {

using test::OwnedProduct;
using test::RandomBits;

TEST(GemmLongTest, IsWhatItsDefinitionSays) {
  for (std::uint64_t seed = 1; seed <= 100000; ++seed) {
    RandomBits random(seed);
    const bool near = !random.once_in(3);
    auto call = test::sample_call({random.below(12), random.below(16), random.below(40), near}, random);
    if (random.once_in(4)) {
      test::strew_specials(call.a, 60, random);
      test::strew_specials(call.b, 60, random);
      if (call.source == OwnedProduct::C0::in_place) test::strew_specials(call.c, 20, random);
      if (call.source == OwnedProduct::C0::separate) test::strew_specials(call.c0, 20, random);
    }
    const auto plan = test::sample_plan(random, random.once_in(8) ? max_slices : 9);
    const auto options = test::sample_options(random);
    const auto least = least_workspace(CpuEngine(options), plan, call.alpha == 0 ? 0 : call.a.cols());
    const double workspace = random.once_in(2) ? unlimited_workspace : least * random.between(1, 10);
    ASSERT_TRUE(test::multiplies_rightly(call, plan, options, workspace)) << "seed " << seed;
  }
}

/// Sums are right on both sides of the overflow of every encoding whose limit memory can hold.
TEST(GemmLongTest, OnBothSidesOfEachOverflow) {
  for (const auto& encoding : common_ratio_encodings()) {
    const auto full = test::fullest_diagonal(encoding);
    const int slices = test::full_digits(encoding).slices;
    const SplitPlan plan{{encoding, slices}, {encoding, slices}, full.diagonal, Accumulation::exact};
    const Index terms = plan.int32_terms() / full.pairs;
    if (terms > 3000000) continue;
    for (const Index over : {0, 1}) EXPECT_TRUE(test::full_sums_are_exact(plan, terms + over)) << to_string(plan);
  }
}

/// A may have more than 2^32 digits, so every offset needs 64 bits. The rows of A overlap in memory, as a Hankel matrix may.
TEST(GemmLongTest, MoreThan32BitsOfDigits) {
  constexpr Index m = 3300, k = 65537;
  const auto plan = parse_plan("balanced:20x3:cut=4:exact").split();
  static_assert(m * k * 20 > Index{1} << 32);
  const CpuEngine engine;
  const double available = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (available < 1.2 * full_workspace(engine, plan, m, 1, k)) GTEST_SKIP() << "needs 5 GB of memory";
  RandomBits random(1);
  std::vector<double> x(static_cast<std::size_t>(m + k)), y(static_cast<std::size_t>(k));
  for (auto* vector : {&x, &y})
    for (auto& value : *vector) value = test::sample_below<double>(0, random.below(12), random);
  const MatrixView<const double> a(x.data(), m, k, 1, 1);
  const auto b = column_major<const double>(y.data(), k, 1, k);
  Matrix<double> c(m, 1);
  multiply_unproven({a, b, c}, plan, engine);
  for (const Index i : {Index{0}, Index{1}, m / 2, m - 2, m - 1}) {
    const test::PlanReference reference(a.block(i, 0, 1, k), b, plan);
    EXPECT_EQ(bits_of(c(i, 0)), test::rounded_bits<double>(reference.sum(0, 0))) << i;
  }
}

}  // namespace
}  // namespace ozbound::gemm_long_test
