// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound.h"

#include "api/blas_calls.hpp"

#include <omp.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ozbound/batch.hpp"
#include "ozbound/native.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "properties/disturbed.hpp"
#include "support/replaces_new.hpp"

// The C interface agrees with C++'s, with statuses for exceptions.

namespace {

thread_local int allocations_left = -1;  ///< before one of this thread fails; negative: none fails

[[maybe_unused]] void* scarce_allocation(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#if OZBOUND_REPLACES_NEW
void* operator new(std::size_t size) { return scarce_allocation(size); }
void* operator new[](std::size_t size) { return scarce_allocation(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace ozbound::c_api_test {
namespace {

using test::BlasCall;

struct Destroy {
  void operator()(ozb_decision* x) const { ozb_decision_destroy(x); }
  void operator()(ozb_certificate* x) const { ozb_certificate_destroy(x); }
};
using DecisionHandle = std::unique_ptr<ozb_decision, Destroy>;
using CertificateHandle = std::unique_ptr<ozb_certificate, Destroy>;

/// Valid arguments for either precision: 3 products of 2 x 4 by 4 x 3, row-major; a single call uses the first product.
template <class T>
struct Arguments {
  std::vector<T> memory_a = std::vector<T>(80, 1), memory_b = std::vector<T>(80, 1), memory_c = std::vector<T>(80, 7);
  int layout = OZB_ROW_MAJOR, op_a = OZB_NONE, op_b = OZB_NONE;
  std::int64_t m = 2, n = 3, k = 4;
  T alpha = 1;
  const T* a = memory_a.data();
  std::int64_t lda = 4, stride_a = 8;
  const T* b = memory_b.data();
  std::int64_t ldb = 3, stride_b = 12;
  T beta = 0;
  T* c = memory_c.data();
  std::int64_t ldc = 3, stride_c = 6, count = 3;
  const char* target = "dgemm";
  int choices = OZB_DEFAULT;

  int gemm(ozb_certificate** certificate) {
    if constexpr (std::is_same_v<T, double>)
      return ozb_dgemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, certificate);
    else
      return ozb_sgemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, certificate);
  }

  int decide(ozb_decision** decision) {
    if constexpr (std::is_same_v<T, double>)
      return ozb_decide_d(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, choices, decision);
    else
      return ozb_decide_s(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target, choices, decision);
  }

  int gemm_decided(const ozb_decision* decision, std::int64_t workspace, ozb_certificate** certificate) {
    if constexpr (std::is_same_v<T, double>)
      return ozb_dgemm_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, decision, workspace,
                               certificate);
    else
      return ozb_sgemm_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, decision, workspace,
                               certificate);
  }

  int batch(ozb_certificate** certificates) {
    if constexpr (std::is_same_v<T, double>)
      return ozb_dgemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                                       stride_c, count, target, certificates);
    else
      return ozb_sgemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                                       stride_c, count, target, certificates);
  }

  int decide_batch(ozb_decision** decisions) {
    if constexpr (std::is_same_v<T, double>)
      return ozb_decide_d_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                                          stride_c, count, target, choices, decisions);
    else
      return ozb_decide_s_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,
                                          stride_c, count, target, choices, decisions);
  }

  int batch_decided(const ozb_decision* const* decisions, std::int64_t decision_count, std::int64_t workspace,
                    ozb_certificate** certificates) {
    if constexpr (std::is_same_v<T, double>)
      return ozb_dgemm_strided_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                                               ldc, stride_c, count, decisions, decision_count, workspace, certificates);
    else
      return ozb_sgemm_strided_batched_decided(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                                               ldc, stride_c, count, decisions, decision_count, workspace, certificates);
  }
};

std::string json_of(const ozb_certificate* certificate) {
  const char* json = nullptr;
  EXPECT_EQ(ozb_certificate_json(certificate, &json), OZB_SUCCESS);
  return json == nullptr ? "" : json;
}

std::string json_of(const ozb_decision* decision) {
  const char* json = nullptr;
  EXPECT_EQ(ozb_decision_json(decision, &json), OZB_SUCCESS);
  return json == nullptr ? "" : json;
}

template <class T>
class CApi : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(CApi, Types);

/// The arguments of a BlasCall for the C interface.
template <class T>
Arguments<T> arguments_of(BlasCall<T>& call, const char* target) {
  static constexpr int c_ops[] = {OZB_NONE, OZB_TRANSPOSE, OZB_CONJUGATE_TRANSPOSE};
  const auto op = [](Op x) { return c_ops[std::find(std::begin(test::ops), std::end(test::ops), x) - std::begin(test::ops)]; };
  Arguments<T> x;
  x.layout = call.layout == Layout::row_major ? OZB_ROW_MAJOR : OZB_COLUMN_MAJOR;
  x.op_a = op(call.op_a), x.op_b = op(call.op_b);
  x.m = call.product.m(), x.n = call.product.n(), x.k = call.product.k();
  x.alpha = call.alpha, x.beta = call.beta;
  x.a = call.a.data(), x.lda = call.a.ld;
  x.b = call.b.data(), x.ldb = call.b.ld;
  x.c = call.c.data(), x.ldc = call.c.ld;
  x.target = target;
  return x;
}

