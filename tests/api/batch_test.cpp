// SPDX-License-Identifier: BSD-3-Clause
#include "api/blas_calls.hpp"

#include "ozbound/batch.hpp"
#include "ozbound/core/cancellation.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace ozbound {
namespace {

using test::layouts;
using test::ops;
using test::Stored;

/// A batch with all that it refers to: matrices as a BLAS stores them, `padding` elements between one and the next.
template <class T>
struct OwnedBatch {
  Layout layout;
  Op op_a, op_b;
  Index m, n, k, count;
  bool share_a, share_b;
  Index lda, ldb, ldc, stride_a, stride_b, stride_c;
  T alpha = 1, beta = 0;
  std::vector<T> a, b, c;

  static constexpr T canary = Stored<T>::canary;

  OwnedBatch(Layout order, Op oa, Op ob, Index rows, Index cols, Index inner, Index products, bool one_a, bool one_b,
             Index padding, test::RandomBits& random)
      : layout(order), op_a(oa), op_b(ob), m(rows), n(cols), k(inner), count(products), share_a(one_a), share_b(one_b) {
    const auto place = [&](Index r, Index s, bool transposed, bool shared, Index& ld, Index& stride, std::vector<T>& memory) {
      const auto [lines, length] = (layout == Layout::row_major) != transposed ? std::tuple(r, s) : std::tuple(s, r);
      ld = std::max<Index>(1, length) + padding;
      stride = shared ? 0 : ld * lines + padding;
      memory.assign(static_cast<std::size_t>((count + 1) * (ld * lines + padding) + padding + 1), canary);
    };
    place(m, k, op_a != Op::none, share_a, lda, stride_a, a);
    place(k, n, op_b != Op::none, share_b, ldb, stride_b, b);
    place(m, n, false, false, ldc, stride_c, c);
    fill(a, random);
    fill(b, random);
    for (Index t = 0; t < count; ++t)
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) at(t, i, j) = static_cast<T>(random.below(100)) / 7;
  }

  /// Finite numbers; in every second run also NaN and an infinity. Magnitudes differ from one product to the next.
  void fill(std::vector<T>& memory, test::RandomBits& random) {
    const auto length = static_cast<std::size_t>(memory.size());
    for (std::size_t t = 0; t < length; ++t)
      memory[t] = static_cast<T>(std::ldexp(random.below(1 << 20) / 3.0, -static_cast<int>(60 * t / length)));
    if (random.once_in(2)) return;
    memory[static_cast<std::size_t>(random.below(static_cast<int>(length)))] = std::numeric_limits<T>::quiet_NaN();
    memory[static_cast<std::size_t>(random.below(static_cast<int>(length)))] = std::numeric_limits<T>::infinity();
  }

  T& at(Index t, Index i, Index j) {
    return c[static_cast<std::size_t>(t * stride_c + (layout == Layout::row_major ? i * ldc + j : j * ldc + i))];
  }

  [[nodiscard]] bool canaries_live() const {
    auto copy = *this;
    for (Index t = 0; t < count; ++t)
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) copy.at(t, i, j) = canary;
    return std::all_of(copy.c.begin(), copy.c.end(), [](T x) { return x == canary; });
  }

  template <class Choice>
  std::vector<Certificate> run(const Choice& choice, const BlasOptions& options = {}) {
    return gemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a.data(), lda, stride_a, b.data(), ldb, stride_b, beta,
                                c.data(), ldc, stride_c, count, choice, test::counting(options));
  }

  [[nodiscard]] std::vector<Decision> decisions(const Target& target, const BlasOptions& options = {}) const {
    return decide_strided_batched(layout, op_a, op_b, m, n, k, alpha, a.data(), lda, stride_a, b.data(), ldb, stride_b, beta,
                                  beta == 0 ? nullptr : c.data(), ldc, stride_c, count, target, test::counting(options));
  }

  /// Product t by itself.
  template <class Choice>
  Certificate run_alone(Index t, const Choice& choice, const BlasOptions& options = {}) {
    return gemm(layout, op_a, op_b, m, n, k, alpha, a.data() + t * stride_a, lda, b.data() + t * stride_b, ldb, beta,
                c.data() + t * stride_c, ldc, choice, test::counting(options));
  }

  /// All of C's memory, as bits: NaNs compare.
  [[nodiscard]] std::vector<std::uint64_t> bits() const {
    std::vector<std::uint64_t> all;
    for (const T x : c) all.push_back(bits_of(x));
    return all;
  }
};

template <class T>
class BatchedGemm : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(BatchedGemm, Types);

