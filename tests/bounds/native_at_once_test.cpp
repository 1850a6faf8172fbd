// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/detail/native_at_once.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ozbound/bounds/decide.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "support/plain_gemm.hpp"

// The method told without a decision is the method that `decide` chooses.

namespace ozbound::native_at_once_test {
namespace {

/// Costs of native DGEMM and of the superaccumulator, in numbers of slice products.
class Prices final : public CostModel {
 public:
  Prices(double native, double exact) : native_(native), exact_(exact) {}
  [[nodiscard]] CostOrigin origin() const override { return ProductCount().origin(); }
  [[nodiscard]] double planned(const Plan& plan, Index, Index, Index) const override { return plan.products(); }
  [[nodiscard]] double native(Index, Index, Index) const override { return native_; }
  [[nodiscard]] double exact(Index, Index, Index) const override { return exact_; }

 private:
  double native_, exact_;
};

/// Elements with a random number of bits (so that fewer slices may do) and a wide or a narrow range of exponents.
Matrix<double> elements(Index rows, Index cols, sampling::RandomBits& random) {
  Matrix<double> x(rows, cols);
  const int bits = static_cast<int>(random() % 53) + 1, range = random.once_in(2) ? 1 : 40;
  for (Index t = 0; t < rows * cols; ++t)
    x.data()[t] = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random()) >> (63 - bits)),
                             static_cast<int>(random() % static_cast<unsigned>(range)));
  if (random.once_in(4))
    for (Index j = 0; j < cols; ++j) x(rows / 2, j) = 0;  // a zero row, whose entries refuse no method
  return x;
}

TEST(NativeAtOnce, TellsWhatDecideDecides) {
  const FloatEnvironment environment;
  sampling::RandomBits random(5);
  const CpuEngine engine({.threads = 1});
  const test::PlainGemm native;
  constexpr const char* targets[] = {"dgemm", "dgemm-typical", "componentwise:1e-13", "componentwise:1e-6", "rowcol:1e-13",
                                     "cr",    "relative:1e-3", "normwise:1e-12",      "normwise:1e-4"};
  int told = 0, told_beside_plans = 0, told_beside_residues = 0, silent_for_residues = 0, taken = 0;
  for (int round = 0; round < 1500; ++round) {
    const auto m = static_cast<Index>(random() % 9) + 1, n = static_cast<Index>(random() % 9) + 1;
    const auto k = static_cast<Index>(random() % 50) + 1;
    const auto a = elements(m, k, random), b = elements(k, n, random);
    Matrix<double> c(m, n);
    const double alpha = random.once_in(3) ? -0.75 : 1, beta = random.once_in(3) ? 2 : 0;
    const RealProduct product{a, b, c, alpha, beta, c};
    const auto target = parse_target(targets[random() % std::size(targets)]);
    const Prices prices(static_cast<double>(random() % 40) / 2, static_cast<double>(random() % 3) * 1000 + 10);
    const auto decision = decide(product, target, {engine, &native, &prices});
    if (decision.method == Method::native) ++taken;
    const auto ways = without_slices(prices, m, n, k);
    if (!ways || !native_certifies_at_once(native, product, target)) continue;
    if (!refused_at_once(*ways, product, target)) {
      if (decision.plan && decision.plan->by_residues()) ++silent_for_residues;
      continue;
    }
    ++told;
    if (ways->cheaper_moduli > 0) ++told_beside_residues;
    if (!ways->cheaper.empty()) ++told_beside_plans;
    EXPECT_EQ(decision.method, ways->method) << to_string(target) << " native " << prices.native(m, n, k);
  }
  EXPECT_GT(told, 100);
  EXPECT_GT(told_beside_plans, 50);
  EXPECT_GT(told_beside_residues, 50);
  EXPECT_GT(silent_for_residues, 5);
  EXPECT_GT(3 * told, taken);  // native DGEMM is told in a third of the cases or more
}

TEST(NativeAtOnce, IsSilentWhereOneSweepCannotTell) {
  const FloatEnvironment environment;
  const auto target = Target::dgemm();
  const test::PlainGemm native;
  Matrix<double> a(3, 4), b(4, 2), c(3, 2);
  for (Index t = 0; t < 12; ++t) a.data()[t] = 1;
  for (Index t = 0; t < 8; ++t) b.data()[t] = 1;
  const RealProduct product{a, b, c, 1, 0, c};
  EXPECT_TRUE(native_certifies_at_once(native, product, target));
  EXPECT_FALSE(native_certifies_at_once(native, product, Target::correctly_rounded()));
  EXPECT_FALSE(native_certifies_at_once(native, product, Target::componentwise(0x1p-52)));
  for (const double alpha : {0.0, std::nan(""), HUGE_VAL}) {
    auto scaled = product;
    scaled.alpha = alpha;
    EXPECT_FALSE(native_certifies_at_once(native, scaled, target)) << alpha;
  }
  auto adds = product;
  adds.beta = 1;
  c(2, 1) = HUGE_VAL;
  EXPECT_TRUE(native_certifies_at_once(native, product, target));  // `product` does not read C
  EXPECT_FALSE(native_certifies_at_once(native, adds, target));
  a(2, 3) = std::nan("");
  EXPECT_FALSE(native_certifies_at_once(native, product, target));
  a(2, 3) = 0x1p1020;  // may overflow
  EXPECT_FALSE(native_certifies_at_once(native, product, target));
}

}  // namespace
}  // namespace ozbound::native_at_once_test
