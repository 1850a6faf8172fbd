// SPDX-License-Identifier: BSD-3-Clause
// Complex BLAS-shaped calls in C++ and in C, judged by the exact oracle.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "api/blas_calls.hpp"
#include "bounds/hostile_environment.hpp"
#include "ozbound.h"
#include "ozbound/blas.hpp"
#include "ozbound/verify/complex_operands.hpp"
#include "ozbound/verify/complex_problem.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/verdict.hpp"
#include "support/flush_to_zero.hpp"

namespace ozbound::complex_blas_test {
namespace {

using test::layouts;
using test::ops;
using test::Stored;
using Number = std::complex<double>;

constexpr double inf = std::numeric_limits<double>::infinity();

/// One call: the operands as stored, and in the form that the oracle reads.
template <class T>
struct Call {
  Layout layout;
  Op op_a, op_b;
  Index m, n, k;
  T alpha, beta;
  Stored<T> a, b, c;
  Matrix<Number> wide_a, wide_b, wide_c0;  ///< before conjugation
  std::string target = "dgemm";

  Call(Layout order, Op oa, Op ob, Index rows, Index cols, Index inner, Index padding, test::RandomBits& random)
      : layout(order),
        op_a(oa),
        op_b(ob),
        m(rows),
        n(cols),
        k(inner),
        alpha(scalar(random, T{1})),
        beta(scalar(random, T{0})),
        a(order, oa == Op::none ? m : k, oa == Op::none ? k : m, padding),
        b(order, ob == Op::none ? k : n, ob == Op::none ? n : k, 2 * padding),
        c(order, m, n, 3 * padding),
        wide_a(m, k),
        wide_b(k, n),
        wide_c0(m, n) {
    const auto problem = generate_complex({Family::wide_exponents, m, n, k, 1, random()});
    using Real = typename T::value_type;
    const auto set = [](Number& wide, T& stored, const Number& x) {
      stored = {static_cast<Real>(x.real()), static_cast<Real>(x.imag())};
      wide = stored;
    };
    for (Index l = 0; l < k; ++l) {
      for (Index i = 0; i < m; ++i) set(wide_a(i, l), op_a == Op::none ? a.at(i, l) : a.at(l, i), problem.a(i, l));
      for (Index j = 0; j < n; ++j) set(wide_b(l, j), op_b == Op::none ? b.at(l, j) : b.at(j, l), problem.b(l, j));
    }
    const T nan{std::numeric_limits<Real>::quiet_NaN(), 0};
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        set(wide_c0(i, j), c.at(i, j), {0.25 * static_cast<double>(i - j), static_cast<double>(i * j)});
        if (beta == T{}) c.at(i, j) = nan;  // never read
      }
  }

  static T scalar(test::RandomBits& random, T plain) {
    const T choices[] = {plain, {2, 0}, {0, -1}, {static_cast<typename T::value_type>(0.3), 7}};
    return random.pick(choices);
  }

  /// Runs the call to a target or under a decision.
  template <class Choice>
  Certificate run(const Choice& choice, const BlasOptions& options = {}) {
    return gemm(layout, op_a, op_b, m, n, k, alpha, a.data(), a.ld, b.data(), b.ld, beta, c.data(), c.ld, choice,
                test::counting(options));
  }

  [[nodiscard]] Decision decision(const Target& choice) {
    return decide(layout, op_a, op_b, m, n, k, alpha, a.data(), a.ld, b.data(), b.ld, beta,
                  beta == T{} ? static_cast<const T*>(nullptr) : c.data(), c.ld, choice, test::counting({}));
  }

  [[nodiscard]] Matrix<T> result() {
    Matrix<T> out(m, n);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) out(i, j) = c.at(i, j);
    return out;
  }

  [[nodiscard]] Verdict judged(const Target& choice) {
    const ComplexOperands operands({wide_a.view(), op_a == Op::conjugate_transpose},
                                   {wide_b.view(), op_b == Op::conjugate_transpose}, Number(alpha), Number(beta),
                                   wide_c0.view());
    const auto computed = result();
    return verify(ComplexResult(std::as_const(computed).view()).view(), ExactOracle(operands.operands()), choice);
  }
};