/// Every product has the bits and the certificate that it has alone; nothing beside the C's is written.
TYPED_TEST(BatchedGemm, IsEveryProductByItself) {
  test::RandomBits random(1);
  const Target targets[] = {Target::dgemm(), Target::dgemm_typical(), Target::correctly_rounded(), Target::relative(1e-6),
                            Target::componentwise(1e-5)};
  std::set<std::string> plans;
  for (const auto layout : layouts)
    for (const auto op_a : ops)
      for (const auto op_b : ops)
        for (int shared = 0; shared < 4; ++shared) {
          OwnedBatch<TypeParam> batch(layout, op_a, op_b, random.between(1, 5), random.between(1, 5), random.between(0, 9),
                                      random.between(1, 4), (shared & 1) != 0, (shared & 2) != 0, 3 * random.below(2), random);
          batch.alpha = static_cast<TypeParam>(random.once_in(2) ? 1 : -1.5);
          batch.beta = static_cast<TypeParam>(random.once_in(2) ? 0 : 0.75);
          if (batch.beta == 0) batch.at(0, 0, 0) = std::numeric_limits<TypeParam>::quiet_NaN();  // never read
          const auto& target = random.pick(targets);
          auto alone = batch;
          const auto certificates = batch.run(target, {.threads = 2});
          ASSERT_EQ(static_cast<Index>(certificates.size()), batch.count);
          for (Index t = 0; t < batch.count; ++t) {
            const auto expected = alone.run_alone(t, target, {.threads = 1});
            ASSERT_TRUE(expected.holds);
            ASSERT_EQ(to_json(certificates[static_cast<std::size_t>(t)]).dump(), to_json(expected).dump()) << t;
            for (const auto& plan : expected.plans) plans.insert(to_string(plan));
          }
          ASSERT_EQ(batch.bits(), alone.bits());
          ASSERT_TRUE(batch.canaries_live());
        }
  EXPECT_GT(plans.size(), 3u);
}

/// Decisions may be replayed: one for each product or one for all, under any workspace that is taken.
TYPED_TEST(BatchedGemm, UnderDecisions) {
  test::RandomBits random(2);
  for (int repetition = 0; repetition < 12; ++repetition) {
    OwnedBatch<TypeParam> batch(random.pick(layouts), random.pick(ops), random.pick(ops), 5, 4, 9, 5, random.once_in(2),
                                random.once_in(2), 2, random);
    const auto target = Target::componentwise(1e-6);
    const auto decisions = batch.decisions(target, {.native = false});
    ASSERT_TRUE(batch.canaries_live());
    auto expected = batch, capped = batch, one = batch, each = batch;
    expected.run(target, {.native = false});
    double cap = 0;
    for (const auto& decision : decisions)
      cap = std::max(cap, workspace_of(decision, CpuEngine({.threads = 1})).least * random.between(1, 4));
    capped.run(decisions, {.threads = 1, .workspace = cap});
    EXPECT_EQ(capped.bits(), expected.bits());
    const auto certificates = one.run(std::span(decisions).last(1));
    for (Index t = 0; t < batch.count; ++t) {
      const auto certificate = each.run_alone(t, decisions.back());
      EXPECT_EQ(to_json(certificate).dump(), to_json(certificates[static_cast<std::size_t>(t)]).dump());
    }
    EXPECT_EQ(one.bits(), each.bits());
  }
}

/// Products that want different slices of a shared operand, in an order that goes to and fro.
TEST(BatchedGemmOfDoubles, OneOperandInSeveralSlicings) {
  test::RandomBits random(3);
  OwnedBatch<double> batch(Layout::row_major, Op::none, Op::none, 4, 4, 6, 6, true, false, 0, random);
  auto decisions = batch.decisions(Target::dgemm(), {.native = false});
  for (std::size_t t = 0; t < decisions.size(); ++t)
    decisions[t].method = Method::slices, decisions[t].plan = SplitPlan::balanced(t % 2 == 0 ? 9 : 10, 9, 11);
  decisions[3].method = Method::exact, decisions[3].plan.reset();
  auto alone = batch;
  const auto certificates = batch.run(decisions);
  for (Index t = 0; t < 6; ++t)
    EXPECT_EQ(to_json(alone.run_alone(t, decisions[static_cast<std::size_t>(t)])).dump(),
              to_json(certificates[static_cast<std::size_t>(t)]).dump());
  EXPECT_EQ(batch.bits(), alone.bits());
}

