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
#include <complex>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace ozbound::batch_test {
namespace {

using test::layouts;
using test::ops;
using test::Stored;

template <class T>
constexpr bool complex = !std::is_floating_point_v<T>;

/// A number of the element type; the imaginary part is used only if the type has one.
template <class T>
T number(double real, double imaginary = 0) {
  if constexpr (complex<T>)
    return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary)};
  else
    return static_cast<T>(real);
}

template <class T>
T scalar(test::RandomBits& random, double plain, double other) {
  return random.once_in(2) ? number<T>(plain) : number<T>(other, random.below(2));
}

/// All of a matrix's memory as bits, so NaNs compare.
template <class T>
std::vector<std::uint64_t> bits_of_all(const std::vector<T>& memory) {
  std::vector<std::uint64_t> all;
  for (const T& x : memory) {
    if constexpr (complex<T>)
      all.push_back(bits_of(x.real())), all.push_back(bits_of(x.imag()));
    else
      all.push_back(bits_of(x));
  }
  return all;
}

enum class Form { strided, pointers };

/// A batch that owns everything it refers to: matrices as a BLAS stores them, with `padding` elements between them.
template <class T>
struct OwnedBatch {
  Layout layout;
  Op op_a, op_b;
  Index m, n, k, count;
  bool share_a, share_b;
  Index lda, ldb, ldc, stride_a, stride_b, stride_c;
  T alpha = T{1}, beta = T{0};
  std::vector<T> a, b, c;
  Form form = Form::strided;

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
        for (Index j = 0; j < n; ++j) at(t, i, j) = number<T>(random.below(100) / 7.0, random.below(100) / 7.0);
  }

  /// Fills memory with finite numbers and, in every second run, also NaN and an infinity. Magnitudes differ between products.
  void fill(std::vector<T>& memory, test::RandomBits& random) {
    const auto length = static_cast<std::size_t>(memory.size());
    const auto finite = [&](std::size_t t) {
      return std::ldexp(random.below(1 << 20) / 3.0, -static_cast<int>(60 * t / length));
    };
    for (std::size_t t = 0; t < length; ++t) {
      const double real = finite(t);
      memory[t] = number<T>(real, finite(t));
    }
    if (random.once_in(2)) return;
    memory[static_cast<std::size_t>(random.below(static_cast<int>(length)))] =
        number<T>(std::numeric_limits<double>::quiet_NaN());
    memory[static_cast<std::size_t>(random.below(static_cast<int>(length)))] =
        number<T>(std::numeric_limits<double>::infinity());
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
    if (form == Form::pointers) {
      const Pointers at(*this);
      return gemm_batched(at.batch(*this), choice, test::counting(options));
    }
    return gemm_strided_batched(layout, op_a, op_b, m, n, k, alpha, a.data(), lda, stride_a, b.data(), ldb, stride_b, beta,
                                c.data(), ldc, stride_c, count, choice, test::counting(options));
  }

  [[nodiscard]] std::vector<Decision> decisions(const Target& target, const BlasOptions& options = {}) {
    if (form == Form::pointers) {
      const Pointers at(*this);
      auto batch = at.batch(*this);
      if (beta == T{0}) batch.c = nullptr;
      return decide_batched(batch, target, test::counting(options));
    }
    return decide_strided_batched(layout, op_a, op_b, m, n, k, alpha, a.data(), lda, stride_a, b.data(), ldb, stride_b, beta,
                                  beta == T{0} ? nullptr : c.data(), ldc, stride_c, count, target, test::counting(options));
  }

  /// The same batch by pointers. An operand that all products share has only one pointer.
  struct Pointers {
    std::vector<const T*> a, b;
    std::vector<T*> c;

    explicit Pointers(OwnedBatch& of) {
      for (Index t = 0; t < of.count; ++t) {
        if (t == 0 || !of.share_a) a.push_back(of.a.data() + t * of.stride_a);
        if (t == 0 || !of.share_b) b.push_back(of.b.data() + t * of.stride_b);
        c.push_back(of.c.data() + t * of.stride_c);
      }
    }

    [[nodiscard]] GemmBatch<T> batch(const OwnedBatch& of) const {
      return {of.layout, of.op_a, of.op_b, of.m, of.n, of.k, of.alpha, a, of.lda, b, of.ldb, of.beta, c, of.ldc, of.count};
    }
  };

  /// Computes product t in a call of its own.
  template <class Choice>
  Certificate run_alone(Index t, const Choice& choice, const BlasOptions& options = {}) {
    return gemm(layout, op_a, op_b, m, n, k, alpha, a.data() + t * stride_a, lda, b.data() + t * stride_b, ldb, beta,
                c.data() + t * stride_c, ldc, choice, test::counting(options));
  }

  [[nodiscard]] std::vector<std::uint64_t> bits() const { return bits_of_all(c); }
};