template <class T>
class ComplexBlas : public testing::Test {};
using Types = testing::Types<std::complex<double>, std::complex<float>>;
TYPED_TEST_SUITE(ComplexBlas, Types);

TYPED_TEST(ComplexBlas, EveryLayoutOperationAndLeadingDimension) {
  test::RandomBits random(1);
  const Target targets[] = {Target::dgemm(), Target::dgemm_typical(), Target::correctly_rounded(), Target::relative(1e-6),
                            Target::componentwise(1e-5)};
  for (const auto layout : layouts)
    for (const auto op_a : ops)
      for (const auto op_b : ops)
        for (const Index padding : {0, 1, 7}) {
          Call<TypeParam> call(layout, op_a, op_b, random.between(1, 6), random.between(1, 6), random.between(0, 7), padding,
                               random);
          const auto a = call.a.memory, b = call.b.memory;
          const auto target = random.pick(targets);
          const auto certificate = call.run(target);
          const auto verdict = call.judged(target);
          ASSERT_TRUE(certificate.holds && verdict.holds()) << to_string(target) << '\n' << explain(verdict);
          ASSERT_TRUE(call.c.canaries_live());
          ASSERT_EQ(a, call.a.memory);
          ASSERT_EQ(b, call.b.memory);
          EXPECT_TRUE(certificate.complex);
          EXPECT_EQ(certificate.m, call.m);
          EXPECT_EQ(certificate.k, call.k);
        }
}

TYPED_TEST(ComplexBlas, ADecisionIsReplayed) {
  test::RandomBits random(2);
  for (const auto layout : layouts)
    for (const auto op : ops)
      for (const auto& target : {Target::dgemm(), Target::correctly_rounded()}) {
        Call<TypeParam> call(layout, op, op, random.between(1, 6), random.between(1, 6), random.between(0, 7), 2, random);
        auto again = call;
        const auto expected = call.run(target);
        const auto decision = parse_decision(to_json(again.decision(target)).dump());
        ASSERT_TRUE(again.c.canaries_live());
        const auto certificate = again.run(decision, {.threads = 2});
        EXPECT_EQ(to_json(certificate).dump(), to_json(expected).dump());
        EXPECT_TRUE(call.beta != call.beta || call.c.memory == again.c.memory);
      }
}

/// Operands that zero scalars exclude may be null, and both parts of C are written.
TYPED_TEST(ComplexBlas, WhatIsNotReadMayBeNull) {
  using T = TypeParam;
  std::vector<T> c(6, T{3, -2});
  const T* none = nullptr;
  const auto run = [&](T beta) {
    return gemm(Layout::row_major, Op::none, Op::conjugate_transpose, 2, 3, 4, T{0}, none, 4, none, 4, beta, c.data(), 3,
                Target::correctly_rounded());
  };
  EXPECT_TRUE(run({0, 1}).holds);
  EXPECT_EQ(c, std::vector<T>(6, T{2, 3}));
  EXPECT_TRUE(run({}).holds);
  EXPECT_EQ(c, std::vector<T>(6, T{}));
}

TYPED_TEST(ComplexBlas, ACallersEnvironmentDisturbsNothing) {
  test::RandomBits random(3);
  for (const auto& target : {Target::dgemm(), Target::correctly_rounded()}) {
    Call<TypeParam> call(Layout::row_major, Op::conjugate_transpose, Op::none, 5, 6, 7, 1, random);
    auto again = call;
    call.run(target);
    const test::HostileEnvironment hostile;
    again.run(target);
    EXPECT_EQ(call.c.memory, again.c.memory);
  }
}