/// C's that lie side by side in one matrix, or operands between them, are no overlap.
TEST(BatchedGemmOfDoubles, MatricesMayMesh) {
  std::vector<double> memory(100);
  for (std::size_t t = 0; t < memory.size(); ++t) memory[t] = static_cast<double>(t % 17) + 1;
  const auto before = memory;
  // Row-major 2 x 2 matrices: A, B and C of a product beside each other, 6 to a row, the next product below.
  const auto certificates = gemm_strided_batched(Layout::row_major, Op::none, Op::none, 2, 2, 2, 1.0, memory.data(), 6, 12,
                                                 memory.data() + 2, 6, 12, 0.0, memory.data() + 4, 6, 12, 8, Target::dgemm());
  ASSERT_EQ(certificates.size(), 8u);
  for (std::size_t t = 0; t < 8; ++t)
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j) {
        const auto* x = before.data() + 12 * t;
        EXPECT_EQ(memory[12 * t + 6 * i + 4 + j], x[6 * i] * x[2 + j] + x[6 * i + 1] * x[8 + j]);
        EXPECT_EQ(memory[12 * t + 6 * i + j], x[6 * i + j]);
      }
}

TYPED_TEST(BatchedGemm, NothingToDo) {
  using T = TypeParam;
  const T* none = nullptr;
  T* nothing = nullptr;
  const auto run = [&](Index m, Index n, Index k, Index count, T alpha, const T* a, T* c) {
    return gemm_strided_batched(Layout::row_major, Op::none, Op::none, m, n, k, alpha, a, std::max<Index>(1, k), m * k, a,
                                std::max<Index>(1, n), k * n, T{0}, c, std::max<Index>(1, n), m * n, count, Target::dgemm());
  };
  EXPECT_TRUE(run(2, 3, 4, 0, T{1}, none, nothing).empty());
  const std::vector<T> operands(36, 1);
  EXPECT_EQ(run(0, 3, 4, 3, T{1}, operands.data(), nothing).size(), 3u);
  EXPECT_EQ(run(2, 0, 4, 3, T{1}, operands.data(), nothing).size(), 3u);
  std::vector<T> c(18, 5);
  EXPECT_EQ(run(2, 3, 0, 3, T{1}, none, c.data()).size(), 3u);
  EXPECT_EQ(c, std::vector<T>(18, 0));
  c.assign(18, 5);
  EXPECT_EQ(run(2, 3, 4, 3, T{0}, none, c.data()).size(), 3u);
  EXPECT_EQ(c, std::vector<T>(18, 0));

  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_TRUE(run(2, 3, 4, 0, T{1}, static_cast<const T*>(page), static_cast<T*>(page)).empty());
  munmap(page, 4096);
}

/// Arguments that are all right: 3 products of 2 x 4 by 4 x 3, row-major.
template <class T>
struct BatchArguments {
  std::vector<T> memory_a = std::vector<T>(80, 1), memory_b = std::vector<T>(80, 1), memory_c = std::vector<T>(80, 7);
  Layout layout = Layout::row_major;
  Op op_a = Op::none, op_b = Op::none;
  Index m = 2, n = 3, k = 4;
  T alpha = 1;
  const T* a = memory_a.data();
  Index lda = 4, stride_a = 8;
  const T* b = memory_b.data();
  Index ldb = 3, stride_b = 12;
  T beta = 0;
  T* c = memory_c.data();
  Index ldc = 3, stride_c = 6, count = 3;
  Target target = Target::dgemm();
  std::vector<Decision> decisions = {};
  BlasOptions options = {};

  void run() {
    if (decisions.empty())
      (void)gemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,
                                 count, target, test::counting(options));
    else
      (void)gemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,
                                 count, decisions, test::counting(options));
  }
};

template <class T, class Exception = std::invalid_argument, class Change>
void expect_refused(const Change& change, const std::string& word) {
  BatchArguments<T> arguments;
  change(arguments);
  try {
    arguments.run();
    ADD_FAILURE() << "not refused: " << word;
  } catch (const Exception& e) {
    EXPECT_EQ(std::string(e.what()).find(word), 0u) << e.what();
  }
  EXPECT_EQ(arguments.memory_a, std::vector<T>(80, 1)) << word;
  EXPECT_EQ(arguments.memory_c, std::vector<T>(80, 7)) << "C was written: " << word;
}