/// C gives the bits, certificates and decisions of C++, and nothing beside C is written.
TYPED_TEST(CApi, IsTheSameAsInCpp) {
  test::RandomBits random(1);
  static const char* const targets[] = {"dgemm", "dgemm-typical", "cr", "relative:1e-6", "componentwise:0x1p-17"};
  for (const auto layout : test::layouts)
    for (const auto op_a : test::ops)
      for (const auto op_b : test::ops) {
        const char* target = random.pick(targets);
        BlasCall<TypeParam> call(layout, op_a, op_b, random.between(1, 6), random.between(1, 6), random.between(0, 7), 3,
                                 random);
        call.counts = false;
        auto again = call, replayed = call;
        const auto expected = call.run(parse_target(target));
        auto x = arguments_of(again, target);
        auto y = arguments_of(replayed, target);
        ozb_certificate* certificate = nullptr;
        ozb_decision* decision = nullptr;
        ASSERT_EQ(x.decide(&decision), OZB_SUCCESS) << ozb_last_error();
        ASSERT_EQ(x.gemm(&certificate), OZB_SUCCESS) << ozb_last_error();
        const CertificateHandle owner(certificate);
        const DecisionHandle decision_owner(decision);
        ASSERT_EQ(nlohmann::json::parse(json_of(certificate)), to_json(expected));
        ASSERT_EQ(nlohmann::json::parse(json_of(decision)), to_json(replayed.decision(parse_target(target))));
        ASSERT_TRUE(test::same_bits(again.computed(expected).c, call.computed(expected).c));
        ASSERT_TRUE(again.c.canaries_live());

        ozb_decision* read = nullptr;
        ASSERT_EQ(ozb_decision_from_json(json_of(decision).c_str(), &read), OZB_SUCCESS) << ozb_last_error();
        const DecisionHandle read_owner(read);
        ASSERT_EQ(y.gemm_decided(read, 0, nullptr), OZB_SUCCESS) << ozb_last_error();
        ASSERT_TRUE(test::same_bits(replayed.computed(expected).c, call.computed(expected).c));
      }
}

TYPED_TEST(CApi, CertificatesTellWhatTheyKnow) {
  test::RandomBits random(2);
  BlasCall<TypeParam> call(Layout::row_major, Op::none, Op::none, 3, 4, 5, 0, random);
  call.counts = false;
  auto again = call;
  const auto expected = call.run(Target::dgemm());
  ozb_certificate* certificate = nullptr;
  ASSERT_EQ(arguments_of(again, "dgemm").gemm(&certificate), OZB_SUCCESS);
  const CertificateHandle owner(certificate);
  int holds = 0;
  double ratio = 0, largest = 0, bound = 0;
  EXPECT_EQ(ozb_certificate_holds(certificate, &holds), OZB_SUCCESS);
  EXPECT_EQ(ozb_certificate_ratio(certificate, &ratio), OZB_SUCCESS);
  EXPECT_EQ(ozb_certificate_largest_bound(certificate, &largest), OZB_SUCCESS);
  EXPECT_EQ(holds, 1);
  EXPECT_EQ(ratio, expected.ratio);
  EXPECT_EQ(largest, expected.largest_bound);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) {
      EXPECT_EQ(ozb_certificate_bound(certificate, i, j, -3.5, &bound), OZB_SUCCESS);
      EXPECT_EQ(bound, expected.bound.upper(i, j, 3.5));
    }
  for (const auto& [i, j, word] :
       {std::tuple(-1, 0, "i "), std::tuple(3, 0, "i "), std::tuple(0, -1, "j "), std::tuple(0, 4, "j ")}) {
    EXPECT_EQ(ozb_certificate_bound(certificate, i, j, 1, &bound), OZB_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(ozb_last_error()).find(word), 0u) << ozb_last_error();
    EXPECT_EQ(bound, std::numeric_limits<double>::infinity()) << "no bound that could be believed";
  }
}

/// Choices give the decisions of the same options in C++, and invalid choices are refused.
TYPED_TEST(CApi, ChoicesAreThoseOfCpp) {
  test::RandomBits random(4);
  BlasCall<TypeParam> call(Layout::row_major, Op::none, Op::none, 3, 4, 5, 0, random);
  call.counts = false;
  auto x = arguments_of(call, "componentwise:0x1p-20");
  const auto expect = [&](int choices, const BlasOptions& options) {
    ozb_decision* decision = nullptr;
    x.choices = choices;
    ASSERT_EQ(x.decide(&decision), OZB_SUCCESS) << ozb_last_error();
    const DecisionHandle owner(decision);
    EXPECT_EQ(nlohmann::json::parse(json_of(decision)), to_json(call.decision(parse_target(x.target), options))) << choices;
  };
  expect(OZB_DEFAULT, {});
  expect(OZB_NO_NATIVE, {.native = false});
  expect(OZB_COUNT_PRODUCTS, {.costs = &test::products});
  expect(OZB_NO_NATIVE + OZB_COUNT_PRODUCTS, {.native = false, .costs = &test::products});
  expect(OZB_NO_NATIVE + OZB_COUNT_PRODUCTS + OZB_NO_RESIDUES, {.native = false, .residues = false, .costs = &test::products});
  for (const int none : {-1, 8}) {
    ozb_decision* decision = nullptr;
    x.choices = none;
    EXPECT_EQ(x.decide(&decision), OZB_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(ozb_last_error()).find("choices must be"), 0u) << ozb_last_error();
  }
}

