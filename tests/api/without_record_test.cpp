// SPDX-License-Identifier: BSD-3-Clause
// C computed without a record equals C with one, for every type, whether or not one sweep can tell the decision.

#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "ozbound.h"
#include "ozbound/blas.hpp"
#include "ozbound/native.hpp"
#include "ozbound/verify/number_classes.hpp"

namespace ozbound {
namespace {

using sampling::RandomBits;

template <class T>
struct Part {
  using Type = T;
};
template <class R>
struct Part<std::complex<R>> {
  using Type = R;
};

template <class T>
T element(RandomBits& random, bool special) {
  using Real = typename Part<T>::Type;
  const auto real = [&]() -> Real {
    if (special && random.once_in(40))
      return random.once_in(2) ? std::numeric_limits<Real>::infinity() : std::numeric_limits<Real>::quiet_NaN();
    if (special && random.once_in(40)) return std::numeric_limits<Real>::denorm_min();
    return static_cast<Real>(static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63);
  };
  if constexpr (std::is_same_v<T, Real>)
    return real();
  else
    return {real(), real()};
}

template <class T>
std::vector<T> elements(RandomBits& random, Index count, bool special) {
  std::vector<T> all;
  for (Index t = 0; t < count; ++t) all.push_back(element<T>(random, special));
  return all;
}

template <class T>
bool same_bytes(const std::vector<T>& x, const std::vector<T>& y) {
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

template <class T>
class WithoutRecord : public testing::Test {};
using Types = testing::Types<double, float, std::complex<double>, std::complex<float>>;
TYPED_TEST_SUITE(WithoutRecord, Types);

TYPED_TEST(WithoutRecord, HasTheBitsOfTheCallWithOne) {
  using T = TypeParam;
  using Real = typename Part<T>::Type;
  constexpr const char* targets[] = {"dgemm", "dgemm", "componentwise:1e-3", "normwise:1e-4", "cr"};
  constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};
  const double alphas[] = {1, 1, -1, 0.5, 0}, betas[] = {0, 0, 1, 2};
  RandomBits random(11);
  const auto machine = Machine::cpu();
  int untold = 0;
  constexpr int rounds = 150;
  for (int round = 0; round < rounds; ++round) {
    const auto m = static_cast<Index>(random() % 40), n = static_cast<Index>(random() % 40),
               k = static_cast<Index>(random() % 40);
    const auto layout = random.once_in(2) ? Layout::row_major : Layout::column_major;
    const Op op_a = ops[random() % 3], op_b = ops[random() % 3];
    const Index ld = 41 + static_cast<Index>(random() % 3);
    const bool special = random.once_in(4);
    const auto a = elements<T>(random, ld * 41, special), b = elements<T>(random, ld * 41, special);
    const auto c0 = elements<T>(random, ld * 41, special);
    const auto alpha = T(static_cast<Real>(alphas[random() % 5])), beta = T(static_cast<Real>(betas[random() % 4]));
    const auto target = parse_target(targets[random() % 5]);
    auto with = c0, without = c0, on_machine = c0;
    gemm(layout, op_a, op_b, m, n, k, alpha, a.data(), ld, b.data(), ld, beta, with.data(), ld, target);
    if (!gemm_without_record(layout, op_a, op_b, m, n, k, alpha, a.data(), ld, b.data(), ld, beta, without.data(), ld, target))
      ++untold;
    BlasOptions options;
    options.machine = &machine;
    gemm_without_record(layout, op_a, op_b, m, n, k, alpha, a.data(), ld, b.data(), ld, beta, on_machine.data(), ld, target,
                        options);
    ASSERT_TRUE(same_bytes(with, without)) << m << ' ' << n << ' ' << k << ' ' << to_string(target);
    ASSERT_TRUE(same_bytes(with, on_machine)) << m << ' ' << n << ' ' << k << ' ' << to_string(target);
  }
  if (native_gemm() != nullptr) {
    EXPECT_GT(untold, rounds / 6);  // the fast way is taken often
  }
}

TYPED_TEST(WithoutRecord, RefusesWhatGemmRefuses) {
  using T = TypeParam;
  std::vector<T> a(4), c(4);
  const auto call = [&](const T* b, Index ldb, const Target& target) {
    return gemm_without_record(Layout::row_major, Op::none, Op::none, 2, 2, 2, T(1), a.data(), 2, b, ldb, T(0), c.data(), 2,
                               target);
  };
  EXPECT_THROW(call(a.data(), 1, Target::dgemm()), std::invalid_argument);
  EXPECT_THROW(call(nullptr, 2, Target::dgemm()), std::invalid_argument);
  EXPECT_THROW(call(c.data(), 2, Target::dgemm()), std::invalid_argument);  // C overlaps B
  EXPECT_THROW(call(a.data(), 2, Target::componentwise(1e-30)), CannotCertify);
}

/// In C, a null scalar of a complex call is refused and leaves no certificate.
TEST(WithoutRecordInC, NullScalarsAreRefused) {
  const std::complex<double> one = 1;
  std::complex<double> x = 2, c = 3;
  auto* certificate = reinterpret_cast<ozb_certificate*>(&c);
  EXPECT_EQ(ozb_zgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, nullptr, &x, 1, &x, 1, &one, &c, 1, "dgemm", &certificate),
            OZB_INVALID_ARGUMENT);
  EXPECT_EQ(certificate, nullptr);
  EXPECT_EQ(ozb_zgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, &one, &x, 1, &x, 1, nullptr, &c, 1, "dgemm", nullptr),
            OZB_INVALID_ARGUMENT);
  EXPECT_EQ(c, 3.0);
}

}  // namespace
}  // namespace ozbound