TEST(ComplexBlas, ASubnormalScalarIsNotFlushed) {
  Number c{};
  std::complex<float> narrow_c{};
  const Number a{0, 0x1p600}, b{0x1p500, 0};
  const std::complex<float> narrow_a{0, 0x1p100F}, narrow_b{0x1p20F, 0};
  {
    const test::FlushToZero flushed;
    gemm(Layout::row_major, Op::none, Op::none, 1, 1, 1, Number{0, 0x1p-1060}, &a, 1, &b, 1, Number{}, &c, 1,
         Target::correctly_rounded());
    gemm(Layout::row_major, Op::none, Op::none, 1, 1, 1, std::complex<float>{0, 0x1p-140F}, &narrow_a, 1, &narrow_b, 1,
         std::complex<float>{}, &narrow_c, 1, Target::correctly_rounded());
  }
  EXPECT_EQ(c, (Number{-0x1p40, 0}));
  EXPECT_EQ(narrow_c, (std::complex<float>{-0x1p-20F, 0}));
}

/// Every refusal names the one argument of a 2 x 4 by 4 x 3 product that is wrong, and leaves C unchanged.
TYPED_TEST(ComplexBlas, EveryRefusalNamesItsArgument) {
  using T = TypeParam;
  struct Arguments {
    std::vector<T> memory_a = std::vector<T>(40, T{1, 1}), memory_b = memory_a, memory_c = std::vector<T>(40, T{7, 7});
    Layout layout = Layout::row_major;
    Op op_a = Op::none, op_b = Op::none;
    Index m = 2, n = 3, k = 4, lda = 4, ldb = 3, ldc = 3;
    const T *a = memory_a.data(), *b = memory_b.data();
    T* c = memory_c.data();
    T alpha{1, 1};
    void run() { gemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, T{}, c, ldc, Target::dgemm()); }
  };
  const auto refused = [](const auto& change, const std::string& word) {
    Arguments x;
    change(x);
    try {
      x.run();
      ADD_FAILURE() << "not refused: " << word;
    } catch (const std::invalid_argument& e) {
      EXPECT_EQ(std::string(e.what()).find(word), 0U) << e.what();
    }
    EXPECT_EQ(x.memory_c, std::vector<T>(40, T{7, 7})) << word;
  };
  EXPECT_NO_THROW(Arguments{}.run());
  refused([](auto& x) { x.layout = static_cast<Layout>('X'); }, "layout ");
  refused([](auto& x) { x.op_a = static_cast<Op>('X'); }, "op_a ");
  refused([](auto& x) { x.m = -1; }, "m ");
  refused([](auto& x) { x.k = -1; }, "k ");
  refused([](auto& x) { x.a = nullptr; }, "a ");
  refused([](auto& x) { x.b = nullptr; }, "b ");
  refused([](auto& x) { x.c = nullptr; }, "c ");
  refused([](auto& x) { x.lda = 3; }, "lda ");
  refused([](auto& x) { x.op_b = Op::conjugate_transpose; }, "ldb ");
  refused([](auto& x) { x.ldc = 2; }, "ldc ");
  refused([](auto& x) { x.c = x.memory_a.data() + 3; }, "a must not overlap c");
  refused([](auto& x) { x.c = x.memory_b.data(), x.alpha = 1; }, "b must not overlap c");
  refused([](auto& x) { x.lda = Index{1} << 60; }, "a is beyond the address space");
}

TEST(ComplexBlas, PreparedOperandsAreOfRealProducts) {
  const Number a[] = {{1, 2}}, b[] = {{3, 4}};
  Number c{};
  const auto decision = decide(Layout::row_major, Op::none, Op::none, 1, 1, 1, Number{1}, a, 1, b, 1, Number{}, &c, 1,
                               Target::componentwise(1e-3), test::counting({.native = false}));
  const double real[] = {1, -2, 2, 1};
  const CpuEngine engine({.threads = 1});
  const PreparedOperand prepared(row_major(real, 2, 2, 2), Side::rows_of_a, decision, engine);
  for (const Number alpha : {Number{1}, Number{0, 1}})
    EXPECT_THROW(gemm(Layout::row_major, Op::none, Op::none, 1, 1, 1, alpha, a, 1, b, 1, Number{}, &c, 1, decision,
                      {.prepared_a = &prepared}),
                 std::invalid_argument);
}

// C.