/// With a decision made for other data, C is computed and the status says that nothing is proven.
TYPED_TEST(CApi, ADecisionMayNotHold) {
  Arguments<TypeParam> easy, hard;
  ozb_decision* decision = nullptr;
  ASSERT_EQ(ozb_decision_from_json(R"({"schema": "ozbound-decision-1", "target": "dgemm", "method": "slices",
                                       "plan": "balanced:1x1:cut=2:exact", "m": 2, "n": 3, "k": 4})",
                                   &decision),
            OZB_SUCCESS)
      << ozb_last_error();
  const DecisionHandle owner(decision);
  EXPECT_EQ(easy.gemm_decided(decision, 0, nullptr), OZB_SUCCESS);
  std::fill(hard.memory_a.begin(), hard.memory_a.end(), static_cast<TypeParam>(1.0 / 3));
  ozb_certificate* certificate = nullptr;
  ASSERT_EQ(hard.gemm_decided(decision, 0, &certificate), OZB_DOES_NOT_HOLD);
  EXPECT_EQ(std::string(ozb_last_error()).find("target dgemm is not proven: the error bound of entry ("), 0u)
      << ozb_last_error();
  const CertificateHandle certificate_owner(certificate);
  int holds = 1;
  EXPECT_EQ(ozb_certificate_holds(certificate, &holds), OZB_SUCCESS);
  EXPECT_EQ(holds, 0);
  EXPECT_NE(hard.memory_c[0], 7) << "C was not computed";

  std::array<ozb_certificate*, 3> three{};
  std::fill(hard.memory_a.begin(), hard.memory_a.begin() + 8, static_cast<TypeParam>(1));
  EXPECT_EQ(hard.batch_decided(&decision, 1, 0, three.data()), OZB_DOES_NOT_HOLD);
  EXPECT_EQ(std::string(ozb_last_error()).find("product 1: target dgemm is not proven"), 0u) << ozb_last_error();
  for (auto* each : three) EXPECT_NE(each, nullptr), ozb_certificate_destroy(each);
}

