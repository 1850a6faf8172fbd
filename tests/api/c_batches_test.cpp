// SPDX-License-Identifier: BSD-3-Clause
// The batches of ozbound.h agree with those of batch.hpp, with statuses for exceptions.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "api/blas_calls.hpp"
#include "ozbound.h"
#include "ozbound/batch.hpp"

namespace ozbound::c_batches_test {
namespace {

constexpr std::size_t products = 3;

template <class T>
constexpr bool complex = !std::is_floating_point_v<T>;
template <class T>
constexpr bool wide = std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>;

template <class T>
T number(double real, double imaginary) {
  if constexpr (complex<T>)
    return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary)};
  else
    return static_cast<T>(real);
}

/// The functions of an element type and a form. Calls differ only in the types of their pointers.
template <class T>
constexpr auto functions(auto d, auto s, auto z, auto c) {
  if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return z;
  else
    return c;
}

/// Scalars as C passes them: real ones by value, complex ones by address.
template <class T>
auto scalar(const T& x) {
  if constexpr (complex<T>)
    return &x;
  else
    return x;
}

/// 3 products of 2 x 4 by 4 x 3 with a common A, row-major.
template <class T>
struct Arguments {
  std::vector<T> memory_a = std::vector<T>(80), memory_b = memory_a, memory_c = std::vector<T>(80, T{7});
  int layout = OZB_ROW_MAJOR;
  std::int64_t stride_a = 0;
  T alpha = T{1}, beta = T{0};
  std::int64_t count = products, shape_count = 1;
  std::vector<int> op_a{OZB_NONE}, op_b{OZB_NONE};
  std::vector<std::int64_t> m{2}, n{3}, k{4}, lda{4}, ldb{3}, ldc{3};
  std::vector<T> alphas{T{1}}, betas{T{0}};
  using In = std::conditional_t<complex<T>, void, T>;
  std::vector<const In*> a, b;
  std::vector<In*> c;
  const char* target = "dgemm";
  int choices = OZB_DEFAULT;