int c_layout(Layout layout) { return layout == Layout::row_major ? OZB_ROW_MAJOR : OZB_COLUMN_MAJOR; }
int c_op(Op op) { return op == Op::none ? OZB_NONE : op == Op::transpose ? OZB_TRANSPOSE : OZB_CONJUGATE_TRANSPOSE; }

template <class T>
constexpr bool doubles = std::is_same_v<T, Number>;

TYPED_TEST(ComplexBlas, IsTheSameInC) {
  test::RandomBits random(4);
  for (const auto layout : layouts)
    for (const auto op_a : ops)
      for (const auto op_b : ops) {
        Call<TypeParam> call(layout, op_a, op_b, random.between(1, 6), random.between(1, 6), random.between(0, 7), 2, random);
        auto x = call, y = call;
        const auto target = random.once_in(2) ? "cr" : "componentwise:1e-5";
        const auto expected = gemm(layout, op_a, op_b, call.m, call.n, call.k, call.alpha, call.a.data(), call.a.ld,
                                   call.b.data(), call.b.ld, call.beta, call.c.data(), call.c.ld, parse_target(target));
        const auto gemm_in_c = doubles<TypeParam> ? ozb_zgemm : ozb_cgemm;
        const auto decide_in_c = doubles<TypeParam> ? ozb_decide_z : ozb_decide_c;
        const auto decided_in_c = doubles<TypeParam> ? ozb_zgemm_decided : ozb_cgemm_decided;
        ozb_certificate* certificate = nullptr;
        ozb_decision* decision = nullptr;
        ASSERT_EQ(gemm_in_c(c_layout(layout), c_op(op_a), c_op(op_b), x.m, x.n, x.k, &x.alpha, x.a.data(), x.a.ld, x.b.data(),
                            x.b.ld, &x.beta, x.c.data(), x.c.ld, target, &certificate),
                  OZB_SUCCESS)
            << ozb_last_error();
        const char* json = nullptr;
        ozb_certificate_json(certificate, &json);
        EXPECT_EQ(nlohmann::json::parse(json), to_json(expected));
        ozb_certificate_destroy(certificate);
        EXPECT_EQ(x.c.memory, call.c.memory);
        ASSERT_EQ(decide_in_c(c_layout(layout), c_op(op_a), c_op(op_b), y.m, y.n, y.k, &y.alpha, y.a.data(), y.a.ld, y.b.data(),
                              y.b.ld, &y.beta, y.c.data(), y.c.ld, target, OZB_DEFAULT, &decision),
                  OZB_SUCCESS)
            << ozb_last_error();
        ASSERT_EQ(decided_in_c(c_layout(layout), c_op(op_a), c_op(op_b), y.m, y.n, y.k, &y.alpha, y.a.data(), y.a.ld,
                               y.b.data(), y.b.ld, &y.beta, y.c.data(), y.c.ld, decision, 0, nullptr),
                  OZB_SUCCESS)
            << ozb_last_error();
        ozb_decision_destroy(decision);
        EXPECT_EQ(y.c.memory, call.c.memory);
      }
}

/// The least workspace of a decision is accepted, for any alpha and beta, and one byte less is refused.
TYPED_TEST(ComplexBlas, TheWorkspaceOfADecisionIsEnoughInC) {
  test::RandomBits random(5);
  const auto decided_in_c = doubles<TypeParam> ? ozb_zgemm_decided : ozb_cgemm_decided;
  for (const Number alpha : {Number{1}, Number{1, 1}})
    for (const Number beta : {Number{}, Number{0, 2}})
      for (const char* method : {R"("slices", "target": "dgemm")", R"("slices", "target": "relative:1e-3")",
                                 R"("correctly_rounded", "target": "cr")"}) {
        Call<TypeParam> x(Layout::row_major, Op::none, Op::none, 2, 3, 4, 0, random);
        x.alpha = static_cast<TypeParam>(alpha), x.beta = static_cast<TypeParam>(beta);
        ozb_decision* decision = nullptr;
        const auto json =
            R"({"schema": "ozbound-decision-3", "plan": "balanced:9x9:cut=10:exact", "complex": true, "m": 2, "n": 3, "k": 4,
                              "method": )" +
            std::string(method) + "}";
        ASSERT_EQ(ozb_decision_from_json(json.c_str(), &decision), OZB_SUCCESS) << ozb_last_error();
        const auto status = [&](std::int64_t workspace) {
          return decided_in_c(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 3, 4, &x.alpha, x.a.data(), x.a.ld, x.b.data(), x.b.ld,
                              &x.beta, x.c.data(), x.c.ld, decision, workspace, nullptr);
        };
        std::int64_t least = 0, full = 0;
        ASSERT_EQ(ozb_decision_workspace_z(decision, &alpha, &beta, &least, &full), OZB_SUCCESS) << ozb_last_error();
        EXPECT_LT(1, least);
        EXPECT_LE(least, full);
        EXPECT_EQ(status(least), OZB_SUCCESS) << ozb_last_error();
        EXPECT_EQ(status(full), OZB_SUCCESS) << ozb_last_error();
        EXPECT_EQ(status(least - 1), OZB_INVALID_ARGUMENT);
        ozb_decision_destroy(decision);
      }
}