template <class T>
class BatchedGemm : public testing::Test {};
using Types = testing::Types<double, float, std::complex<double>, std::complex<float>>;
TYPED_TEST_SUITE(BatchedGemm, Types);

/// Every product has the bits and the certificate of a single call, and nothing beside the C's is written.
TYPED_TEST(BatchedGemm, IsEveryProductByItself) {
  test::RandomBits random(1);
  const Target targets[] = {Target::dgemm(), Target::dgemm_typical(), Target::correctly_rounded(), Target::relative(1e-6),
                            Target::componentwise(1e-5)};
  std::set<std::string> plans;
  for (const auto layout : layouts)
    for (const auto op_a : ops)
      for (const auto op_b : ops)
        for (int shared = 0; shared < 8; ++shared) {
          OwnedBatch<TypeParam> batch(layout, op_a, op_b, random.between(1, 5), random.between(1, 5), random.between(0, 9),
                                      random.between(1, 4), (shared & 1) != 0, (shared & 2) != 0, 3 * random.below(2), random);
          batch.form = (shared & 4) != 0 ? Form::pointers : Form::strided;
          batch.alpha = scalar<TypeParam>(random, 1, -1.5);
          batch.beta = scalar<TypeParam>(random, 0, 0.75);
          if (batch.beta == TypeParam{0})
            batch.at(0, 0, 0) = number<TypeParam>(std::numeric_limits<double>::quiet_NaN());  // never read
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

/// Decisions may be replayed, one for each product or one for all, under any accepted workspace.
TYPED_TEST(BatchedGemm, UnderDecisions) {
  test::RandomBits random(2);
  for (int repetition = 0; repetition < 12; ++repetition) {
    OwnedBatch<TypeParam> batch(random.pick(layouts), random.pick(ops), random.pick(ops), 5, 4, 9, 5, random.once_in(2),
                                random.once_in(2), 2, random);
    batch.form = random.once_in(2) ? Form::pointers : Form::strided;
    const auto target = Target::componentwise(1e-6);
    const BlasOptions choices{.native = false, .residues = repetition % 2 == 0};
    const auto decisions = batch.decisions(target, choices);
    ASSERT_TRUE(batch.canaries_live());
    auto expected = batch, capped = batch, one = batch, each = batch;
    expected.run(target, choices);
    double cap = 0;
    for (const auto& decision : decisions)
      cap = std::max(cap, workspace_of(decision, CpuEngine({.threads = 1})).least * random.between(1, 4));
    capped.run(decisions, {.threads = 1, .workspace = cap});
    EXPECT_EQ(capped.bits(), expected.bits());
    if (choices.residues) continue;  // moduli for one product may not hold another
    const auto certificates = one.run(std::span(decisions).last(1));
    for (Index t = 0; t < batch.count; ++t) {
      const auto certificate = each.run_alone(t, decisions.back());
      EXPECT_EQ(to_json(certificate).dump(), to_json(certificates[static_cast<std::size_t>(t)]).dump());
    }
    EXPECT_EQ(one.bits(), each.bits());
  }
}

/// Products that need different slices of a shared operand, in alternating order, give the bits and certificates of single
/// calls.
TEST(BatchedGemmOfDoubles, OneOperandInSeveralSlicings) {
  test::RandomBits random(3);
  for (const auto form : {Form::strided, Form::pointers}) {
    OwnedBatch<double> batch(Layout::row_major, Op::none, Op::none, 4, 4, 6, 6, true, false, 0, random);
    batch.form = form;
    auto decisions = batch.decisions(Target::dgemm(), {.native = false});
    for (std::size_t t = 0; t < decisions.size(); ++t)
      decisions[t].method = Method::one_plan, decisions[t].plan = SplitPlan::balanced(t % 2 == 0 ? 9 : 10, 9, 11);
    decisions[3].method = Method::exact, decisions[3].plan.reset();
    auto alone = batch;
    const auto certificates = batch.run(decisions);
    for (Index t = 0; t < 6; ++t)
      EXPECT_EQ(to_json(alone.run_alone(t, decisions[static_cast<std::size_t>(t)])).dump(),
                to_json(certificates[static_cast<std::size_t>(t)]).dump());
    EXPECT_EQ(batch.bits(), alone.bits());
  }
}

/// Products that need residues of a shared operand with different moduli give the bits and certificates of single calls.
TEST(BatchedGemmOfDoubles, OneOperandInResiduesOfSeveralModuli) {
  test::RandomBits random(4);
  for (const auto form : {Form::strided, Form::pointers})
    for (const double workspace : {unlimited_workspace, 3e5}) {
      OwnedBatch<double> batch(Layout::row_major, Op::none, Op::none, 4, 4, 6, 7, true, false, 0, random);
      batch.form = form;
      auto decisions = batch.decisions(Target::dgemm(), {.native = false});
      const int moduli[] = {13, 15, 20, 13, 17, 13, 14};
      for (std::size_t t = 0; t < decisions.size(); ++t)
        decisions[t].method = Method::one_plan, decisions[t].plan = ResiduePlan{moduli[t], t == 5 ? 41 : 40, 42};
      decisions[3].plan = SplitPlan::balanced(9, 9, 11);
      auto alone = batch;
      const auto certificates = batch.run(decisions, {.workspace = workspace});
      for (Index t = 0; t < 7; ++t)
        EXPECT_EQ(to_json(alone.run_alone(t, decisions[static_cast<std::size_t>(t)])).dump(),
                  to_json(certificates[static_cast<std::size_t>(t)]).dump());
      EXPECT_EQ(batch.bits(), alone.bits());
    }
}

/// Products by pointers of every shape, some empty, each with its own scalars, operations and leading dimensions. They share
/// operands: as they are, transposed, or as a block.
template <class T>
struct MixedBatch {
  Layout layout;
  std::vector<Op> op_a, op_b;
  std::vector<Index> m, n, k, lda, ldb, ldc;
  std::vector<T> alpha, beta;
  std::vector<const T*> a, b;
  std::vector<T*> c;
  std::vector<T> operands;
  std::vector<Stored<T>> results;

  MixedBatch(Layout order, int count, test::RandomBits& random) : layout(order), operands(400) {
    for (T& x : operands) x = number<T>(std::ldexp(random.between(-999, 999), -random.below(60)), random.between(-9, 9) / 3.0);
    for (int t = 0; t < count; ++t) {
      op_a.push_back(random.pick(ops)), op_b.push_back(random.pick(ops));
      m.push_back(random.below(5)), n.push_back(random.between(1, 5)), k.push_back(random.below(9));
      lda.push_back(random.between(9, 12)), ldb.push_back(random.between(9, 12));
      alpha.push_back(random.once_in(5) ? T{0} : scalar<T>(random, 1, -0.375));
      beta.push_back(scalar<T>(random, 0, 3));
      a.push_back(alpha.back() == T{0} ? nullptr : operands.data() + 9 * random.below(3));
      b.push_back(alpha.back() == T{0} ? nullptr : operands.data() + 9 * random.below(3));
      results.emplace_back(layout, m.back(), n.back(), random.below(4));
      ldc.push_back(results.back().ld);
      for (Index i = 0; i < m.back(); ++i)
        for (Index j = 0; j < n.back(); ++j)
          results.back().at(i, j) =
              beta.back() == T{0} ? number<T>(std::numeric_limits<double>::quiet_NaN()) : number<T>(random.below(100), -1);
    }
    for (auto& result : results) c.push_back(result.data());
  }
  MixedBatch(const MixedBatch&) = delete;
  MixedBatch& operator=(const MixedBatch&) = delete;
  ~MixedBatch() = default;

  [[nodiscard]] GemmBatch<T> batch() const {
    return {layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, static_cast<Index>(c.size())};
  }

  [[nodiscard]] std::vector<std::vector<std::uint64_t>> bits() const {
    std::vector<std::vector<std::uint64_t>> all;
    for (const auto& result : results) all.push_back(bits_of_all(result.memory));
    return all;
  }

  void restore(const std::vector<Stored<T>>& before) {
    for (std::size_t t = 0; t < results.size(); ++t)
      std::copy(before[t].memory.begin(), before[t].memory.end(), results[t].memory.begin());
  }
};

TYPED_TEST(BatchedGemm, ByPointersOfEveryShape) {
  using T = TypeParam;
  test::RandomBits random(7);
  const Target targets[] = {Target::dgemm(), Target::correctly_rounded(), Target::componentwise(1e-5)};
  int shared = 0;
  for (int repetition = 0; repetition < 40; ++repetition) {
    const int count = random.between(1, 9);
    MixedBatch<T> of(random.pick(layouts), count, random);
    const auto before = of.results;
    const auto operands = bits_of_all(of.operands);
    const auto& target = random.pick(targets);
    const auto options = test::counting({.threads = 1});
    std::vector<std::string> expected;
    for (std::size_t t = 0; t < of.c.size(); ++t)
      expected.push_back(to_json(gemm(of.layout, of.op_a[t], of.op_b[t], of.m[t], of.n[t], of.k[t], of.alpha[t], of.a[t],
                                      of.lda[t], of.b[t], of.ldb[t], of.beta[t], of.c[t], of.ldc[t], target, options))
                             .dump());
    const auto bits = of.bits();
    const auto expect_the_same = [&](const std::vector<Certificate>& certificates) {
      ASSERT_EQ(certificates.size(), expected.size());
      for (std::size_t t = 0; t < expected.size(); ++t) ASSERT_EQ(to_json(certificates[t]).dump(), expected[t]) << t;
      ASSERT_EQ(of.bits(), bits);
      for (auto& result : of.results) ASSERT_TRUE(result.canaries_live());
      ASSERT_EQ(bits_of_all(of.operands), operands);
    };
    of.restore(before);
    expect_the_same(gemm_batched(of.batch(), target, test::counting({.threads = 2})));

    of.restore(before);
    std::vector<Decision> decisions;
    for (const auto& decision : decide_batched(of.batch(), target, options)) {
      decisions.push_back(parse_decision(to_json(decision).dump()));
      shared += decision.plan ? 1 : 0;
    }
    expect_the_same(gemm_batched(of.batch(), decisions, options));
  }
  EXPECT_GT(shared, 20) << "by slices";
}

/// C's that lie side by side in one matrix, or with operands between them, do not overlap.
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

/// C's that lie in each other's gaps, in any order, do not overlap; with one column more they do.
TYPED_TEST(BatchedGemm, ByPointersMatricesMayMesh) {
  using T = TypeParam;
  std::vector<T> memory(100, T{7});
  const std::vector<T> operands(4, T{1});
  // Row-major 2 x 2 matrices side by side in rows of 10, the last first.
  std::vector<T*> c;
  for (int t = 4; t >= 0; --t) c.push_back(memory.data() + 2 * t);
  GemmBatch<T> batch{Layout::row_major, Op::none, Op::none, 2, 2,  2, T{1}, operands.data(), 2,
                     operands.data(),   2,        T{0},     c, 10, 5};
  EXPECT_EQ(gemm_batched(batch, Target::dgemm()).size(), 5u);
  for (std::size_t t = 0; t < 20; ++t) EXPECT_EQ(memory[t], T{2}) << t;
  EXPECT_EQ(memory[20], T{7});
  memory.assign(100, T{7});
  ++c[3];  // product 3 now has columns 3 and 4, product 2 has 4 and 5
  try {
    (void)gemm_batched(batch, Target::dgemm());
    FAIL() << "not refused";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "c must keep the products apart: C of 2 and of 3 overlap");
  }
  EXPECT_EQ(memory, std::vector<T>(100, T{7}));
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
  const std::vector<T> operands(36, T{1});
  EXPECT_EQ(run(0, 3, 4, 3, T{1}, operands.data(), nothing).size(), 3u);
  EXPECT_EQ(run(2, 0, 4, 3, T{1}, operands.data(), nothing).size(), 3u);
  std::vector<T> c(18, T{5});
  EXPECT_EQ(run(2, 3, 0, 3, T{1}, none, c.data()).size(), 3u);
  EXPECT_EQ(c, std::vector<T>(18, T{0}));
  c.assign(18, T{5});
  EXPECT_EQ(run(2, 3, 4, 3, T{0}, none, c.data()).size(), 3u);
  EXPECT_EQ(c, std::vector<T>(18, T{0}));

  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_TRUE(run(2, 3, 4, 0, T{1}, static_cast<const T*>(page), static_cast<T*>(page)).empty());
  munmap(page, 4096);
}

/// Valid arguments: 3 products of 2 x 4 by 4 x 3, row-major.
template <class T>
struct BatchArguments {
  std::vector<T> memory_a = std::vector<T>(80, T{1}), memory_b = memory_a, memory_c = std::vector<T>(80, T{7});
  Layout layout = Layout::row_major;
  Op op_a = Op::none, op_b = Op::none;
  Index m = 2, n = 3, k = 4;
  T alpha = T{1};
  const T* a = memory_a.data();
  Index lda = 4, stride_a = 8;
  const T* b = memory_b.data();
  Index ldb = 3, stride_b = 12;
  T beta = T{0};
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
  EXPECT_EQ(arguments.memory_a, std::vector<T>(80, T{1})) << word;
  EXPECT_EQ(arguments.memory_c, std::vector<T>(80, T{7})) << "C was written: " << word;
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
  expect_refused<T>([](A& x) { x.options.workspace = 1; }, "product 0: workspace ");
  expect_refused<T, CannotCertify>([](A& x) { x.target = Target::componentwise(0x1p-54); }, "product 0: target ");
  expect_refused<T>([](A& x) { x.decisions.resize(2); }, "decisions must be one, or one for each of 3 products: 2");
}

/// Nothing is written, not even the first product, if the last of several decisions cannot be carried out.
TYPED_TEST(BatchedGemm, NothingIsWrittenBeforeEveryDecisionIsSeen) {
  using A = BatchArguments<TypeParam>;
  using T = TypeParam;
  const auto last = [](const auto& spoil) {
    return [spoil](A& x) {
      Decision decision;
      decision.complex = complex<T>;
      decision.m = 2, decision.n = 3, decision.k = 4;
      decision.plan = SplitPlan::balanced(2, 2, 3);
      x.decisions.assign(3, decision);
      spoil(x.decisions[2]);
    };
  };
  expect_refused<T>(last([](Decision& d) { d.m = 3; }),
                    complex<T> ? "product 2: decision: is for a complex 3 x 3 x 4" : "product 2: decision: is for 3 x 3 x 4");
  expect_refused<T>(last([](Decision& d) { d.plan.reset(); }), "product 2: decision: plan is missing");
  expect_refused<T>(last([](Decision& d) { d.plan = SplitPlan::balanced(2, 2, 9); }), "product 2: plan: cut ");
  expect_refused<T, CannotCertify>(last([](Decision& d) { d.target = Target::relative(1e-30); }),
                                   "product 2: target relative:1e-30");
}

/// Valid arguments by pointers: 3 products of 2 x 4 by 4 x 3, row-major, of the matrices of the strided arguments.
template <class T>
struct PointerArguments {
  std::vector<T> memory_a = std::vector<T>(80, T{1}), memory_b = memory_a, memory_c = std::vector<T>(80, T{7});
  Layout layout = Layout::row_major;
  std::vector<Op> op_a{Op::none}, op_b{Op::none, Op::none, Op::none};
  std::vector<Index> m{2, 2, 2}, n{3}, k{4, 4, 4}, lda{4, 4, 4}, ldb{3}, ldc{3, 3, 3};
  std::vector<T> alpha{T{1}, T{1}, T{1}}, beta{T{0}};
  std::vector<const T*> a, b;
  std::vector<T*> c;
  Index count = 3;
  Target target = Target::dgemm();
  std::vector<Decision> decisions = {};
  BlasOptions options = {};

  PointerArguments() {
    for (int t = 0; t < 3; ++t)
      a.push_back(memory_a.data() + 8 * t), b.push_back(memory_b.data() + 12 * t), c.push_back(memory_c.data() + 6 * t);
  }
  PointerArguments(const PointerArguments&) = delete;
  PointerArguments& operator=(const PointerArguments&) = delete;
  ~PointerArguments() = default;

  [[nodiscard]] GemmBatch<T> batch() const { return {layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count}; }

  void run() {
    if (decisions.empty())
      (void)gemm_batched(batch(), target, test::counting(options));
    else
      (void)gemm_batched(batch(), decisions, test::counting(options));
  }
};

/// A refusal names an argument with its product, or as an argument of all products.
TYPED_TEST(BatchedGemm, EveryRefusalByPointersNamesItsProduct) {
  using T = TypeParam;
  using A = PointerArguments<T>;
  const auto refused = [](const auto& change, const std::string& words, bool decides = true) {
    A x;
    change(x);
    const auto judge = [&](const auto& call) {
      try {
        call();
        ADD_FAILURE() << "not refused: " << words;
      } catch (const std::invalid_argument& e) {
        EXPECT_EQ(std::string(e.what()).find(words), 0u) << e.what();
      } catch (const CannotCertify& e) {
        EXPECT_EQ(std::string(e.what()).find(words), 0u) << e.what();
      }
      EXPECT_EQ(x.memory_a, std::vector<T>(80, T{1})) << words;
      EXPECT_EQ(x.memory_c, std::vector<T>(80, T{7})) << words;
    };
    judge([&] { x.run(); });
    if (decides) judge([&] { (void)decide_batched(x.batch(), x.target); });
  };
  A fine;
  EXPECT_NO_THROW(fine.run());
  refused([](A& x) { x.layout = static_cast<Layout>('X'); }, "layout ");
  refused([](A& x) { x.count = -1; }, "batch_count must not be negative: -1");
  refused([](A& x) { x.count = 2; }, "op_b must be one, or one for each of 2 products: 3");
  refused([](A& x) { x.a.pop_back(); }, "a must be one, or one for each of 3 products: 2");
  refused([](A& x) { x.b.clear(); }, "b must be one, or one for each of 3 products: 0");
  refused([](A& x) { x.c.push_back(nullptr); }, "c must be one, or one for each of 3 products: 4");
  refused([](A& x) { x.beta.assign(2, T{0}); }, "beta must be one, or one for each of 3 products: 2");
  refused([](A& x) { x.ldc.pop_back(); }, "ldc must be one, or one for each of 3 products: 2");
  refused([](A& x) { x.op_a[0] = static_cast<Op>('X'); }, "product 0: op_a ");
  refused([](A& x) { x.op_b[1] = static_cast<Op>('X'); }, "product 1: op_b ");
  refused([](A& x) { x.m[2] = -1; }, "product 2: m must not be negative: -1");
  refused([](A& x) { x.n[0] = -1; }, "product 0: n must not be negative: -1");
  refused([](A& x) { x.k[1] = -5; }, "product 1: k must not be negative: -5");
  refused([](A& x) { x.lda[2] = 3; }, "product 2: lda must be at least 4: 3");
  refused([](A& x) { x.k[1] = 5; }, "product 1: lda must be at least 5: 4");
  refused([](A& x) { x.ldb[0] = 2; }, "product 0: ldb must be at least 3: 2");
  refused([](A& x) { x.ldc[1] = 0; }, "product 1: ldc must be at least 3: 0");
  refused([](A& x) { x.lda[1] = Index{1} << 62; }, "product 1: a is beyond the address space");
  refused([](A& x) { x.a[1] = nullptr; }, "product 1: a must not be null");
  refused([](A& x) { x.b[2] = nullptr; }, "product 2: b must not be null");
  refused([](A& x) { x.c[0] = nullptr; }, "product 0: c must not be null", false);
  refused([](A& x) { x.c[0] = nullptr, x.beta[0] = T{1}; }, "product 0: c must not be null");
  refused([](A& x) { x.c[2] = x.c[0]; }, "c must keep the products apart: C of 0 and of 2 overlap", false);
  refused([](A& x) { x.c.resize(1); }, "c must keep the products apart: C of 0 and of 1 overlap", false);
  refused([](A& x) { x.c[1] = x.c[2] + 5; }, "c must keep the products apart: C of 1 and of 2 overlap", false);
  refused([](A& x) { x.c[1] = x.memory_a.data() + 23; }, "a must not overlap c: that of product 2 overlaps C of product 1",
          false);
  refused([](A& x) { x.c[2] = x.memory_b.data() + 8; }, "b must not overlap c: that of product 0 overlaps C of product 2",
          false);
  refused([](A& x) { x.target = Target::componentwise(0x1p-54); }, "product 0: target ");
  refused([](A& x) { x.options.workspace = 1; }, "product 0: workspace ", false);
  refused([](A& x) { x.options.prepared_a = reinterpret_cast<const PreparedOperand*>(&x); }, "prepared_a ", false);
  refused([](A& x) { x.decisions.resize(2); }, "decisions must be one, or one for each of 3 products: 2", false);
  refused([](A& x) { x.options.place = on_cuda_device(0); }, "product 0: a, b and c must lie where the machine takes them from",
          false);
}

/// Arguments that are not read may be null or lie in C, and with no products no argument is read.
TYPED_TEST(BatchedGemm, ByPointersNothingToDo) {
  using T = TypeParam;
  PointerArguments<T> x;
  x.alpha = {T{0}, T{1}, T{1}}, x.k = {4, 0, 4}, x.n = {3, 3, 0}, x.ldb = {3, 3, 1};
  x.a[0] = x.c[0], x.b[0] = nullptr, x.a[1] = nullptr, x.b[1] = nullptr, x.b[2] = nullptr, x.c[2] = nullptr;
  EXPECT_EQ(gemm_batched(x.batch(), Target::dgemm()).size(), 3u);
  auto expected = std::vector<T>(80, T{7});
  std::fill_n(expected.begin(), 12, T{0});
  EXPECT_EQ(x.memory_c, expected);
  const std::vector<T*> none;
  const std::vector<const T*> nothing;
  const std::vector<Index> no_sizes;
  const GemmBatch<T> empty{Layout::row_major, Op::none, Op::none, no_sizes, -1, 2, T{1}, nothing, 0,
                           nothing,           0,        T{0},     none,     0,  0};
  EXPECT_TRUE(gemm_batched(empty, Target::dgemm()).empty());
  EXPECT_TRUE(decide_batched(empty, Target::dgemm()).empty());
  EXPECT_TRUE(gemm_batched(empty, std::vector<Decision>()).empty());
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
}  // namespace ozbound::batch_test