TYPED_TEST(CApi, Batches) {
  using T = TypeParam;
  test::RandomBits random(3);
  Arguments<T> x;
  for (auto* memory : {&x.memory_a, &x.memory_b})
    for (T& element : *memory) element = static_cast<T>(random.below(1 << 20)) / 3;
  x.stride_a = 0;
  auto y = x;
  y.a = y.memory_a.data(), y.b = y.memory_b.data(), y.c = y.memory_c.data();
  const auto expected = gemm_strided_batched(Layout::row_major, Op::none, Op::none, 2, 3, 4, T{1}, y.a, 4, 0, y.b, 3, 12, T{0},
                                             y.c, 3, 6, 3, Target::dgemm());
  std::array<ozb_decision*, 3> decisions{};
  std::array<ozb_certificate*, 3> certificates{};
  ASSERT_EQ(x.batch(certificates.data()), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.memory_c, y.memory_c);
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(nlohmann::json::parse(json_of(certificates[t])), to_json(expected[t]));
    ozb_certificate_destroy(certificates[t]);
  }
  ASSERT_EQ(x.decide_batch(decisions.data()), OZB_SUCCESS) << ozb_last_error();
  x.memory_c.assign(80, 7);
  ASSERT_EQ(x.batch_decided(decisions.data(), 3, 1 << 20, nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.memory_c, y.memory_c);
  x.memory_c.assign(80, 7);
  ASSERT_LE(x.batch_decided(decisions.data(), 1, 0, nullptr), OZB_DOES_NOT_HOLD) << ozb_last_error();
  EXPECT_TRUE(std::equal(x.memory_c.begin(), x.memory_c.begin() + 6, y.memory_c.begin())) << "the decision's own product";
  EXPECT_NE(x.memory_c[17], 7);
  x.memory_c.assign(80, 7);
  std::array<const ozb_decision*, 3> gap{decisions[0], nullptr, decisions[2]};
  EXPECT_EQ(x.batch_decided(gap.data(), 3, 0, nullptr), OZB_INVALID_ARGUMENT);
  EXPECT_STREQ(ozb_last_error(), "decisions[1] must not be null");
  EXPECT_EQ(x.memory_c, std::vector<T>(80, 7));
  x.count = 0;
  EXPECT_EQ(x.batch(nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.decide_batch(nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.batch_decided(nullptr, 0, 0, nullptr), OZB_SUCCESS) << ozb_last_error();
  for (auto* decision : decisions) ozb_decision_destroy(decision);
}

/// Changes one argument of every call and checks that each call refuses it by name, returns no handle and leaves C unchanged.
template <class T, class Change>
void expect_refused(const Change& change, const std::string& word, int status = OZB_INVALID_ARGUMENT) {
  Arguments<T> x;
  change(x);
  const auto judge = [&](int returned, const auto& handle, const char* call) {
    EXPECT_EQ(returned, status) << call << ", " << word;
    const std::string error = ozb_last_error(), product = "product 0: ";  // for calls that may refuse each product of a batch
    EXPECT_EQ(error.find(word), error.starts_with(product) ? product.size() : 0u) << call << ": " << error;
    EXPECT_EQ(handle, nullptr) << call << ", " << word;
    EXPECT_EQ(x.memory_c, std::vector<T>(80, 7)) << call << " wrote C: " << word;
  };
  Arguments<T> fine;
  ozb_decision* decision = nullptr;
  ASSERT_EQ(fine.decide(&decision), OZB_SUCCESS);
  const DecisionHandle owner(decision);
  std::array<ozb_certificate*, 3> certificates;
  std::array<ozb_decision*, 3> decisions;
  certificates.fill(reinterpret_cast<ozb_certificate*>(&x));
  judge(x.gemm(certificates.data()), certificates[0], "gemm");
  certificates.fill(reinterpret_cast<ozb_certificate*>(&x));
  judge(x.batch(certificates.data()), certificates[2], "batch");
  if (word.find("target ") != 0) {
    certificates.fill(reinterpret_cast<ozb_certificate*>(&x));
    judge(x.gemm_decided(decision, 0, certificates.data()), certificates[0], "gemm_decided");
    certificates.fill(reinterpret_cast<ozb_certificate*>(&x));
    judge(x.batch_decided(&decision, 1, 0, certificates.data()), certificates[2], "batch_decided");
  }
  if (word.find("c ") == 0 || word.find("overlap") != std::string::npos) return;  // deciding does not write C
  decisions.fill(reinterpret_cast<ozb_decision*>(&x));
  judge(x.decide(decisions.data()), decisions[0], "decide");
  decisions.fill(reinterpret_cast<ozb_decision*>(&x));
  judge(x.decide_batch(decisions.data()), decisions[2], "decide_batch");
}

TYPED_TEST(CApi, EveryRefusalNamesItsArgument) {
  using A = Arguments<TypeParam>;
  using T = TypeParam;
  expect_refused<T>([](A& x) { x.layout = 0; }, "layout must be OZB_ROW_MAJOR or OZB_COLUMN_MAJOR: 0");
  expect_refused<T>([](A& x) { x.op_a = 'N'; }, "op_a must be OZB_NONE");
  expect_refused<T>([](A& x) { x.op_b = -1; }, "op_b must be OZB_NONE");
  expect_refused<T>([](A& x) { x.m = -1; }, "m ");
  expect_refused<T>([](A& x) { x.n = std::numeric_limits<std::int64_t>::min(); }, "n ");
  expect_refused<T>([](A& x) { x.k = -1; }, "k ");
  expect_refused<T>([](A& x) { x.a = nullptr; }, "a ");
  expect_refused<T>([](A& x) { x.b = nullptr; }, "b ");
  expect_refused<T>([](A& x) { x.c = nullptr; }, "c ");
  expect_refused<T>([](A& x) { x.lda = 3; }, "lda ");
  expect_refused<T>([](A& x) { x.ldb = -3; }, "ldb ");
  expect_refused<T>([](A& x) { x.ldc = 0; }, "ldc ");
  expect_refused<T>([](A& x) { x.lda = std::numeric_limits<std::int64_t>::max(); }, "a is beyond the address space");
  expect_refused<T>([](A& x) { x.c = x.memory_a.data() + 3; }, "a must not overlap c");
  expect_refused<T>([](A& x) { x.target = nullptr; }, "target must not be null");
  expect_refused<T>([](A& x) { x.target = ""; }, "target ");
  expect_refused<T>([](A& x) { x.target = "componentwise:-1"; }, "target ");
  expect_refused<T>([](A& x) { x.target = "componentwise:1e-30"; }, "target ", OZB_CANNOT_CERTIFY);
}

TYPED_TEST(CApi, BatchArgumentsAreRefused) {
  using T = TypeParam;
  const auto refused = [](const auto& change, const std::string& word) {
    Arguments<T> x;
    change(x);
    EXPECT_EQ(x.batch(nullptr), OZB_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(ozb_last_error()).find(word), 0u) << ozb_last_error();
    EXPECT_EQ(x.memory_c, std::vector<T>(80, 7)) << word;
  };
  refused([](auto& x) { x.count = -1; }, "batch_count ");
  refused([](auto& x) { x.stride_a = -1; }, "stride_a ");
  refused([](auto& x) { x.stride_b = -1; }, "stride_b ");
  refused([](auto& x) { x.stride_c = 0; }, "stride_c ");
  Arguments<T> x;
  x.choices = OZB_NO_NATIVE + OZB_COUNT_PRODUCTS;  // slices, which need a workspace
  ozb_decision* decision = nullptr;
  ASSERT_EQ(x.decide(&decision), OZB_SUCCESS);
  const DecisionHandle owner(decision);
  for (const auto& [given, count, workspace, word] :
       {std::tuple<ozb_decision* const*, int, int, const char*>{&decision, -1, 0, "decision_count "},
        {&decision, 0, 0, "decisions must be one"},
        {nullptr, 1, 0, "decisions must not be null"},
        {&decision, 1, -1, "workspace "},
        {&decision, 1, 1, "product 0: workspace "}}) {
    EXPECT_EQ(x.batch_decided(given, count, workspace, nullptr), OZB_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(ozb_last_error()).find(word), 0u) << ozb_last_error();
  }
  EXPECT_EQ(x.gemm_decided(nullptr, 0, nullptr), OZB_INVALID_ARGUMENT);
  EXPECT_STREQ(ozb_last_error(), "decision must not be null");
  EXPECT_EQ(x.decide(nullptr), OZB_INVALID_ARGUMENT);
  EXPECT_STREQ(ozb_last_error(), "decision must not be null");
  EXPECT_EQ(x.decide_batch(nullptr), OZB_INVALID_ARGUMENT);
  EXPECT_STREQ(ozb_last_error(), "decisions must not be null");
}

TYPED_TEST(CApi, EmptyAndUnread) {
  using T = TypeParam;
  Arguments<T> x;
  x.k = 0;
  x.a = x.b = nullptr;
  x.memory_c.assign(80, std::numeric_limits<T>::quiet_NaN());  // beta = 0 does not read it
  EXPECT_EQ(x.gemm(nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.memory_c[5], T{0});
  EXPECT_TRUE(std::isnan(x.memory_c[6]));
  x.k = 4, x.alpha = 0, x.beta = 1;
  EXPECT_EQ(x.gemm(nullptr), OZB_SUCCESS) << ozb_last_error();
  x.m = 0, x.c = nullptr, x.b = x.memory_b.data();
  EXPECT_EQ(x.gemm(nullptr), OZB_SUCCESS) << ozb_last_error();
  x.beta = 0, x.m = 2, x.alpha = 1, x.a = x.memory_a.data();
  ozb_decision* decision = nullptr;
  EXPECT_EQ(x.decide(&decision), OZB_SUCCESS) << "C is not needed: " << ozb_last_error();
  ozb_decision_destroy(decision);
}

TEST(CApiHandles, NullIsRefused) {
  int holds = 1;
  double x = 0;
  std::int64_t least = 1, full = 1;
  const char* json = "";
  ozb_decision* decision = nullptr;
  const auto refused = [](int status, const char* text) {
    EXPECT_EQ(status, OZB_INVALID_ARGUMENT);
    EXPECT_STREQ(ozb_last_error(), text);
  };
  refused(ozb_certificate_holds(nullptr, &holds), "certificate must not be null");
  refused(ozb_certificate_ratio(nullptr, &x), "certificate must not be null");
  refused(ozb_certificate_largest_bound(nullptr, &x), "certificate must not be null");
  refused(ozb_certificate_bound(nullptr, 0, 0, 1, &x), "certificate must not be null");
  refused(ozb_certificate_json(nullptr, &json), "certificate must not be null");
  EXPECT_EQ(holds, 0);
  EXPECT_EQ(x, std::numeric_limits<double>::infinity());
  EXPECT_EQ(json, nullptr);
  refused(ozb_decision_json(nullptr, &json), "decision must not be null");
  refused(ozb_decision_workspace(nullptr, &least, &full), "decision must not be null");
  EXPECT_EQ(least + full, 0);
  refused(ozb_decision_from_json(nullptr, &decision), "json must not be null");
  refused(ozb_decision_from_json("{}", nullptr), "decision must not be null");
  refused(ozb_decision_from_json("{", &decision), "decision: is not JSON");
  refused(ozb_decision_from_json("[]", &decision), "decision: must be a JSON object");
  EXPECT_EQ(decision, nullptr);
  ozb_decision_destroy(nullptr);
  ozb_certificate_destroy(nullptr);

  Arguments<double> call;
  ozb_certificate* certificate = nullptr;
  ASSERT_EQ(call.gemm(&certificate), OZB_SUCCESS);
  ASSERT_EQ(call.decide(&decision), OZB_SUCCESS);
  refused(ozb_certificate_holds(certificate, nullptr), "holds must not be null");
  refused(ozb_certificate_ratio(certificate, nullptr), "ratio must not be null");
  refused(ozb_certificate_largest_bound(certificate, nullptr), "bound must not be null");
  refused(ozb_certificate_bound(certificate, 0, 0, 1, nullptr), "bound must not be null");
  refused(ozb_certificate_json(certificate, nullptr), "json must not be null");
  refused(ozb_decision_json(decision, nullptr), "json must not be null");
  refused(ozb_decision_workspace(decision, nullptr, &full), "least must not be null");
  refused(ozb_decision_workspace(decision, &least, nullptr), "full must not be null");
  const double i[] = {0, 1};
  refused(ozb_decision_workspace_z(nullptr, i, i, &least, &full), "decision must not be null");
  refused(ozb_decision_workspace_z(decision, nullptr, i, &least, &full), "alpha must not be null");
  refused(ozb_decision_workspace_z(decision, i, nullptr, &least, &full), "beta must not be null");
  ozb_decision_destroy(decision);
  ozb_certificate_destroy(certificate);
}

TEST(CApiHandles, TheWorkspaceOfADecisionIsEnough) {
  Arguments<double> x;
  ozb_decision* decision = nullptr;
  ASSERT_EQ(ozb_decision_from_json(R"({"schema": "ozbound-decision-1", "target": "dgemm", "method": "slices",
                                       "plan": "balanced:9x9:cut=10:exact", "m": 2, "n": 3, "k": 4})",
                                   &decision),
            OZB_SUCCESS);
  const DecisionHandle owner(decision);
  std::int64_t least = 0, full = 0;
  ASSERT_EQ(ozb_decision_workspace(decision, &least, &full), OZB_SUCCESS);
  EXPECT_LT(0, least);
  EXPECT_LE(least, full);
  EXPECT_EQ(x.gemm_decided(decision, least, nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.gemm_decided(decision, full, nullptr), OZB_SUCCESS) << ozb_last_error();
  EXPECT_EQ(x.gemm_decided(decision, least - 1, nullptr), OZB_INVALID_ARGUMENT);
}

TEST(CApiStatus, EveryStatusHasAText) {
  std::vector<std::string> texts;
  for (int status = -1; status <= OZB_CANCELLED + 1; ++status) texts.emplace_back(ozb_status_text(status));
  EXPECT_EQ(texts.front(), "no status of Ozbound");
  EXPECT_EQ(texts.back(), texts.front());
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), texts.size() - 1);
}

