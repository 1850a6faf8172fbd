// SPDX-License-Identifier: BSD-3-Clause
#include "api/blas_calls.hpp"

#include "ozbound/blas.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "bounds/hostile_environment.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/native.hpp"
#include "support/flush_to_zero.hpp"

namespace ozbound::blas_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

using test::BlasCall;
using test::layouts;
using test::ops;

template <class T>
class BlasGemm : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(BlasGemm, Types);

TYPED_TEST(BlasGemm, EveryLayoutOperationAndLeadingDimension) {
  test::RandomBits random(1);
  const Target targets[] = {Target::dgemm(), Target::dgemm_typical(), Target::correctly_rounded(), Target::relative(1e-6),
                            Target::componentwise(1e-5)};
  for (const auto layout : layouts)
    for (const auto op_a : ops)
      for (const auto op_b : ops)
        for (const Index padding : {0, 1, 7})
          for (int t = 0; t < 3; ++t) {
            BlasCall<TypeParam> call(layout, op_a, op_b, random.between(1, 6), random.between(1, 6), random.between(0, 7),
                                     padding, random);
            const auto a = call.a.memory;
            const auto b = call.b.memory;
            const auto computed = call.computed(call.run(random.pick(targets)));
            ASSERT_TRUE(test::keeps_its_target(call.product, computed));
            ASSERT_TRUE(call.c.canaries_live());
            ASSERT_EQ(a, call.a.memory);
            ASSERT_EQ(b, call.b.memory);
            EXPECT_EQ(computed.certificate.k, call.product.k());
          }
}

TYPED_TEST(BlasGemm, TheShapesThatUsersHave) {
  test::RandomBits random(2);
  for (const auto& [m, n, k] :
       {std::tuple<Index, Index, Index>{7, 61, 68}, {1, 40, 33}, {40, 1, 33}, {1, 1, 500}, {30, 30, 1}}) {
    BlasCall<TypeParam> call(Layout::column_major, Op::none, Op::transpose, m, n, k, 3, random);
    ASSERT_TRUE(test::keeps_its_target(call.product, call.computed(call.run(Target::dgemm()))));
    ASSERT_TRUE(call.c.canaries_live());
  }
}

TYPED_TEST(BlasGemm, AlphaZeroNeedsNoOperands) {
  using T = TypeParam;
  for (const T beta : {T{0}, T{2}}) {
    std::vector<T> c{1, 2, 3, 4, 5, 6};
    const auto certificate = gemm(Layout::row_major, Op::none, Op::none, 2, 3, 4, T{0}, static_cast<const T*>(nullptr), 4,
                                  static_cast<const T*>(nullptr), 3, beta, c.data(), 3, Target::correctly_rounded());
    for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(c[t], beta * static_cast<T>(t + 1));
    EXPECT_TRUE(certificate.holds);
    EXPECT_EQ(certificate.m, 2);
    EXPECT_EQ(certificate.n, 3);
    EXPECT_EQ(certificate.k, 4);
  }
  std::vector<T> nans(12, static_cast<T>(nan));
  std::vector<T> c{1, 2, 3, 4, 5, 6};
  (void)gemm(Layout::row_major, Op::none, Op::none, 2, 3, 4, T{0}, nans.data(), 4, nans.data(), 3, T{1}, c.data(), 3,
             Target::dgemm());
  EXPECT_EQ(c[5], T{6});
}

TYPED_TEST(BlasGemm, EmptyProducts) {
  using T = TypeParam;
  const T* none = nullptr;
  T* nothing = nullptr;
  T x = 3;
  EXPECT_TRUE(
      gemm(Layout::row_major, Op::none, Op::none, 0, 0, 0, T{1}, none, 1, none, 1, T{1}, nothing, 1, Target::dgemm()).holds);
  EXPECT_TRUE(
      gemm(Layout::row_major, Op::none, Op::none, 0, 5, 2, T{1}, none, 2, &x, 5, T{1}, nothing, 5, Target::dgemm()).holds);
  EXPECT_TRUE(gemm(Layout::row_major, Op::none, Op::none, 1, 1, 0, T{1}, none, 1, none, 1, T{2}, &x, 1, Target::dgemm()).holds);
  EXPECT_EQ(x, T{6});
  EXPECT_TRUE(
      gemm(Layout::column_major, Op::transpose, Op::none, 1, 1, 0, T{1}, none, 1, none, 1, T{0}, &x, 1, Target::dgemm()).holds);
  EXPECT_EQ(x, T{0});
}

