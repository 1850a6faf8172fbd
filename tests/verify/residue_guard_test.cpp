// SPDX-License-Identifier: BSD-3-Clause
// Plans by residues that the norms do not show to hold a product, while the first digits of A and B do.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "bounds/products.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::residue_guard_test {
namespace {

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

Decision under(const Plan& plan, const test::SampleProduct& product) {
  return {Target::componentwise(1e-3), Method::one_plan, plan, product.m(), product.n(), product.k(), 0, 0, {}, {}};
}

/// Among plans with ever more bits, the last one that norms accept and the last one that the examination accepts.
struct Limits {
  int by_norms = 0, examined = 0;
};

bool norms_hold(const test::SampleProduct& product, const ResiduePlan& plan) {
  return !find_not_held(plan, norms_of(vector_norms(product.problem.a, Side::rows_of_a, 1)),
                        norms_of(vector_norms(product.problem.b, Side::columns_of_b, 1)), product.k());
}

ResiduePlan with_bits(int moduli, int bits) { return {moduli, bits / 2, bits - bits / 2}; }

Limits limits_of(const test::SampleProduct& product, int moduli) {
  const auto stated = product.stated();
  const auto examination = HostExaminer(engine()).examine(stated);
  Limits limits;
  for (int bits = 14; bits <= 175; ++bits) {
    const auto plan = with_bits(moduli, bits);
    if (norms_hold(product, plan)) limits.by_norms = bits;
    if (examination->holds(plan)) limits.examined = bits;
    EXPECT_EQ(examination->holds(plan), !find_not_held(stated, plan, engine())) << to_string(Plan(plan));
  }
  return limits;
}

/// First digits accept more plans than norms on random data: norms are more than a bit above the exact sums, level 1 is closer.
TEST(ResidueGuard, FirstDigitsHoldWhatNormsDoNot) {
  const auto product = test::product_of({Family::wide_exponents, 12, 9, 1024, 1, 3});
  for (const int moduli : {5, 13, 20}) {
    const auto limits = limits_of(product, moduli);
    ASSERT_GT(limits.examined, limits.by_norms) << moduli;
    const Plan plan = with_bits(moduli, limits.by_norms + 1);
    Matrix<double> c(product.m(), product.n());
    multiply_unproven({product.problem.a, product.problem.b, c}, plan, engine());
    const auto computed = test::compute_with(product, under(plan, product), engine());
    const auto check = check_certificate(to_json(computed.certificate).dump(), product.operands(), computed.c.view());
    for (const auto& claim : check.claims) EXPECT_TRUE(claim.holds) << claim.claim << ": " << claim.finding;
    EXPECT_TRUE(test::tells_the_truth(product, computed));
    const auto bits = computed.c.bits();
    for (std::size_t t = 0; t < bits.size(); ++t) EXPECT_EQ(std::bit_cast<std::uint64_t>(c.data()[t]), bits[t]);
    EXPECT_THROW(multiply_unproven({product.problem.a, product.problem.b, c}, with_bits(moduli, limits.examined + 1), engine()),
                 std::invalid_argument);
    EXPECT_THROW((void)test::compute_with(product, under(with_bits(moduli, limits.examined + 1), product), engine()),
                 std::invalid_argument);
  }
}

/// Plans that the examination accepts do not wrap. The data are at the limit of the digits: powers of two and their neighbours,
/// all of one sign. C' must equal the integer result; the certificate's bound, far below a wrapped entry, would fail otherwise.
TEST(ResidueGuard, WhatIsHeldDoesNotWrap) {
  test::RandomBits random(5);
  static constexpr double elements[] = {1, 0x1.fffffffffffffp0, 0x1.fep0, 0x1.fcp0, 0x1.0000000000001p0, 0.5, 0x1p-7, 0};
  for (int t = 0; t < 60; ++t) {
    const Index k = random.between(1, 40);
    auto product = test::product_of(Matrix<double>(2, k), Matrix<double>(k, 2));
    for (Index l = 0; l < 2 * k; ++l)
      product.problem.a.data()[l] = random.pick(elements), product.problem.b.data()[l] = random.pick(elements);
    const int moduli = random.between(3, 20);
    const auto limits = limits_of(product, moduli);
    ASSERT_GE(limits.examined, limits.by_norms);
    const auto computed = test::compute_with(product, under(with_bits(moduli, limits.examined), product), engine());
    ASSERT_TRUE(test::tells_the_truth(product, computed)) << t;
  }
}

/// First digits say nothing about integers of fewer than 7 bits, whose rounding may exceed the digit plus one.
TEST(ResidueGuard, FirstDigitsTellNothingOfCoarserIntegers) {
  const auto product = test::product_of({Family::uniform, 4, 4, 64, 0, 3});
  const auto examination = HostExaminer(engine()).examine(product.stated());
  for (int bits_a = 1; bits_a < 7; ++bits_a)
    for (int bits_b = 1; bits_b < 30; ++bits_b) {
      const ResiduePlan plan{3, bits_a, bits_b};
      EXPECT_EQ(examination->holds(plan), norms_hold(product, plan)) << bits_a << " " << bits_b;
      EXPECT_EQ(!find_not_held(product.stated(), plan, engine()), norms_hold(product, plan)) << bits_a << " " << bits_b;
    }
}

}  // namespace
}  // namespace ozbound::residue_guard_test