TEST(CApiCancellation, EndsTheCallsOfAThread) {
  ozb_cancellation* cancellation = nullptr;
  ASSERT_EQ(ozb_cancellation_create(&cancellation), OZB_SUCCESS);
  Arguments<double> x;
  ozb_set_cancellation(cancellation);
  EXPECT_EQ(x.gemm(nullptr), OZB_SUCCESS) << "nothing is requested yet";
  const auto expected = x.memory_c;

  x.memory_c.assign(x.memory_c.size(), 7);
  std::thread([&] { ozb_cancellation_request(cancellation); }).join();
  ozb_certificate* certificate = nullptr;
  EXPECT_EQ(x.gemm(&certificate), OZB_CANCELLED);
  EXPECT_STREQ(ozb_last_error(), "cancelled before C was written");
  EXPECT_EQ(certificate, nullptr);
  EXPECT_EQ(x.memory_c, std::vector<double>(x.memory_c.size(), 7));

  ozb_decision* decision = nullptr;
  EXPECT_EQ(ozb_decide_d(x.layout, x.op_a, x.op_b, x.m, x.n, x.k, x.alpha, x.a, x.lda, x.b, x.ldb, x.beta, x.c, x.ldc, x.target,
                         x.choices, &decision),
            OZB_CANCELLED);
  EXPECT_EQ(decision, nullptr);

  int of_another_thread = -1;
  std::thread([&] { of_another_thread = x.gemm(nullptr); }).join();
  EXPECT_EQ(of_another_thread, OZB_SUCCESS);

  ozb_cancellation_destroy(cancellation);
  EXPECT_EQ(x.gemm(nullptr), OZB_CANCELLED) << "it lives on where it is set";
  ozb_set_cancellation(nullptr);
  EXPECT_EQ(x.gemm(nullptr), OZB_SUCCESS);
  EXPECT_EQ(x.memory_c, expected);
}