TYPED_TEST(BlasGemm, NothingIsReadForAnEmptyC) {
  using T = TypeParam;
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const T* unreadable = static_cast<const T*>(page);
  T* nothing = nullptr;
  for (const auto& target : {Target::dgemm(), Target::correctly_rounded(), Target::relative(1e-3)}) {
    EXPECT_TRUE(
        gemm(Layout::row_major, Op::none, Op::none, 0, 5, 2, T{1}, unreadable, 2, unreadable, 5, T{1}, nothing, 5, target)
            .holds);
    EXPECT_TRUE(
        gemm(Layout::row_major, Op::none, Op::none, 5, 0, 2, T{1}, unreadable, 2, unreadable, 1, T{0}, nothing, 1, target)
            .holds);
  }
  munmap(page, 4096);
}

TYPED_TEST(BlasGemm, SpecialScalars) {
  using T = TypeParam;
  const T a = 2;
  const T b = 3;
  const auto run = [&](double alpha, double beta, double c0) {
    T c = static_cast<T>(c0);
    (void)gemm(Layout::row_major, Op::none, Op::none, 1, 1, 1, static_cast<T>(alpha), &a, 1, &b, 1, static_cast<T>(beta), &c, 1,
               Target::dgemm());
    return c;
  };
  EXPECT_TRUE(std::isnan(run(nan, 0, 1)));
  EXPECT_TRUE(std::isnan(run(1, nan, 1)));
  EXPECT_EQ(run(inf, 0, nan), static_cast<T>(inf));
  EXPECT_EQ(run(1, -inf, 1), static_cast<T>(-inf));
  EXPECT_TRUE(std::isnan(run(1, inf, 0)));
  EXPECT_EQ(run(0, 1, 5), T{5});
  EXPECT_EQ(run(1, 0, nan), T{6});
}

TYPED_TEST(BlasGemm, ACallersEnvironmentDisturbsNothing) {
  for (const auto& target : {Target::dgemm(), Target::correctly_rounded(), Target::relative(1e-6)}) {
    test::RandomBits random(3);
    BlasCall<TypeParam> call(Layout::row_major, Op::none, Op::none, 5, 6, 7, 1, random);
    auto again = call;
    const auto expected = call.computed(call.run(target));
    const test::HostileEnvironment hostile;
    const auto computed = again.computed(again.run(target));
    EXPECT_TRUE(test::same_bits(computed.c, expected.c)) << to_string(target);
  }
}

TEST(BlasGemmOfDoubles, ChoosesNativeWhereThatIsCheaper) {
  if (native_gemm() == nullptr) GTEST_SKIP() << "built without a native DGEMM";
  test::RandomBits random(4);
  BlasCall<double> call(Layout::row_major, Op::none, Op::none, 9, 9, 30, 2, random);
  for (Index i = 0; i < 9; ++i)
    call.product.problem.a(i, 0) = call.a.at(i, 0) = std::ldexp(1.0 / 3, 60 * static_cast<int>(i % 3));
  for (Index i = 0; i < 9; ++i) call.product.problem.a(i, i) = call.a.at(i, i) = std::ldexp(1.0 / 3, 80);
  call.alpha = 1, call.product.alpha = 1;
  if (call.beta != 0) call.beta = 0, call.product.beta = 0;
  EXPECT_NE(call.decision(Target::dgemm(), {.native = false}).method, Method::native);
  const auto computed = call.computed(call.run(Target::dgemm(), {.residues = false}));
  EXPECT_EQ(computed.certificate.method, Method::native);
  EXPECT_TRUE(test::keeps_its_target(call.product, computed));
  EXPECT_TRUE(call.c.canaries_live());
}

/// Without another cost model, the method is chosen by the seconds predicted for this machine.
TYPED_TEST(BlasGemm, ChoosesByPredictedSeconds) {
  test::RandomBits random(8);
  BlasCall<TypeParam> call(Layout::row_major, Op::none, Op::none, 5, 6, 7, 1, random);
  call.counts = false;
  for (const int threads : {1, 2}) {
    const auto costs = machine_costs(CpuEngine({.threads = threads}), native_gemm());
    for (const auto& target : {Target::correctly_rounded(), Target::componentwise(1e-3)}) {
      const auto expected = to_json(call.decision(target, {.threads = threads, .costs = &costs}));
      EXPECT_EQ(to_json(call.decision(target, {.threads = threads})), expected);
      EXPECT_EQ(expected["costs"]["unit"], "seconds");
      EXPECT_EQ(expected["costs"]["threads"], threads);
    }
  }
}