TYPED_TEST(ComplexBlas, BoundsOfPartsAreTheSameInC) {
  using T = TypeParam;
  // For one of the imaginary numbers the digits of -x are not those of x negated, so the bounds of both parts differ.
  const T a[] = {{1, 0}, {0, 0x1p-6F}, {0, 0x1p-7F}, {0, 0x1p-8F}, {0, 0x1p-9F}}, one{1, 0}, zero{};
  std::vector<T> b(20), x(12), y(12), rows;
  for (int t = 0; t < 3; ++t) rows.insert(rows.end(), std::begin(a), std::end(a));
  for (std::size_t t = 0; t < b.size(); ++t) b[t] = T{1.0F / static_cast<float>(t + 3), 0.7F};
  const char* const json = R"({"schema": "ozbound-decision-3", "target": "componentwise:1", "method": "slices",
                               "plan": "balanced:2x2:cut=2:exact", "complex": true, "m": 3, "n": 4, "k": 5})";
  const auto expected = gemm(Layout::row_major, Op::none, Op::none, 3, 4, 5, one, rows.data(), 5, b.data(), 4, zero, x.data(),
                             4, parse_decision(json));
  ozb_decision* decision = nullptr;
  ozb_certificate* certificate = nullptr;
  ASSERT_EQ(ozb_decision_from_json(json, &decision), OZB_SUCCESS) << ozb_last_error();
  const auto decided_in_c = doubles<T> ? ozb_zgemm_decided : ozb_cgemm_decided;
  ASSERT_EQ(decided_in_c(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 3, 4, 5, &one, rows.data(), 5, b.data(), 4, &zero, y.data(), 4,
                         decision, 0, &certificate),
            OZB_SUCCESS)
      << ozb_last_error();
  ozb_decision_destroy(decision);
  const Number c{0.75, -3};
  double bound[2];
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) {
      EXPECT_NE(expected.bound.upper(i, j, Part::real, 1), expected.bound.upper(i, j, Part::imaginary, 1));
      EXPECT_EQ(ozb_certificate_bound_z(certificate, i, j, &c, bound), OZB_SUCCESS) << ozb_last_error();
      EXPECT_EQ(bound[0], expected.bound.upper(i, j, Part::real, c.real()));
      EXPECT_EQ(bound[1], expected.bound.upper(i, j, Part::imaginary, c.imag()));
    }
  for (const auto& [i, j, word] : {std::tuple(-1, 0, "i must be"), std::tuple(3, 0, "i must be"),
                                   std::tuple(0, -1, "j must be"), std::tuple(0, 4, "j must be")}) {
    EXPECT_EQ(ozb_certificate_bound_z(certificate, i, j, &c, bound), OZB_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(ozb_last_error()).find(word), 0U) << ozb_last_error();
    EXPECT_EQ(bound[0] + bound[1], HUGE_VAL) << "no bound that could be believed";
  }
  EXPECT_EQ(ozb_certificate_bound(certificate, 0, 0, 1, bound), OZB_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(ozb_last_error()), "certificate is of a complex product: ozb_certificate_bound_z has its bounds");
  EXPECT_EQ(bound[0], HUGE_VAL);
  ozb_certificate_destroy(certificate);
}