/// Calls run on the machine that their thread has set, and C's certificate is that of C++.
TEST(CApiMachine, IsWhatTheThreadsCallsRunOn) {
  for (const auto make : {ozb_machine_cpu, ozb_machine_detect}) {
    ozb_machine* machine = nullptr;
    ASSERT_EQ(make(1, &machine), OZB_SUCCESS);
    const char* backends = nullptr;
    ASSERT_EQ(ozb_machine_backends(machine, &backends), OZB_SUCCESS);
    EXPECT_EQ(std::string(backends).substr(0, 4), "cpu\n");
    ASSERT_EQ(ozb_set_machine(machine, OZB_HOST), OZB_SUCCESS);
    ozb_machine_destroy(machine);
    for (const char* target : {"dgemm", "cr", "componentwise:1e-6"}) {
      Arguments<double> x;
      x.target = target;
      ozb_certificate* out = nullptr;
      EXPECT_EQ(x.gemm(&out), OZB_SUCCESS) << "the machine lives on where it is set";
      const CertificateHandle certificate(out);
      const char* json = nullptr;
      ASSERT_EQ(ozb_certificate_json(certificate.get(), &json), OZB_SUCCESS);
      std::vector<double> c(80, 7);
      const Product product{row_major(x.a, x.m, x.k, x.lda), row_major(x.b, x.k, x.n, x.ldb),
                            row_major(c.data(), x.m, x.n, x.ldc)};
      const auto expected = multiply(product, parse_target(target), Machine::cpu(1));
      EXPECT_EQ(nlohmann::json::parse(json), to_json(expected.certificate)) << target;
      EXPECT_EQ(x.memory_c, c) << target;
    }
    ASSERT_EQ(ozb_set_machine(nullptr, OZB_HOST), OZB_SUCCESS);
  }
}

TEST(CApiMachine, RefusesWhatIsNotHere) {
  ozb_machine* machine = nullptr;
  EXPECT_EQ(ozb_machine_cpu(-1, &machine), OZB_INVALID_ARGUMENT);
  EXPECT_EQ(machine, nullptr);
  EXPECT_EQ(ozb_machine_cpu(1, nullptr), OZB_INVALID_ARGUMENT);
  ASSERT_EQ(ozb_machine_cpu(1, &machine), OZB_SUCCESS);
  EXPECT_EQ(ozb_set_machine(machine, 0), OZB_INVALID_ARGUMENT) << "no device";
  EXPECT_THAT(ozb_last_error(), testing::HasSubstr("the memory of CUDA device 0"));
  EXPECT_EQ(ozb_set_machine(nullptr, 0), OZB_INVALID_ARGUMENT);
  EXPECT_EQ(ozb_set_machine(machine, -2), OZB_INVALID_ARGUMENT);
  EXPECT_EQ(Arguments<double>().gemm(nullptr), OZB_SUCCESS) << "what was set stays";
  EXPECT_EQ(ozb_machine_backends(nullptr, nullptr), OZB_INVALID_ARGUMENT);
  ozb_machine_destroy(machine);
  ozb_machine_destroy(nullptr);
}

TEST(CApiCancellation, NullIsFine) {
  ozb_cancellation_request(nullptr);
  ozb_cancellation_destroy(nullptr);
  EXPECT_EQ(ozb_cancellation_create(nullptr), OZB_INVALID_ARGUMENT);
}

/// Any allocation may fail: the caller is told so, and handles returned before stay intact.
TEST(CApiMemory, EveryAllocationMayFail) {
  if (!OZBOUND_REPLACES_NEW) GTEST_SKIP() << "allocations cannot fail in this build";
  ASSERT_EQ(Arguments<double>().gemm(nullptr), OZB_SUCCESS) << "the first call reads the calibration";
  for (const char* target : {"dgemm", "cr", "relative:1e-9"}) {
    int failures = 0;
    for (int status = OZB_OUT_OF_MEMORY; status != OZB_SUCCESS; failures += 1 + failures / 24) {
      Arguments<double> x;
      x.target = target;
      for (std::size_t t = 0; t < 80; t += 4)  // midpoints: slices leave them open
        x.memory_a[t] = 1, x.memory_a[t + 1] = 0x1p-53, x.memory_a[t + 2] = x.memory_a[t + 3] = 0;
      std::array<ozb_certificate*, 3> certificates{};
      allocations_left = failures;
      status = x.batch(certificates.data());
      allocations_left = -1;
      ASSERT_TRUE(status == OZB_SUCCESS || status == OZB_OUT_OF_MEMORY) << status << ": " << ozb_last_error();
      for (auto* certificate : certificates) {
        ASSERT_EQ(certificate == nullptr, status == OZB_OUT_OF_MEMORY);
        ozb_certificate_destroy(certificate);
      }
    }
    EXPECT_GT(failures, 50);
    EXPECT_STREQ(ozb_last_error(), "memory is exhausted");
  }
}

/// Exact products report failed allocations too, although the superaccumulator's threads must not let an exception escape.
TEST(CApiMemory, ExactProductsMayFailToo) {
  if (!OZBOUND_REPLACES_NEW) GTEST_SKIP() << "allocations cannot fail in this build";
  ozb_decision* decision = nullptr;
  ASSERT_EQ(ozb_decision_from_json(R"({"schema": "ozbound-decision-1", "target": "cr", "method": "exact", "m": 2, "n": 3,
                                       "k": 4})",
                                   &decision),
            OZB_SUCCESS);
  const DecisionHandle owner(decision);
  int failures = 0;
  for (int status = OZB_OUT_OF_MEMORY; status != OZB_SUCCESS; ++failures) {
    Arguments<double> x;
    allocations_left = failures;
    status = x.gemm_decided(decision, 0, nullptr);
    allocations_left = -1;
    ASSERT_TRUE(status == OZB_SUCCESS || status == OZB_OUT_OF_MEMORY) << status << ": " << ozb_last_error();
  }
  EXPECT_GT(failures, 5);
}