TEST(BlasGemmOfDoubles, AFloatIsRoundedOnce) {
  // A float result is rounded once. Rounded first to a double, 1 + 2^-24 + 2^-54 would become the tie 1 + 2^-24, and then 1.
  const float a[] = {1, 0x1p-24F, 0x1p-54F};
  const float b[] = {1, 1, 1};
  float c = 0;
  (void)gemm(Layout::row_major, Op::none, Op::none, 1, 1, 3, 1.0F, a, 3, b, 1, 0.0F, &c, 1, Target::correctly_rounded());
  EXPECT_EQ(c, 1 + 0x1p-23F);
}

// Decisions, replays, options.

/// The decision equals the one that gemm makes itself, also after conversion to JSON and back. C is neither written nor needed.
TYPED_TEST(BlasGemm, ADecisionIsReplayed) {
  test::RandomBits random(5);
  const Target targets[] = {Target::dgemm(), Target::correctly_rounded(), Target::relative(1e-6), Target::normwise(1e-5)};
  for (const auto layout : layouts)
    for (const auto& target : targets)
      for (const auto op : ops) {
        BlasCall<TypeParam> call(layout, op, op, random.between(1, 6), random.between(1, 6), random.between(0, 7), 2, random);
        auto again = call;
        const auto expected = call.run(target);
        const auto decision = parse_decision(to_json(again.decision(target)).dump());
        ASSERT_TRUE(again.c.canaries_live());
        const auto certificate = again.run(decision);
        EXPECT_EQ(to_json(certificate).dump(), to_json(expected).dump());
        EXPECT_TRUE(test::same_bits(again.computed(certificate).c, call.computed(expected).c));
      }
}

TYPED_TEST(BlasGemm, ADecisionForOtherDataPromisesNothing) {
  test::RandomBits random(6);
  BlasCall<TypeParam> easy(Layout::row_major, Op::none, Op::none, 4, 4, 9, 0, random);
  std::fill(easy.a.memory.begin(), easy.a.memory.end(), TypeParam{1});
  std::fill(easy.b.memory.begin(), easy.b.memory.end(), TypeParam{1});
  const auto decision = easy.decision(Target::dgemm(), {.native = false});
  EXPECT_EQ(decision.plan->products(), 1);
  BlasCall<TypeParam> hard(Layout::row_major, Op::none, Op::none, 4, 4, 9, 0, random);
  const auto computed = hard.computed(hard.run(decision));
  EXPECT_FALSE(computed.certificate.holds);
  EXPECT_TRUE(test::tells_the_truth(hard.product, computed));
}

/// Prepared op(A) or op(B), in every layout, a cap on the workspace, and threads change no bit.
TYPED_TEST(BlasGemm, OptionsChangeNoBit) {
  using T = TypeParam;
  test::RandomBits random(7);
  for (const auto layout : layouts)
    for (const auto op_a : ops)
      for (const auto op_b : ops) {
        BlasCall<T> call(layout, op_a, op_b, 5, 6, 7, 3, random);
        const auto decision = call.decision(Target::componentwise(1e-6), {.native = false});
        auto again = call;
        const auto expected = call.run(decision);
        const CpuEngine engine({.threads = 1});
        const auto view = [&](test::Stored<T>& x, Op op) {
          const auto as_stored = x.by_rows ? row_major<const T>(x.data(), x.rows, x.cols, x.ld)
                                           : column_major<const T>(x.data(), x.rows, x.cols, x.ld);
          return op == Op::none ? as_stored : as_stored.transposed();
        };
        const PreparedOperand a(view(again.a, op_a), Side::rows_of_a, decision, engine);
        const PreparedOperand b(view(again.b, op_b), Side::columns_of_b, decision, engine);
        const double cap = full_workspace(engine, *decision.plan, 5, 1, 7);
        auto third = again;
        const auto prepared = again.run(decision, {.threads = 3, .prepared_a = &a, .prepared_b = &b});
        const auto capped = third.run(decision, {.threads = 1, .workspace = cap, .native = false});
        EXPECT_TRUE(test::same_bits(again.computed(prepared).c, call.computed(expected).c));
        EXPECT_TRUE(test::same_bits(third.computed(capped).c, call.computed(expected).c));
        EXPECT_EQ(to_json(prepared).dump(), to_json(expected).dump());
      }
}

