// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "ozbound/core/gemm.hpp"
#include "support/gemm_calls.hpp"

// NaN and infinities in C depend only on the inputs.

namespace ozbound::gemm_special_test {
namespace {

using test::matrix_of;
using test::OwnedProduct;
using test::product;
using test::RandomBits;
using test::StoredMatrix;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
const SplitPlan plain = SplitPlan::balanced(7, 7, 8);

testing::AssertionResult same(const Matrix<double>& x, const Matrix<double>& y) {
  return test::same_bits(test::stored(x), test::bits_of_matrix(y));
}

/// apply_specials writes exactly the entries that specials decide.
RC_GTEST_PROP(SpecialsTest, OnlySpecialEntriesAreWritten, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    auto call = test::sample_call({random.between(1, 6), random.between(1, 6), random.below(7)}, random);
    test::strew_specials(call.a, 15, random);
    test::strew_specials(call.b, 15, random);
    if (call.source == OwnedProduct::C0::in_place) test::strew_specials(call.c, 8, random);
    if (call.source == OwnedProduct::C0::separate) test::strew_specials(call.c0, 8, random);
    const double scalars[] = {0, 1, -2, inf, nan};
    if (random.once_in(3)) call.alpha = random.pick(scalars);
    if (random.once_in(3) && call.source != OwnedProduct::C0::unread) call.beta = random.pick(scalars);
    const auto before = call;
    apply_specials(call.product(), random.between(1, 3));
    const bool single = call.c.storage().single;
    for (Index i = 0; i < call.c.rows(); ++i)
      for (Index j = 0; j < call.c.cols(); ++j) {
        std::vector<std::vector<double>> terms;
        for (Index l = 0; before.alpha != 0 && l < before.a.cols(); ++l)
          terms.push_back({before.alpha, before.a.value(i, l), before.b.value(l, j)});
        if (before.beta != 0) terms.push_back({before.beta, before.c0_values().value(i, j)});
        const auto bits = test::special_bits(terms, single);
        RC_ASSERT(call.c.bits(i, j) == (bits != 0 ? bits : before.c.bits(i, j)));
      }
    RC_ASSERT(call.c.intact());
  }
}

/// Every rule for special values holds in a small example that can be checked by hand.
TEST(SpecialsTest, EveryRule) {
  const auto a = matrix_of({{inf, 1}, {-inf, 1}, {inf, inf}, {inf, -inf}, {nan, 1}, {0, 1}, {1, 2}});
  const auto b = matrix_of({{1, 0, -1, inf}, {1, 1, 1, 1}});
  EXPECT_TRUE(same(product(a, b, plain), matrix_of({{inf, nan, -inf, inf},
                                                    {-inf, nan, inf, -inf},
                                                    {inf, nan, nan, inf},
                                                    {nan, nan, -inf, nan},
                                                    {nan, nan, nan, nan},
                                                    {1, 1, 1, nan},
                                                    {3, 2, 1, inf}})));
}

/// A NaN in C is always the one quiet NaN, whatever sign and payload the inputs have; a BLAS may give others.
TEST(SpecialsTest, OneNaN) {
  for (const std::uint64_t bits : {0x7ff0000000000001u, 0xfff8000000000000u, 0x7ff8dead0badf00du, 0xffffffffffffffffu}) {
    const auto x = matrix_of({{double_from_bits(bits)}}), one = matrix_of({{1}});
    for (const auto& c :
         {product(x, one, plain), product(one, x, plain), product(one, one, plain, 1, 1, x),
          product(one, one, plain, double_from_bits(bits)), product(one, one, plain, 1, double_from_bits(bits), one)})
      EXPECT_EQ(bits_of(c(0, 0)), 0x7ff8000000000000u);
    Matrix<float> c(1, 1);
    multiply_unproven({x, one, c}, plain, CpuEngine({.threads = 1}));
    EXPECT_EQ(bits_of(c(0, 0)), 0x7fc00000u);
  }
}

/// A NaN or infinite alpha or beta makes every entry special that it is multiplied into.
TEST(SpecialsTest, SpecialScalars) {
  const auto a = matrix_of({{1, 2}, {-1, -2}, {0, 1}});
  const auto b = matrix_of({{1}, {1}});
  const auto c0 = matrix_of({{1}, {0}, {-inf}});
  EXPECT_TRUE(same(product(a, b, plain, inf), matrix_of({{inf}, {-inf}, {nan}})));
  EXPECT_TRUE(same(product(a, b, plain, nan), matrix_of({{nan}, {nan}, {nan}})));
  EXPECT_TRUE(same(product(a, b, plain, 1, inf, c0), matrix_of({{inf}, {nan}, {-inf}})));
  EXPECT_TRUE(same(product(a, b, plain, 0, -inf, c0), matrix_of({{-inf}, {nan}, {inf}})));
  EXPECT_TRUE(same(product(a, b, plain, -inf, inf, c0), matrix_of({{nan}, {nan}, {nan}})));
  EXPECT_TRUE(same(product(a, b, plain, 1, 2, c0), matrix_of({{5}, {-3}, {-inf}})));
  EXPECT_TRUE(same(product(a, b, plain, 0x1p-1074, 0x1p-1074, c0), matrix_of({{0x4p-1074}, {-0x3p-1074}, {-inf}})));
}

/// An infinity from an overflow in place is not treated as an input: it is not multiplied by beta.
TEST(SpecialsTest, AnOverflowInPlaceIsNoInput) {
  for (const double beta : {-1.0, 1.0, 0x1p-1074}) {
    const auto a = matrix_of({{largest, 1}, {nan, 1}, {1, 1}});
    const auto b = matrix_of({{2, 1}, {0, -inf}});
    auto c = matrix_of({{-largest, 3}, {5, 7}, {11, -inf}});
    if (beta == 1) c(0, 0) = largest;
    const auto c0 = c;
    multiply_unproven({a, b, c, 1, beta, c}, plain, CpuEngine({.threads = 1}));
    EXPECT_TRUE(same(c, product(a, b, plain, 1, beta, c0)));
    EXPECT_EQ(c(0, 0), inf);
    EXPECT_EQ(c(0, 1), -inf);
    EXPECT_EQ(bits_of(c(1, 0)), 0x7ff8000000000000u);
    EXPECT_EQ(bits_of(c(1, 1)), 0x7ff8000000000000u);
    EXPECT_EQ(c(2, 0), 2 + beta * 11);
    EXPECT_EQ(bits_of(c(2, 1)), beta < 0 ? 0x7ff8000000000000u : 0xfff0000000000000u);
  }
}

/// multiply_exactly leaves special entries to apply_specials.
TEST(SpecialsTest, TheExactFinishLeavesThemAlone) {
  const auto a = matrix_of({{1, 2}, {inf, 1}, {3, 4}});
  const auto b = matrix_of({{1, nan, 2}, {1, 1, 1}});
  const auto c0 = matrix_of({{1, 1, 1}, {1, 1, 1}, {-inf, 1, nan}});
  auto c = matrix_of({{9, 9, 9}, {9, 9, 9}, {9, 9, 9}});
  multiply_exactly({a, b, c, 1, 1, c0}, 2);
  EXPECT_TRUE(same(c, matrix_of({{4, 9, 5}, {9, 9, 9}, {9, 9, 9}})));
  c = matrix_of({{9, 9, 9}, {9, 9, 9}, {9, 9, 9}});
  multiply_exactly({a, b, c, nan, 0, {}}, 2);
  EXPECT_TRUE(same(c, matrix_of({{9, 9, 9}, {9, 9, 9}, {9, 9, 9}})));
}

}  // namespace
}  // namespace ozbound::gemm_special_test