/// Checks that a caller that flushes subnormals or rounds in another mode gets the same C, JSON and numbers; alpha and beta are
/// 2^-1074.
template <class T>
void expect_the_same_in_any_environment(T least, T large) {
  Arguments<T> x;
  x.alpha = x.beta = least;
  for (std::size_t t = 0; t < 80; ++t) x.memory_a[t] = T{1} / static_cast<T>(t + 3), x.memory_c[t] = large;
  const auto memory_c = x.memory_c;
  const auto told = [&x, &memory_c] {
    std::copy(memory_c.begin(), memory_c.end(), x.memory_c.begin());
    std::vector<std::string> text;
    ozb_decision *decision = nullptr, *read = nullptr;
    ozb_certificate* certificate = nullptr;
    const char* json = nullptr;
    int status = x.decide(&decision);
    status = std::max(status, ozb_decision_json(decision, &json));
    const DecisionHandle owns_decision(decision);
    text.emplace_back(json);
    status = std::max(status, ozb_decision_from_json(json, &read));
    const DecisionHandle owns_read(read);
    status = std::max(status, ozb_decision_json(read, &json));
    text.emplace_back(json);
    status = std::max(status, x.gemm_decided(read, 0, &certificate));
    const CertificateHandle owns_certificate(certificate);
    status = std::max(status, ozb_certificate_json(certificate, &json));
    text.emplace_back(json);
    double ratio = 0, largest = 0, bound = 0;
    status = std::max({status, ozb_certificate_ratio(certificate, &ratio), ozb_certificate_largest_bound(certificate, &largest),
                       ozb_certificate_bound(certificate, 1, 2, 1, &bound)});
    for (const double number : {ratio, largest, bound}) text.push_back(std::to_string(bits_of(number)));
    for (const T& element : x.memory_c) text.push_back(std::to_string(bits_of(element)));
    text.push_back(std::to_string(status));
    return text;
  };
  for (const char* target : {"dgemm", "cr", "componentwise:1e-6"}) {
    x.target = target;
    const auto expected = told();
    EXPECT_EQ(expected.back(), "0") << target << ": " << ozb_last_error();
    const auto record = nlohmann::json::parse(expected[2]);
    EXPECT_EQ(record["alpha"], static_cast<double>(least));
    EXPECT_EQ(record["beta"], static_cast<double>(least));
    EXPECT_GT(record["bound"]["underflow"], 0);
    for (const auto& setting : settings) {
      std::vector<std::string> other;
      {
        const Disturbed caller(setting);
        other = told();
        EXPECT_TRUE(Disturbed::in_force(setting));
      }
      EXPECT_EQ(other, expected) << setting.name << ", " << target;
    }
  }
}

TEST(CApiEnvironment, IsTheSameInAnyEnvironment) {
  expect_the_same_in_any_environment(0x1p-1074, 0x1p1000);
  expect_the_same_in_any_environment(0x1p-149f, 0x1p100f);
}

/// Many threads at once, each with calls that succeed and calls that fail, get their own bits and messages.
TEST(CApiThreads, DoNotDisturbEachOther) {
  constexpr int threads = 6;
  const auto work = [](int number, std::vector<double>& c, std::string& error) {
    test::RandomBits random(static_cast<std::uint64_t>(number));
    for (int repetition = 0; repetition < 4; ++repetition) {
      BlasCall<double> call(Layout::column_major, Op::none, Op::transpose, 5, 6, 7, 1, random);
      auto x = arguments_of(call, repetition % 2 == 0 ? "cr" : "dgemm");
      ozb_certificate* certificate = nullptr;
      if (x.gemm(&certificate) != OZB_SUCCESS || certificate == nullptr) error += "gemm failed";
      ozb_certificate_destroy(certificate);
      c.insert(c.end(), call.c.memory.begin(), call.c.memory.end());
      x.m = -number - 1;
      if (x.gemm(nullptr) != OZB_INVALID_ARGUMENT) error += "not refused";
      std::this_thread::yield();
      error += ozb_last_error();
    }
  };
  std::array<std::vector<double>, threads> together, apart;
  std::array<std::string, threads> together_errors, apart_errors;
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] { work(static_cast<int>(t), together[t], together_errors[t]); });
  for (auto& thread : running) thread.join();
  for (std::size_t t = 0; t < threads; ++t) {
    work(static_cast<int>(t), apart[t], apart_errors[t]);
    EXPECT_EQ(together[t], apart[t]) << t;
    EXPECT_EQ(together_errors[t], apart_errors[t]) << t;
    EXPECT_NE(together_errors[t].find("m must not be negative: " + std::to_string(-static_cast<int>(t) - 1)),
              std::string::npos);
  }
}

/// Threads may share a handle: its JSON is made once, whichever thread asks first.
TEST(CApiThreads, ShareAHandle) {
  Arguments<double> x;
  ozb_certificate* certificate = nullptr;
  ASSERT_EQ(x.gemm(&certificate), OZB_SUCCESS);
  const CertificateHandle owner(certificate);
  std::array<const char*, 6> texts{};
  std::vector<std::thread> running;
  for (auto& text : texts) running.emplace_back([&text, certificate] { ozb_certificate_json(certificate, &text); });
  for (auto& thread : running) thread.join();
  for (const auto* text : texts) EXPECT_EQ(text, texts[0]);
}

