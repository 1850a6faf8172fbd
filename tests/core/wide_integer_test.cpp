// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/wide_integer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/exact.hpp"
#include "support/generators.hpp"
#include "support/wide.hpp"

namespace ozbound::wide_integer_test {
namespace {

using test::cpp_int;
using test::exact;
using test::sample_wide;

template <class T>
class WideIntegerTest : public testing::Test {};
template <int L>
struct LimbCount {
  static constexpr int value = L;
};
using Sizes = testing::Types<LimbCount<1>, LimbCount<2>, LimbCount<3>, LimbCount<6>, LimbCount<8>, LimbCount<69>>;
TYPED_TEST_SUITE(WideIntegerTest, Sizes);

constexpr int rounds = 3000;

TYPED_TEST(WideIntegerTest, CountsItsBits) {
  constexpr int limbs = TypeParam::value;
  test::RandomBits random(1);
  EXPECT_EQ(WideInteger<limbs>{}.bits(), 0);
  EXPECT_TRUE(WideInteger<limbs>{}.is_zero());
  for (int i = 0; i < rounds; ++i) {
    const auto x = sample_wide<limbs>(random);
    ASSERT_EQ(x.is_zero(), exact(x) == 0);
    ASSERT_EQ(x.bits(), x.is_zero() ? 0 : static_cast<int>(msb(exact(x))) + 1);
  }
}

TYPED_TEST(WideIntegerTest, AddsAWordAnywhere) {
  constexpr int limbs = TypeParam::value;
  test::RandomBits random(2);
  const cpp_int end = cpp_int(1) << (64 * limbs);
  int carries = 0;
  for (int i = 0; i < rounds; ++i) {
    auto x = sample_wide<limbs>(random);
    const auto word = sample_wide<1>(random).limb[0];
    const int shift = random.below(64 * limbs);
    const cpp_int sum = exact(x) + (cpp_int(word) << shift);
    if (sum >= end) continue;
    carries += x.limb[limbs - 1] != (sum >> (64 * (limbs - 1))) && shift < 64 * (limbs - 1) ? 1 : 0;
    x.add(word, shift);
    ASSERT_EQ(exact(x), sum) << std::hex << word << " << " << std::dec << shift;
  }
  EXPECT_TRUE(limbs == 1 || carries > 5) << carries;
}

TYPED_TEST(WideIntegerTest, AddsAndSubtracts) {
  constexpr int limbs = TypeParam::value;
  test::RandomBits random(3);
  const cpp_int end = cpp_int(1) << (64 * limbs);
  for (int i = 0; i < rounds; ++i) {
    const auto x = sample_wide<limbs>(random);
    const auto y = random.once_in(8) ? x : sample_wide<limbs>(random);
    auto sum = x;
    sum.add(y);
    ASSERT_EQ(exact(sum), (exact(x) + exact(y)) % end);
    const bool less = exact(x) < exact(y);
    ASSERT_EQ(x.less_than(y), less);
    auto difference = less ? y : x;
    difference.subtract(less ? x : y);
    ASSERT_EQ(exact(difference), less ? exact(y) - exact(x) : exact(x) - exact(y));
  }
}

TYPED_TEST(WideIntegerTest, ReadsAnyWindow) {
  constexpr int limbs = TypeParam::value;
  test::RandomBits random(4);
  const cpp_int word = cpp_int(1) << 64;
  for (int i = 0; i < rounds; ++i) {
    const auto x = sample_wide<limbs>(random);
    const int low = random.between(-200, 64 * limbs + 200);
    const cpp_int expected = low >= 0 ? (exact(x) >> low) % word : (exact(x) << -low) % word;
    ASSERT_EQ(x.word_at(low), expected) << low;
    const bool below = low > 0 && exact(x) % (cpp_int(1) << low) != 0;
    ASSERT_EQ(x.any_below(low), below) << low;
  }
  for (const int far : {-1000000, 1000000}) EXPECT_EQ(sample_wide<limbs>(random).word_at(far), 0u);
}

TYPED_TEST(WideIntegerTest, MultipliesByAWord) {
  constexpr int limbs = TypeParam::value;
  test::RandomBits random(5);
  for (int i = 0; i < rounds; ++i) {
    const auto x = sample_wide<limbs>(random);
    const auto y = sample_wide<1>(random).limb[0];
    ASSERT_EQ(exact(multiply(x, y)), exact(x) * y);
  }
}

TYPED_TEST(WideIntegerTest, Shifts) {
  constexpr int limbs = TypeParam::value;
  test::RandomBits random(6);
  const auto check = [&]<int To>() {
    for (int i = 0; i < rounds / 3; ++i) {
      const auto x = sample_wide<limbs>(random);
      const int shift = random.between(-64 * limbs - 100, 64 * To + 100);
      const cpp_int expected = shift >= 0 ? exact(x) << shift : exact(x) >> -shift;
      ASSERT_EQ(exact(shifted<To>(x, shift)), expected % (cpp_int(1) << (64 * To))) << shift;
    }
  };
  check.template operator()<limbs>();
  check.template operator()<limbs + 1>();
  check.template operator()<limbs + 3>();
}

}  // namespace
}  // namespace ozbound::wide_integer_test