  Arguments() {
    test::RandomBits random(5);
    for (auto* memory : {&memory_a, &memory_b})
      for (T& x : *memory) x = number<T>(random.below(1 << 20) / 3.0, random.below(99) / 7.0);
    for (std::size_t t = 0; t < products; ++t)
      a.push_back(memory_a.data()), b.push_back(memory_b.data() + 12 * t), c.push_back(memory_c.data() + 6 * t);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() = default;

  int strided(ozb_certificate** certificates) {
    return functions<T>(ozb_dgemm_strided_batched, ozb_sgemm_strided_batched, ozb_zgemm_strided_batched,
                        ozb_cgemm_strided_batched)(layout, op_a[0], op_b[0], m[0], n[0], k[0], scalar(alpha), memory_a.data(),
                                                   lda[0], stride_a, memory_b.data(), ldb[0], 12, scalar(beta), memory_c.data(),
                                                   ldc[0], 6, count, target, certificates);
  }
  int decide_strided(ozb_decision** decisions) {
    return functions<T>(ozb_decide_d_strided_batched, ozb_decide_s_strided_batched, ozb_decide_z_strided_batched,
                        ozb_decide_c_strided_batched)(
        layout, op_a[0], op_b[0], m[0], n[0], k[0], scalar(alpha), memory_a.data(), lda[0], stride_a, memory_b.data(), ldb[0],
        12, scalar(beta), memory_c.data(), ldc[0], 6, count, target, choices, decisions);
  }
  int strided_decided(const ozb_decision* const* decisions, std::int64_t decision_count, ozb_certificate** certificates) {
    return functions<T>(ozb_dgemm_strided_batched_decided, ozb_sgemm_strided_batched_decided, ozb_zgemm_strided_batched_decided,
                        ozb_cgemm_strided_batched_decided)(
        layout, op_a[0], op_b[0], m[0], n[0], k[0], scalar(alpha), memory_a.data(), lda[0], stride_a, memory_b.data(), ldb[0],
        12, scalar(beta), memory_c.data(), ldc[0], 6, count, decisions, decision_count, 0, certificates);
  }

  /// The address of an array, or null.
  template <class E>
  static E* at(std::vector<E>& values) {
    return values.empty() ? nullptr : values.data();
  }

  int pointers(ozb_certificate** certificates) {
    return functions<T>(ozb_dgemm_batched, ozb_sgemm_batched, ozb_zgemm_batched, ozb_cgemm_batched)(
        layout, at(op_a), at(op_b), at(m), at(n), at(k), at(alphas), at(a), at(lda), at(b), at(ldb), at(betas), at(c), at(ldc),
        count, shape_count, target, certificates);
  }
  int decide_pointers(ozb_decision** decisions) {
    return functions<T>(ozb_decide_d_batched, ozb_decide_s_batched, ozb_decide_z_batched, ozb_decide_c_batched)(
        layout, at(op_a), at(op_b), at(m), at(n), at(k), at(alphas), at(a), at(lda), at(b), at(ldb), at(betas), at(c), at(ldc),
        count, shape_count, target, choices, decisions);
  }
  int pointers_decided(const ozb_decision* const* decisions, std::int64_t decision_count, std::int64_t workspace,
                       ozb_certificate** certificates) {
    return functions<T>(ozb_dgemm_batched_decided, ozb_sgemm_batched_decided, ozb_zgemm_batched_decided,
                        ozb_cgemm_batched_decided)(layout, at(op_a), at(op_b), at(m), at(n), at(k), at(alphas), at(a), at(lda),
                                                   at(b), at(ldb), at(betas), at(c), at(ldc), count, shape_count, decisions,
                                                   decision_count, workspace, certificates);
  }
};

template <class T>
class CBatches : public testing::Test {};
using Types = testing::Types<double, float, std::complex<double>, std::complex<float>>;
TYPED_TEST_SUITE(CBatches, Types);

/// The records of certificates; destroys the certificates.
std::vector<nlohmann::json> taken(std::array<ozb_certificate*, products>& certificates) {
  std::vector<nlohmann::json> records;
  for (auto*& certificate : certificates) {
    const char* json = nullptr;
    EXPECT_EQ(ozb_certificate_json(certificate, &json), OZB_SUCCESS);
    records.push_back(json == nullptr ? nlohmann::json() : nlohmann::json::parse(json));
    ozb_certificate_destroy(certificate);
    certificate = nullptr;
  }
  return records;
}

TYPED_TEST(CBatches, AreThoseOfCpp) {
  using T = TypeParam;
  for (const char* target : {"dgemm", "cr", "componentwise:1e-5"})
    for (const auto& [alpha, beta] : {std::pair(T{1}, T{0}), std::pair(number<T>(-0.375, 2), number<T>(3, -1))}) {
      Arguments<T> x, y;
      x.target = target;
      x.alpha = x.alphas[0] = alpha, x.beta = x.betas[0] = beta;
      std::vector<nlohmann::json> expected;
      for (const auto& certificate :
           gemm_strided_batched(Layout::row_major, Op::none, Op::none, 2, 3, 4, alpha, y.memory_a.data(), 4, 0,
                                y.memory_b.data(), 3, 12, beta, y.memory_c.data(), 3, 6, products, parse_target(target)))
        expected.push_back(to_json(certificate));
      std::array<ozb_certificate*, products> certificates{};
      std::array<ozb_decision*, products> decisions{};
      const auto judge = [&](int status, const char* what) {
        ASSERT_EQ(status, OZB_SUCCESS) << what << ": " << ozb_last_error();
        EXPECT_EQ(taken(certificates), expected) << what;
        EXPECT_EQ(x.memory_c, y.memory_c) << what;
        x.memory_c.assign(80, T{7});
      };
      judge(x.strided(certificates.data()), "strided");
      judge(x.pointers(certificates.data()), "pointers");
      ASSERT_EQ(x.decide_strided(decisions.data()), OZB_SUCCESS) << ozb_last_error();
      judge(x.strided_decided(decisions.data(), products, certificates.data()), "strided, decided");
      judge(x.pointers_decided(decisions.data(), products, 0, certificates.data()), "pointers, decided");
      for (auto* decision : decisions) ozb_decision_destroy(decision);
      ASSERT_EQ(x.decide_pointers(decisions.data()), OZB_SUCCESS) << ozb_last_error();
      judge(x.pointers_decided(decisions.data(), products, 1 << 20, certificates.data()), "pointers, decided by pointers");
      for (auto* decision : decisions) ozb_decision_destroy(decision);
    }
}

/// Each product may have its own shape, and arguments that are not read, arrays included, may be null.
TYPED_TEST(CBatches, OfSeveralShapes) {
  using T = TypeParam;
  Arguments<T> x;
  x.shape_count = products;
  x.op_a = {OZB_NONE, OZB_TRANSPOSE, OZB_CONJUGATE_TRANSPOSE}, x.op_b.assign(3, OZB_NONE);
  x.m = {2, 1, 2}, x.n = {3, 2, 0}, x.k = {4, 3, 2}, x.lda.assign(3, 4), x.ldb.assign(3, 3), x.ldc.assign(3, 3);
  x.alphas = {T{0}, T{1}, T{1}}, x.betas = {T{1}, T{0}, T{0}};
  x.a[0] = x.b[0] = nullptr;
  std::array<ozb_certificate*, products> certificates{};
  ASSERT_EQ(x.pointers(certificates.data()), OZB_SUCCESS) << ozb_last_error();
  const auto records = taken(certificates);
  for (std::size_t t = 0; t < products; ++t) EXPECT_EQ(records[t].at("m"), x.m[t]);
  std::vector<T> expected(80, T{7});
  ASSERT_TRUE(gemm(Layout::row_major, Op::transpose, Op::none, 1, 2, 3, T{1}, x.memory_a.data(), 4, x.memory_b.data() + 12, 3,
                   T{0}, expected.data() + 6, 3, Target::dgemm())
                  .holds);
  EXPECT_EQ(x.memory_c, expected);

  x.alphas.assign(3, T{0}), x.a.clear(), x.b.clear();
  ASSERT_EQ(x.pointers(nullptr), OZB_SUCCESS) << ozb_last_error();
  x.betas.assign(3, T{0});
  x.c.clear();
  std::array<ozb_decision*, products> decisions{};
  ASSERT_EQ(x.decide_pointers(decisions.data()), OZB_SUCCESS) << ozb_last_error();
  for (auto* decision : decisions) ozb_decision_destroy(decision);
  x.count = 0, x.shape_count = 1;
  for (auto* sizes : {&x.m, &x.n, &x.k, &x.lda, &x.ldb, &x.ldc}) sizes->clear();
  EXPECT_EQ(x.pointers(nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.decide_pointers(nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.pointers_decided(nullptr, 0, 0, nullptr), OZB_SUCCESS) << ozb_last_error();
}

TYPED_TEST(CBatches, EveryRefusalNamesItsArgument) {
  using A = Arguments<TypeParam>;
  using T = TypeParam;
  const auto refused = [](const auto& change, const std::string& words, int status = OZB_INVALID_ARGUMENT,
                          bool decides = true) {
    A x;
    change(x);
    std::array<ozb_certificate*, products> certificates;
    std::array<ozb_decision*, products> decisions;
    certificates.fill(reinterpret_cast<ozb_certificate*>(&x)), decisions.fill(reinterpret_cast<ozb_decision*>(&x));
    EXPECT_EQ(x.pointers(certificates.data()), status) << words;
    EXPECT_EQ(std::string(ozb_last_error()).find(words), 0U) << ozb_last_error();
    EXPECT_EQ(x.memory_c, std::vector<T>(80, T{7})) << words;
    EXPECT_TRUE(x.count < 0 || certificates[0] == nullptr) << words;
    if (!decides) return;
    EXPECT_EQ(x.decide_pointers(decisions.data()), status) << words;
    EXPECT_EQ(std::string(ozb_last_error()).find(words), 0U) << ozb_last_error();
    EXPECT_TRUE(x.count < 0 || decisions[0] == nullptr) << words;
  };
  refused([](A& x) { x.layout = 0; }, "layout must be OZB_ROW_MAJOR or OZB_COLUMN_MAJOR: 0");
  refused([](A& x) { x.count = -1; }, "batch_count must not be negative: -1");
  refused([](A& x) { x.shape_count = 2; }, "shape_count must be 1 or batch_count = 3: 2");
  refused([](A& x) { x.shape_count = 0; }, "shape_count must be 1 or batch_count = 3: 0");
  refused([](A& x) { x.op_a.clear(); }, "op_a must not be null");
  refused([](A& x) { x.op_b.clear(); }, "op_b must not be null");
  refused([](A& x) { x.m.clear(); }, "m must not be null");
  refused([](A& x) { x.n.clear(); }, "n must not be null");
  refused([](A& x) { x.k.clear(); }, "k must not be null");
  refused([](A& x) { x.alphas.clear(); }, "alpha must not be null");
  refused([](A& x) { x.betas.clear(); }, "beta must not be null");
  refused([](A& x) { x.lda.clear(); }, "lda must not be null");
  refused([](A& x) { x.ldb.clear(); }, "ldb must not be null");
  refused([](A& x) { x.ldc.clear(); }, "ldc must not be null");
  refused([](A& x) { x.a.clear(); }, "product 0: a must not be null");
  refused([](A& x) { x.b[1] = nullptr; }, "product 1: b must not be null");
  refused([](A& x) { x.c[2] = nullptr, x.betas[0] = T{1}; }, "product 2: c must not be null");
  refused([](A& x) { x.c.clear(); }, "product 0: c must not be null", OZB_INVALID_ARGUMENT, false);
  refused([](A& x) { x.op_a[0] = 7; }, "op_a[0] must be OZB_NONE, OZB_TRANSPOSE or OZB_CONJUGATE_TRANSPOSE: 7");
  refused([](A& x) { x.k[0] = -1; }, "product 0: k must not be negative: -1");
  refused([](A& x) { x.c[1] = x.c[0]; }, "c must keep the products apart: C of 0 and of 1 overlap", OZB_INVALID_ARGUMENT,
          false);
  refused([](A& x) { x.target = nullptr; }, "target must not be null");
  refused([](A& x) { x.target = "best"; }, "target 'best'");
  refused([](A& x) { x.target = "componentwise:1e-30"; }, "product 0: target ", OZB_CANNOT_CERTIFY);
  A x;
  x.choices = 64;
  std::array<ozb_decision*, products> decisions{};
  EXPECT_EQ(x.decide_pointers(decisions.data()), OZB_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(ozb_last_error()).find("choices must be"), 0U) << ozb_last_error();
  EXPECT_EQ(x.decide_pointers(nullptr), OZB_INVALID_ARGUMENT);
  EXPECT_STREQ(ozb_last_error(), "decisions must not be null");
  EXPECT_EQ(x.pointers_decided(nullptr, 1, 0, nullptr), OZB_INVALID_ARGUMENT);
  EXPECT_STREQ(ozb_last_error(), "decisions must not be null");
  EXPECT_EQ(x.pointers_decided(decisions.data(), 3, 0, nullptr), OZB_INVALID_ARGUMENT);
  EXPECT_STREQ(ozb_last_error(), "decisions[0] must not be null");
  if constexpr (complex<T>) {
    const T zero{};
    T c[] = {T{7}};
    const auto call = functions<T>(ozb_dgemm_strided_batched, ozb_sgemm_strided_batched, ozb_zgemm_strided_batched,
                                   ozb_cgemm_strided_batched);
    EXPECT_EQ(
        call(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, nullptr, &zero, 1, 0, &zero, 1, 0, &zero, c, 1, 0, 1, "cr", nullptr),
        OZB_INVALID_ARGUMENT);
    EXPECT_STREQ(ozb_last_error(), "alpha must not be null");
    EXPECT_EQ(
        call(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, &zero, &zero, 1, 0, &zero, 1, 0, nullptr, c, 1, 0, 1, "cr", nullptr),
        OZB_INVALID_ARGUMENT);
    EXPECT_STREQ(ozb_last_error(), "beta must not be null");
    EXPECT_EQ(c[0], T{7});
  }
}

/// If a decision is too weak for only one product, all are computed and the status names that product.
TYPED_TEST(CBatches, SayWhichProductIsNotProven) {
  using T = TypeParam;
  Arguments<T> x;
  x.choices = OZB_NO_NATIVE + OZB_COUNT_PRODUCTS;
  x.target = wide<T> ? "componentwise:1e-12" : "componentwise:1e-6";
  std::fill(x.memory_a.begin(), x.memory_a.end(), T{1});
  for (std::size_t t = 0; t < 12; ++t) x.memory_b[t] = x.memory_b[t + 24] = T{1};
  std::array<ozb_decision*, products> decisions{};
  ASSERT_EQ(x.decide_pointers(decisions.data()), OZB_SUCCESS) << ozb_last_error();
  std::array<ozb_certificate*, products> certificates{};
  EXPECT_EQ(x.pointers_decided(decisions.data(), 1, 0, certificates.data()), OZB_DOES_NOT_HOLD);
  EXPECT_EQ(std::string(ozb_last_error()).find("product 1: target componentwise:"), 0U) << ozb_last_error();
  const auto records = taken(certificates);
  EXPECT_EQ(records[0].at("holds"), true);
  EXPECT_EQ(records[1].at("holds"), false);
  EXPECT_EQ(records[2].at("holds"), true);
  EXPECT_EQ(x.memory_c[12], T{4});
  for (auto* decision : decisions) ozb_decision_destroy(decision);
}

}  // namespace
}  // namespace ozbound::c_batches_test