TEST(ComplexBlas, BoundsOfPartsAreOfComplexProducts) {
  const double one = 1;
  double real = 0, bound[2] = {0, 0};
  const Number c{1, 1};
  ozb_certificate* certificate = nullptr;
  ASSERT_EQ(ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, 1, &one, 1, &one, 1, 0, &real, 1, "dgemm", &certificate),
            OZB_SUCCESS);
  const auto refused = [&](int status, const std::string& words) {
    EXPECT_EQ(status, OZB_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(ozb_last_error()), words);
  };
  refused(ozb_certificate_bound_z(certificate, 0, 0, &c, bound),
          "certificate is of a real product: ozb_certificate_bound has its bounds");
  refused(ozb_certificate_bound_z(certificate, 0, 0, nullptr, bound), "c must not be null");
  refused(ozb_certificate_bound_z(nullptr, 0, 0, &c, bound), "certificate must not be null");
  refused(ozb_certificate_bound_z(certificate, 0, 0, &c, nullptr), "bound must not be null");
  ozb_certificate_destroy(certificate);
}

/// The text of a status names the worst entry by the user's indices and its part.
TEST(ComplexBlas, TheWorstPartIsNamedInC) {
  const Number a[] = {{1, 1}, {1, 0.1}}, b{1, 0}, one{1, 0}, zero{};
  Number c[2];
  ozb_decision* decision = nullptr;
  ASSERT_EQ(ozb_decision_from_json(R"({"schema": "ozbound-decision-3", "target": "componentwise:1e-3", "method": "slices",
                                       "plan": "balanced:1x1:full:exact", "complex": true, "m": 2, "n": 1, "k": 1})",
                                   &decision),
            OZB_SUCCESS);
  EXPECT_EQ(ozb_zgemm_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 1, 1, &one, a, 1, &b, 1, &zero, c, 1, decision, 0, nullptr),
            OZB_DOES_NOT_HOLD);
  EXPECT_EQ(std::string(ozb_last_error())
                .find("target componentwise:0.001 is not proven: the error bound of the imaginary part "
                      "of entry (1, 0) is "),
            0U)
      << ozb_last_error();
  ozb_decision_destroy(decision);
}

TEST(ComplexBlas, CRefusesByName) {
  const Number a{1, 2}, b{3, 4}, one{1, 0};
  Number c{7, 7};
  const auto refused = [&](const void* alpha, const void* x, const void* beta, int op, const char* target,
                           const std::string& word) {
    ozb_certificate* certificate = nullptr;
    EXPECT_EQ(ozb_zgemm(OZB_ROW_MAJOR, op, OZB_NONE, 1, 1, 1, alpha, x, 1, &b, 1, beta, &c, 1, target, &certificate),
              OZB_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(ozb_last_error()).find(word), 0U) << ozb_last_error();
    EXPECT_EQ(certificate, nullptr);
    EXPECT_EQ(c, (Number{7, 7}));
  };
  refused(nullptr, &a, &one, OZB_NONE, "dgemm", "alpha must not be null");
  refused(&one, &a, nullptr, OZB_NONE, "dgemm", "beta must not be null");
  refused(&one, nullptr, &one, OZB_NONE, "dgemm", "a must not be null");
  refused(&one, &a, &one, 7, "dgemm", "op_a must be");
  refused(&one, &a, &one, OZB_NONE, "best", "target 'best'");
  EXPECT_EQ(
      ozb_zgemm(OZB_ROW_MAJOR, OZB_CONJUGATE_TRANSPOSE, OZB_NONE, 1, 1, 1, &one, &a, 1, &b, 1, &one, &c, 1, "cr", nullptr),
      OZB_SUCCESS);
  EXPECT_EQ(c, (Number{18, 5}));  // 7 + 7i + (1 - 2i)(3 + 4i)
}

}  // namespace
}  // namespace ozbound::complex_blas_test