// Without a certificate, one sweep over the operands may choose native DGEMM, with the same product and status.

/// Elements that the sweep must distinguish.
enum class Elements { plain, zero, tiny, huge, with_nan, with_infinity };

void fill(std::vector<double>& x, Elements elements, test::RandomBits& random) {
  for (auto& at : x) {
    at = std::ldexp(static_cast<double>(random() >> 11), -53) - 0.5;
    if (elements == Elements::zero) at = 0;
    if (elements == Elements::tiny) at = std::ldexp(at, -560);
    if (elements == Elements::huge) at = std::ldexp(at, 1015);
  }
  if (elements == Elements::with_nan) x[random() % x.size()] = std::numeric_limits<double>::quiet_NaN();
  if (elements == Elements::with_infinity) x[random() % x.size()] = -std::numeric_limits<double>::infinity();
}

TEST(CApi, WithoutACertificateIsTheSameProduct) {
  test::RandomBits random(77);
  constexpr std::pair<double, double> scalars[] = {{1, 0}, {-1, 0}, {0.5, 0.75}, {1, 1}, {0, 2}, {HUGE_VAL, 0}, {0x1p-1060, 0}};
  constexpr const char* targets[] = {"dgemm", "dgemm-typical", "cr", "componentwise:1e-12", "normwise:1e-15", "relative:1e-3"};
  for (const int n : {1, 2, 7, 24})
    for (const auto of_a : {Elements::plain, Elements::zero, Elements::tiny, Elements::huge, Elements::with_nan})
      for (const auto of_b : {Elements::plain, Elements::tiny, Elements::with_infinity})
        for (const auto& [alpha, beta] : scalars) {
          const int layout = random.once_in(2) ? OZB_ROW_MAJOR : OZB_COLUMN_MAJOR;
          const int op_a = random.once_in(2) ? OZB_NONE : OZB_TRANSPOSE, op_b = random.once_in(2) ? OZB_NONE : OZB_TRANSPOSE;
          const int ld = n + static_cast<int>(random() % 3);
          const auto size = static_cast<std::size_t>(n * ld);
          std::vector<double> a(size), b(size), c(size);
          fill(a, of_a, random), fill(b, of_b, random), fill(c, Elements::plain, random);
          const char* const target = targets[random() % std::size(targets)];
          auto without = c, with = c;
          ozb_certificate* certificate = nullptr;
          const int status = ozb_dgemm(layout, op_a, op_b, n, n, n, alpha, a.data(), ld, b.data(), ld, beta, without.data(), ld,
                                       target, nullptr);
          const int expected = ozb_dgemm(layout, op_a, op_b, n, n, n, alpha, a.data(), ld, b.data(), ld, beta, with.data(), ld,
                                         target, &certificate);
          ozb_certificate_destroy(certificate);
          ASSERT_EQ(status, expected) << target;
          for (std::size_t t = 0; t < size; ++t)
            ASSERT_EQ(bits_of(without[t]), bits_of(with[t])) << target << ' ' << n << ' ' << alpha << ' ' << beta;
        }
}

TEST(CApi, WithoutACertificateBadArgumentsAreNamed) {
  double x[4] = {1, 2, 3, 4}, c[4] = {7, 7, 7, 7};
  const auto call = [&](int layout, int n, const double* a, int lda, double* to, const char* target) {
    return ozb_dgemm(layout, OZB_NONE, OZB_NONE, n, n, n, 1, a, lda, x, 2, 0, to, 2, target, nullptr);
  };
  const auto refused = [&](int status, const char* text) {
    EXPECT_EQ(status, OZB_INVALID_ARGUMENT);
    EXPECT_THAT(ozb_last_error(), testing::HasSubstr(text));
    EXPECT_THAT(c, testing::Each(7));
  };
  refused(call(0, 2, x, 2, c, "dgemm"), "layout");
  refused(call(OZB_ROW_MAJOR, -1, x, 2, c, "dgemm"), "m must");
  refused(call(OZB_ROW_MAJOR, 2, nullptr, 2, c, "dgemm"), "a must");
  refused(call(OZB_ROW_MAJOR, 2, x, 1, c, "dgemm"), "lda");
  refused(call(OZB_ROW_MAJOR, 2, x, 2, x, "dgemm"), "a must not overlap c");
  refused(call(OZB_ROW_MAJOR, 2, x, 2, c, "dgem"), "target 'dgem'");
  refused(call(OZB_ROW_MAJOR, 2, x, 2, c, nullptr), "target must not be null");
}

#if OZBOUND_REPLACES_NEW && defined(OZBOUND_HAVE_OPENBLAS)
TEST(CApi, WithoutACertificateANativeProductTakesNoMemory) {
  if (native_gemm() == nullptr) GTEST_SKIP() << "this OpenBLAS is not used";
  std::vector<double> a(64 * 64, 0.5), b(64 * 64, 0.25), c(64 * 64);
  const auto multiply = [&](int n) {
    return ozb_dgemm(OZB_COLUMN_MAJOR, OZB_NONE, OZB_TRANSPOSE, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n, "dgemm",
                     nullptr);
  };
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  for (const int n : {8, 16, 32, 64}) {
    ASSERT_EQ(multiply(n), OZB_SUCCESS);  // fills caches of costs and OpenBLAS's own memory
    allocations_left = 0;
    const int status = multiply(n);
    allocations_left = -1;
    EXPECT_EQ(status, OZB_SUCCESS) << n << ": " << ozb_last_error();
    EXPECT_EQ(c[0], n * 0.125);
  }
  omp_set_num_threads(threads);
}
#endif

}  // namespace
}  // namespace ozbound::c_api_test