// Refusals.

/// Valid arguments: a 2 x 4, b 4 x 3, c 2 x 3, row-major.
template <class T>
struct Arguments {
  std::vector<T> memory_a = std::vector<T>(40, 1), memory_b = std::vector<T>(40, 1), memory_c = std::vector<T>(40, 7);
  Layout layout = Layout::row_major;
  Op op_a = Op::none, op_b = Op::none;
  Index m = 2, n = 3, k = 4;
  T alpha = 1;
  const T* a = memory_a.data();
  Index lda = 4;
  const T* b = memory_b.data();
  Index ldb = 3;
  T beta = 0;
  T* c = memory_c.data();
  Index ldc = 3;
  Target target = Target::dgemm();

  void run() { (void)gemm(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, target); }
};

/// Changes one argument and checks that the call refuses it by its name and leaves C unchanged.
template <class T, class Exception = std::invalid_argument, class Change>
void expect_refused(const Change& change, const std::string& word) {
  Arguments<T> arguments;
  change(arguments);
  try {
    arguments.run();
    ADD_FAILURE() << "not refused: " << word;
  } catch (const Exception& e) {
    EXPECT_EQ(std::string(e.what()).find(word), 0u) << e.what();
  }
  EXPECT_EQ(arguments.memory_c, std::vector<T>(40, 7)) << "C was written: " << word;
}

TYPED_TEST(BlasGemm, EveryRefusalNamesItsArgument) {
  using A = Arguments<TypeParam>;
  using T = TypeParam;
  EXPECT_NO_THROW(A{}.run());
  expect_refused<T>([](A& x) { x.layout = static_cast<Layout>('X'); }, "layout ");
  expect_refused<T>([](A& x) { x.op_a = static_cast<Op>('X'); }, "op_a ");
  expect_refused<T>([](A& x) { x.op_b = static_cast<Op>(0); }, "op_b ");
  expect_refused<T>([](A& x) { x.m = -1; }, "m ");
  expect_refused<T>([](A& x) { x.n = -1; }, "n ");
  expect_refused<T>([](A& x) { x.k = -1; }, "k ");
  expect_refused<T>([](A& x) { x.a = nullptr; }, "a ");
  expect_refused<T>([](A& x) { x.b = nullptr; }, "b ");
  expect_refused<T>([](A& x) { x.c = nullptr; }, "c ");
  expect_refused<T>([](A& x) { x.lda = 3; }, "lda ");
  expect_refused<T>([](A& x) { x.ldb = 2; }, "ldb ");
  expect_refused<T>([](A& x) { x.ldc = 2; }, "ldc ");
  expect_refused<T>([](A& x) { x.lda = -4; }, "lda ");
  expect_refused<T>([](A& x) { x.lda = 0, x.m = 0; }, "lda ");
  expect_refused<T>([](A& x) { x.op_a = Op::transpose, x.lda = 1; }, "lda ");
  expect_refused<T>([](A& x) { x.op_b = Op::transpose, x.ldb = 3; }, "ldb ");
  expect_refused<T>([](A& x) { x.layout = Layout::column_major, x.lda = 1; }, "lda ");
  expect_refused<T>([](A& x) { x.layout = Layout::column_major, x.ldb = 3; }, "ldb ");
  expect_refused<T>([](A& x) { x.layout = Layout::column_major, x.ldb = 4, x.ldc = 1; }, "ldc ");
  expect_refused<T>([](A& x) { x.c = x.memory_a.data() + 3; }, "a must not overlap c");
  expect_refused<T>([](A& x) { x.c = x.memory_b.data(); }, "b must not overlap c");
  expect_refused<T, CannotCertify>([](A& x) { x.target = Target::componentwise(0x1p-54); }, "target ");
}