TYPED_TEST(BatchedGemm, EveryRefusalNamesItsArgument) {
  using A = BatchArguments<TypeParam>;
  using T = TypeParam;
  EXPECT_NO_THROW(A{}.run());
  expect_refused<T>([](A& x) { x.count = -1; }, "batch_count ");
  expect_refused<T>([](A& x) { x.stride_a = -8; }, "stride_a ");
  expect_refused<T>([](A& x) { x.stride_b = -1; }, "stride_b ");
  expect_refused<T>([](A& x) { x.stride_c = -6; }, "stride_c ");
  expect_refused<T>([](A& x) { x.stride_a = Index{1} << 61; }, "stride_a leads beyond");
  expect_refused<T>([](A& x) { x.stride_b = Index{1} << 62; }, "stride_b leads beyond");
  expect_refused<T>([](A& x) { x.stride_c = Index{1} << 61; }, "stride_c leads beyond");
  expect_refused<T>([](A& x) { x.count = Index{1} << 61; }, "stride_a leads beyond");
  expect_refused<T>([](A& x) { x.lda = 3; }, "lda ");
  expect_refused<T>([](A& x) { x.lda = 3, x.count = 0; }, "lda ");
  expect_refused<T>([](A& x) { x.m = -1, x.count = 0; }, "m ");
  expect_refused<T>([](A& x) { x.a = nullptr; }, "a ");
  expect_refused<T>([](A& x) { x.b = nullptr; }, "b ");
  expect_refused<T>([](A& x) { x.c = nullptr; }, "c ");
  expect_refused<T>([](A& x) { x.stride_c = 0; }, "stride_c must keep the products apart: C of 0 and of 1 overlap");
  expect_refused<T>([](A& x) { x.stride_c = 5; }, "stride_c must keep the products apart: C of 0 and of 1 overlap");
  expect_refused<T>([](A& x) { x.ldc = 8, x.stride_c = 4; }, "stride_c must keep the products apart: C of 0 and of 2 overlap");
  expect_refused<T>([](A& x) { x.c = x.memory_a.data() + 16; },
                    "a must not overlap c: that of product 2 overlaps C of product 0");
  expect_refused<T>([](A& x) { x.c = x.memory_b.data(); }, "b must not overlap c");
  expect_refused<T>([](A& x) { x.c = x.memory_b.data() + 24; },
                    "b must not overlap c: that of product 2 overlaps C of product 0");
  expect_refused<T>([](A& x) { x.c = x.memory_a.data() + 8, x.stride_a = 0, x.count = 1, x.m = 3; }, "a must not overlap c");
  expect_refused<T>([](A& x) { x.a = x.c + 14, x.stride_a = 0; },
                    "a must not overlap c: that of product 0 overlaps C of product 2");
  expect_refused<T>([](A& x) { x.options.prepared_a = reinterpret_cast<const PreparedOperand*>(&x); }, "prepared_a ");
  expect_refused<T>([](A& x) { x.options.prepared_b = reinterpret_cast<const PreparedOperand*>(&x); }, "prepared_b ");
  expect_refused<T>([](A& x) { x.options.workspace = 1; }, "workspace ");
  expect_refused<T, CannotCertify>([](A& x) { x.target = Target::componentwise(0x1p-54); }, "target ");
  expect_refused<T>([](A& x) { x.decisions.resize(2); }, "decisions must be one, or one for each of 3 products: 2");
}

/// The last of several decisions cannot be carried out: the first product is not written either.
TYPED_TEST(BatchedGemm, NothingIsWrittenBeforeEveryDecisionIsSeen) {
  using A = BatchArguments<TypeParam>;
  using T = TypeParam;
  const auto last = [](const auto& spoil) {
    return [spoil](A& x) {
      Decision decision;
      decision.m = 2, decision.n = 3, decision.k = 4;
      decision.plan = SplitPlan::balanced(2, 2, 3);
      x.decisions.assign(3, decision);
      spoil(x.decisions[2]);
    };
  };
  expect_refused<T>(last([](Decision& d) { d.m = 3; }), "decision: is for 3 x 3 x 4");
  expect_refused<T>(last([](Decision& d) { d.plan.reset(); }), "decision: plan is missing");
  expect_refused<T>(last([](Decision& d) { d.plan = SplitPlan::balanced(2, 2, 9); }), "plan: cut ");
  expect_refused<T, CannotCertify>(last([](Decision& d) { d.target = Target::relative(1e-30); }), "target relative:1e-30");
}

TEST(BatchedGemmOfDoubles, EndsWhereItIsCancelled) {
  using A = BatchArguments<double>;
  const std::atomic<bool> set = true;
  const CancelScope scope(set);
  expect_refused<double, Cancelled>([](A&) {}, "cancelled before C was written");
  Decision decision;
  decision.m = 2, decision.n = 3, decision.k = 4, decision.plan = SplitPlan::balanced(2, 2, 3);
  expect_refused<double, Cancelled>([&](A& x) { x.decisions = {decision}; }, "cancelled: entries of C may be written");
}

}  // namespace
}  // namespace ozbound