/// As in the reference BLAS, operands that are not read may be null, but sizes and leading dimensions are checked.
TYPED_TEST(BlasGemm, UnreadOperandsAreStillDescribed) {
  using A = Arguments<TypeParam>;
  using T = TypeParam;
  for (const bool by_alpha : {true, false}) {
    const auto unread = [by_alpha](A& x) {
      x.a = nullptr, x.b = nullptr;
      if (by_alpha)
        x.alpha = 0;
      else
        x.k = 0, x.lda = 1;
    };
    A fine;
    unread(fine);
    EXPECT_NO_THROW(fine.run());
    expect_refused<T>([&](A& x) { unread(x), x.lda = 0; }, "lda ");
    expect_refused<T>([&](A& x) { unread(x), x.ldb = 2; }, "ldb ");
    expect_refused<T>([&](A& x) { unread(x), x.ldc = 2; }, "ldc ");
    expect_refused<T>([&](A& x) { unread(x), x.c = nullptr; }, "c ");
    expect_refused<T>([&](A& x) { unread(x), x.op_b = static_cast<Op>(1); }, "op_b ");
  }
  expect_refused<T>([](A& x) { x.alpha = 0, x.lda = 3; }, "lda ");
}

TYPED_TEST(BlasGemm, WhatIsBeyondTheAddressSpaceIsRefused) {
  using A = Arguments<TypeParam>;
  using T = TypeParam;
  expect_refused<T>([](A& x) { x.lda = Index{1} << 62; },
                    "a is beyond the address space: 2 x 4 with lda = 4611686018427387904");
  expect_refused<T>([](A& x) { x.ldc = Index{1} << 61, x.m = 5; }, "c is beyond the address space");
  expect_refused<T>([](A& x) { x.k = x.lda = x.ldb = Index{1} << 62, x.op_b = Op::transpose; }, "a is beyond");
  A unread;
  unread.alpha = 0, unread.lda = std::numeric_limits<Index>::max();
  EXPECT_NO_THROW(unread.run());
}

TYPED_TEST(BlasGemm, OptionsThatDoNotFitAreRefused) {
  using A = Arguments<TypeParam>;
  using T = TypeParam;
  A fine;
  const auto decision = decide(fine.layout, fine.op_a, fine.op_b, fine.m, fine.n, fine.k, fine.alpha, fine.a, fine.lda, fine.b,
                               fine.ldb, fine.beta, static_cast<const T*>(nullptr), fine.ldc, fine.target, test::counting({}));
  const CpuEngine engine({.threads = 1});
  const PreparedOperand other(row_major<const T>(fine.a + 1, 2, 4, 4), Side::rows_of_a, decision, engine);
  const PreparedOperand b(row_major<const T>(fine.b, 4, 3, 3), Side::columns_of_b, decision, engine);
  const auto refused = [&](const Decision& by, const BlasOptions& options, const std::string& word) {
    A x;
    try {
      gemm(x.layout, x.op_a, x.op_b, x.m, x.n, x.k, x.alpha, fine.a, x.lda, fine.b, x.ldb, x.beta, x.c, x.ldc, by, options);
      ADD_FAILURE() << "not refused: " << word;
    } catch (const std::invalid_argument& e) {
      EXPECT_EQ(std::string(e.what()).find(word), 0u) << e.what();
    }
    EXPECT_EQ(x.memory_c, std::vector<T>(40, 7)) << "C was written: " << word;
  };
  auto wider = decision;
  wider.n = 4;
  refused(decision, {.threads = -1}, "threads ");
  refused(decision, {.workspace = 1}, "workspace ");
  refused(decision, {.prepared_a = &other}, "prepared_a ");
  refused(decision, {.prepared_a = &b}, "prepared_a ");
  refused(decision, {.prepared_b = &other}, "prepared_b ");
  refused(wider, {}, "decision: is for 2 x 4 x 4");
}

TEST(BlasGemm, ASubnormalScalarIsNotFlushed) {
  double c = 0;
  float narrow_c = 0;
  const double a = 0x1p600, b = 0x1p500;
  const float narrow_a = 0x1p100f, narrow_b = 0x1p20f;
  const auto target = Target::componentwise(1e-5);
  {
    const test::FlushToZero flushed;
    ASSERT_TRUE(!test::FlushToZero::available || test::flushes());
    gemm(Layout::row_major, Op::none, Op::none, 1, 1, 1, 0x1p-1060, &a, 1, &b, 1, 0, &c, 1, target);
    gemm(Layout::row_major, Op::none, Op::none, 1, 1, 1, 0x1p-140f, &narrow_a, 1, &narrow_b, 1, 0, &narrow_c, 1, target);
  }
  EXPECT_EQ(c, 0x1p40);
  EXPECT_EQ(narrow_c, 0x1p-20f);
}

}  // namespace
}  // namespace ozbound::blas_test
