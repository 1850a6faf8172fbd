// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/gemm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "support/faulty_engine.hpp"
#include "support/gemm_calls.hpp"

namespace ozbound::gemm_test {
namespace {

using test::OwnedProduct;
using test::RandomBits;
using test::StoredMatrix;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// C is what the definition says, bit by bit, and nothing else is written: for any plan, shape, storage, element types,
/// scalars, C0, blocking, threads and workspace, finite or not.
RC_GTEST_PROP(GemmTest, IsWhatItsDefinitionSays, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 30; ++repetition) {
    const bool near = !random.once_in(3);
    auto call = test::sample_call({random.below(8), random.below(11), random.below(20), near}, random);
    if (random.once_in(4)) {
      test::strew_specials(call.a, 30, random);
      test::strew_specials(call.b, 30, random);
      if (call.source == OwnedProduct::C0::in_place) test::strew_specials(call.c, 10, random);
      if (call.source == OwnedProduct::C0::separate) test::strew_specials(call.c0, 10, random);
    }
    const auto plan = test::sample_plan(random, random.once_in(4) ? max_slices : 8);
    const auto options = test::sample_options(random);
    const auto least = least_workspace(CpuEngine(options), plan, call.alpha == 0 ? 0 : call.a.cols());
    const auto result =
        test::multiplies_rightly(call, plan, options, random.once_in(2) ? unlimited_workspace : least * random.between(1, 6));
    if (!result) RC_FAIL(result.message());
  }
}

/// C is right for all encodings and accumulations in tall, flat and awkward shapes.
TEST(GemmTest, ShapesAndPlans) {
  RandomBits random(2);
  const test::CallShape shapes[] = {{7, 61, 68}, {1, 1, 1},   {1, 40, 3}, {40, 1, 3},
                                    {1, 1, 300}, {33, 65, 1}, {64, 2, 2}, {3, 5, 130}};
  for (const auto& shape : shapes)
    for (const char* text :
         {"balanced:7x7:cut=8:exact", "truncated7:8x8:cut=9:per_diagonal", "nearest7,truncated7:4x9:full:per_product",
          "balanced:2x5:full:per_diagonal", "truncated3:9x20:cut=21:exact"})
      EXPECT_TRUE(test::multiplies_rightly(test::sample_call(shape, random), parse_plan(text), {.threads = 2}));
}

/// Kept slices of A, of B or of both give the same bits as new slices, for any workspace.
RC_GTEST_PROP(GemmTest, KeptSlicesGiveTheSameBits, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 10; ++repetition) {
    auto call = test::sample_call({random.below(8), random.below(11), random.below(20)}, random);
    if (random.once_in(3)) test::strew_specials(call.a, 20, random), test::strew_specials(call.b, 20, random);
    const auto plan = test::sample_plan(random, 8);
    const CpuEngine engine(test::sample_options(random));
    auto plain = call;
    multiply_unproven(plain.product(), plan, engine);

    const auto kept_a = engine.prepare(call.a.input(), Side::rows_of_a, plan.a);
    const auto kept_b = engine.prepare(call.b.input(), Side::columns_of_b, plan.b);
    const bool keep_a = random.once_in(2), keep_b = !keep_a || random.once_in(2);
    const auto& [m, n, k] = std::tuple(call.c.rows(), call.c.cols(), call.a.cols());
    const auto least = engine.workspace(plan, keep_a ? std::max<Index>(m, 1) : 1, keep_b ? std::max<Index>(n, 1) : 1, k);
    apply_specials(call.product(), engine.threads());
    multiply_finite(call.product(), plan, engine, {keep_a ? &kept_a : nullptr, keep_b ? &kept_b : nullptr}, nullptr,
                    random.once_in(2) ? unlimited_workspace : least * random.between(1, 3));
    RC_ASSERT(test::bits_of_matrix(call.c) == test::bits_of_matrix(plain.c));
  }
}

/// Kept residues of the plan's moduli, or of more, give the same bits on every kernel and in blocks of any length.
RC_GTEST_PROP(GemmTest, KeptResiduesGiveTheSameBits, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 10; ++repetition) {
    auto call = test::sample_call({random.below(8), random.below(11), random.below(60)}, random);
    if (random.once_in(3)) test::strew_specials(call.a, 20, random), test::strew_specials(call.b, 20, random);
    const int moduli = random.between(5, max_moduli);
    const ResiduePlan plan{moduli, random.between(7, 3 * moduli - 4), random.between(7, 3 * moduli - 4)};
    const CpuEngine engine(test::sample_options(random));
    auto plain = call;
    multiply_unproven(plain.product(), plan, engine);

    const auto prepared = [&](InputView operand, Side side, ResidueForm form) {
      form.moduli = random.between(form.moduli, max_moduli);
      return engine.prepare(operand, side, form);
    };
    const auto kept_a = prepared(call.a.input(), Side::rows_of_a, plan.a());
    const auto kept_b = prepared(call.b.input(), Side::columns_of_b, plan.b());
    const bool keep_a = random.once_in(2), keep_b = !keep_a || random.once_in(2);
    apply_specials(call.product(), engine.threads());
    multiply_finite(call.product(), plan, engine, {keep_a ? &kept_a : nullptr, keep_b ? &kept_b : nullptr});
    RC_ASSERT(test::bits_of_matrix(call.c) == test::bits_of_matrix(plain.c));
  }
}

TEST(GemmTest, KeptResiduesAreRefusedWhereTheyDoNotFit) {
  RandomBits random(9);
  auto call = test::sample_call({4, 5, 30}, random);
  call.alpha = 1;
  const CpuEngine engine({.threads = 1});
  const auto before = test::bits_of_matrix(call.c);
  const auto refused = [&](const OperandForm& form, Side side, const std::string& message) {
    const auto kept = engine.prepare(side == Side::rows_of_a ? call.a.input() : call.b.input(), side, form);
    EXPECT_THAT([&] { multiply_finite(call.product(), ResiduePlan{13, 40, 41}, engine, {&kept, nullptr}); },
                testing::ThrowsMessage<std::invalid_argument>(message));
    EXPECT_EQ(test::bits_of_matrix(call.c), before);
  };
  refused(ResidueForm{12, 40}, Side::rows_of_a, "a has other residues than the plan says");
  refused(ResidueForm{13, 41}, Side::rows_of_a, "a has other residues than the plan says");
  refused(ResidueForm{14, 39}, Side::rows_of_a, "a has other residues than the plan says");
  refused(ResidueForm{13, 40}, Side::columns_of_b, "a must have residues of rows");
  refused(Slicing{Encoding::balanced(), 3}, Side::rows_of_a, "a plan by residues takes no slices");
  const auto narrow = engine.prepare(call.b.input().block(0, 0, 29, 5), Side::columns_of_b, ResidueForm{13, 41});
  EXPECT_THAT([&] { multiply_finite(call.product(), ResiduePlan{13, 40, 41}, engine, {nullptr, &narrow}); },
              testing::ThrowsMessage<std::invalid_argument>("a and b have different inner dimensions: 30, 29"));
}

TEST(GemmTest, KeptSlicesAreRefusedWhereTheyDoNotFit) {
  RandomBits random(8);
  auto call = test::sample_call({4, 5, 30}, random);
  call.alpha = 1;
  const CpuEngine engine({.threads = 1});
  const auto plan = SplitPlan::balanced(3, 4, 5);
  const auto a = engine.prepare(call.a.input(), Side::rows_of_a, plan.a);
  const auto other = engine.prepare(call.a.input(), Side::rows_of_a, plan.b);
  const auto residues = engine.prepare(call.a.input(), Side::rows_of_a, ResidueForm{13, 40});
  const auto refused = [&](KeptOperands kept, double workspace, const std::string& message) {
    const auto before = test::bits_of_matrix(call.c);
    EXPECT_THAT([&] { multiply_finite(call.product(), plan, engine, kept, nullptr, workspace); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(message)));
    EXPECT_EQ(test::bits_of_matrix(call.c), before);
  };
  refused({&other, nullptr}, unlimited_workspace, "a is not sliced as the plan says");
  refused({nullptr, &a}, unlimited_workspace, "b must be sliced by columns");
  refused({&residues, nullptr}, unlimited_workspace, "a plan by slices takes no residues");
  const auto least = engine.workspace(plan, 4, 1, 30);
  refused({&a, nullptr}, least - 1, "workspace must be at least " + std::to_string(static_cast<Index>(std::ceil(least))));
}

/// An engine without memory for large products multiplies in smaller blocks, and reports an error if no block is small enough.
RC_GTEST_PROP(GemmTest, OutOfMemoryMakesBlocksSmaller, ()) {
  RandomBits random(*test::gen::seed());
  auto call = test::sample_call({random.between(1, 9), random.between(1, 9), random.between(1, 20)}, random);
  const auto plan = test::sample_plan(random, 6);
  const Index most_vectors = random.between(0, 8), most_entries = random.between(1, 40);
  test::FaultyEngine engine;
  engine.faulty_slice = [&](const Engine& right, InputView x, Side side, Slicing slicing) {
    if ((side == Side::rows_of_a ? x.rows() : x.cols()) > most_vectors) throw OutOfMemory("no memory for slices");
    return right.slice(x, side, slicing);
  };
  engine.faulty_multiply = [&](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& with,
                               const Epilogue& epilogue, OutputView c) {
    if (a.count() * b.count() > most_entries) throw OutOfMemory("no memory for sums");
    return right.multiply(a, b, with, epilogue, c);
  };
  EntryBound error;  // every other row has no certain bound
  std::vector<double> rows;
  for (Index i = 0; i < call.c.rows(); ++i) rows.push_back(i % 2 == 0 ? 0 : 1);
  error.terms = {{"", {{rows, std::vector<double>(static_cast<std::size_t>(call.c.cols()), 1)}}}};
  auto plain = call;
  const CpuEngine right({.threads = 1});
  const auto open = multiply_finite(plain.product(), plan, right, &error);
  const auto before = test::bits_of_matrix(call.c);
  const bool multiplies =
      !is_zero(call.alpha) && is_finite(bits_of(call.alpha), binary64) && is_finite(bits_of(call.beta), binary64);
  if (most_vectors == 0 && multiplies) {
    RC_ASSERT_THROWS_AS(multiply_finite(call.product(), plan, engine, &error), OutOfMemory);
    RC_ASSERT(test::bits_of_matrix(call.c) == before);
    return;
  }
  if (most_vectors == 0) return;
  RC_ASSERT(multiply_finite(call.product(), plan, engine, &error) == open);
  RC_ASSERT(test::bits_of_matrix(call.c) == test::bits_of_matrix(plain.c));
}

/// Threads, blocks, tiles and workspace change no bit.
TEST(GemmTest, HowItWorksDoesNotMatter) {
  RandomBits random(3);
  const auto before = test::sample_call({7, 61, 68}, random);
  for (const char* text :
       {"balanced:7x7:cut=8:exact", "truncated5,nearest5:6x9:cut=11:per_product", "nearest2:3x5:full:per_diagonal"}) {
    const auto plan = parse_plan(text);
    const auto bits = [&](const CpuEngine::Options& options, double share) {
      auto call = before;
      const CpuEngine engine(options);
      const Index k = call.alpha == 0 ? 0 : 68;
      const double least = least_workspace(engine, plan, k);
      const double full = full_workspace(engine, plan, 7, 61, k);
      multiply_unproven(call.product(), plan, engine, least + share * (full - least));
      return test::bits_of_matrix(call.c);
    };
    const auto expected = bits({.threads = 1}, 1);
    for (const int threads : {1, 2, 3, 7})
      EXPECT_EQ(bits({.threads = threads}, 1), expected) << text << ", threads " << threads;
    for (const Index inner_block : {1, 2, 3, 7, 64, 1 << 30})
      EXPECT_EQ(bits({.threads = 2, .inner_block = inner_block}, 1), expected) << text << ", inner_block " << inner_block;
    for (const Index row_tile : {1, 2, 3, 7, 100})
      for (const Index column_tile : {1, 2, 5, 61, 64})
        EXPECT_EQ(bits({.threads = 2, .row_tile = row_tile, .column_tile = column_tile}, 1), expected)
            << text << ", row_tile " << row_tile << ", column_tile " << column_tile;
    for (const double share : {0.0, 0.01, 0.05, 0.1, 0.3, 0.7, 0.99})
      EXPECT_EQ(bits({.threads = 1, .inner_block = 16, .row_tile = 2, .column_tile = 4}, share), expected)
          << text << ", share " << share;
  }
}

/// Every combination of layouts, transposes, leading dimensions and element types works; padding is neither read nor written.
TEST(GemmTest, LayoutsAndTypes) {
  RandomBits random(4);
  const auto plan = SplitPlan::balanced(4, 3, 6);
  for (int variant = 0; variant < 256; ++variant) {
    const auto bit = [variant](int place) { return (variant >> place & 1) != 0; };
    const Index padding = variant % 3 == 0 ? 0 : variant % 5;
    OwnedProduct call{StoredMatrix(3, 4, {bit(0), bit(1), padding}), StoredMatrix(4, 5, {bit(2), bit(3), padding}),
                      StoredMatrix(3, 5, {bit(4), bit(5), padding}), StoredMatrix(3, 5, {bit(6), bit(7), padding})};
    test::fill(call.a, Side::rows_of_a, true, random);
    test::fill(call.b, Side::columns_of_b, true, random);
    test::fill(call.c, Side::rows_of_a, true, random);
    test::fill(call.c0, Side::rows_of_a, true, random);
    for (const auto source : {OwnedProduct::C0::unread, OwnedProduct::C0::in_place, OwnedProduct::C0::separate}) {
      call.source = source;
      call.alpha = random.once_in(2) ? 1 : -0x1.8p3;
      call.beta = source == OwnedProduct::C0::unread ? 0 : -1;
      EXPECT_TRUE(test::multiplies_rightly(call, plan, {.threads = 1, .row_tile = 2, .column_tile = 2}));
    }
  }
}

/// op(A) and op(B) may be transposed views of matrices stored the other way round.
TEST(GemmTest, TransposedOperands) {
  RandomBits random(5);
  StoredMatrix a(3, 4), b(4, 5), expected(3, 5);
  test::fill(a, Side::rows_of_a, true, random);
  test::fill(b, Side::columns_of_b, true, random);
  const auto plan = parse_plan("nearest7:5x6:cut=9:exact");
  const CpuEngine engine({.threads = 1});
  multiply_unproven({a.input(), b.input(), expected.output()}, plan, engine);
  const auto transposed = [](const StoredMatrix& matrix, Index padding) {
    StoredMatrix result(matrix.cols(), matrix.rows(), {false, true, padding});
    for (Index i = 0; i < matrix.rows(); ++i)
      for (Index j = 0; j < matrix.cols(); ++j) result.set(j, i, matrix.value(i, j));
    return result;
  };
  const auto at = transposed(a, 3), bt = transposed(b, 1);
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      StoredMatrix c(3, 5);
      multiply_unproven(
          {transpose_a ? at.input().transposed() : a.input(), transpose_b ? bt.input().transposed() : b.input(), c.output()},
          plan, engine);
      EXPECT_TRUE(test::same_bits(c, test::bits_of_matrix(expected)));
    }
}

/// Operands may share memory with each other and overlap themselves: A = B, or a column repeated by stride 0.
TEST(GemmTest, InputsMayOverlap) {
  const double values[] = {1, 2, 3, 4};
  const CpuEngine engine({.threads = 1});
  const auto plan = SplitPlan::balanced(7, 7, 14);
  Matrix<double> square(2, 2), repeated(2, 2);
  multiply_unproven({row_major(values, 2, 2, 2), row_major(values, 2, 2, 2), square}, plan, engine);
  EXPECT_TRUE(test::same_bits(test::stored(square), test::bits_of_matrix(test::matrix_of({{7, 10}, {15, 22}}))));
  multiply_unproven({MatrixView<const double>(values, 2, 2, 1, 1), MatrixView<const double>(values, 2, 2, 1, 0), repeated},
                    plan, engine);
  EXPECT_TRUE(test::same_bits(test::stored(repeated), test::bits_of_matrix(test::matrix_of({{5, 5}, {8, 8}}))));
}

/// A, B and C may be parts of one matrix, as in a blocked factorisation: C = C - L U below and right of both.
TEST(GemmTest, PartsOfOneMatrix) {
  for (const bool column_major_storage : {false, true}) {
    StoredMatrix parent(5, 5, {false, column_major_storage, 2});
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 5; ++j) parent.set(i, j, static_cast<double>(10 * i + j));
    const auto all = parent.output();
    const auto c = all.block(2, 2, 3, 3);
    multiply_unproven({all.block(2, 0, 3, 2).as_input(), all.block(0, 2, 2, 3).as_input(), c, -1, 1, c.as_input()},
                      SplitPlan::balanced(2, 2, 4), CpuEngine({.threads = 1}));
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 5; ++j) {
        double expected = static_cast<double>(10 * i + j);
        for (Index l = 0; i >= 2 && j >= 2 && l < 2; ++l) expected -= static_cast<double>((10 * i + l) * (10 * l + j));
        EXPECT_EQ(parent.value(i, j), expected);
      }
    EXPECT_TRUE(parent.intact());
  }
}

/// C may be every second row and column of another matrix, whose other elements keep their bits; A lies between.
TEST(GemmTest, StridedResult) {
  std::vector<double> memory(6 * 8);
  std::iota(memory.begin(), memory.end(), 1.0);
  const auto before = memory;
  const MatrixView<double> c(memory.data(), 3, 4, 16, 2);
  const MatrixView<const double> a(memory.data() + 1, 3, 4, 16, 2);
  const auto b = test::matrix_of({{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}, {0, 0, 0, 1}});
  multiply_unproven({a, b, c}, SplitPlan::balanced(7, 7, 14), CpuEngine({.threads = 1}));
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 8; ++j) {
      const auto at = static_cast<std::size_t>(8 * i + j);
      double expected = before[at];
      if (i % 2 == 0 && j % 2 == 0) {
        const auto row = static_cast<std::size_t>(8 * i + 1);
        expected = j < 6 ? before[at + 1] : before[row] + before[row + 2] + before[row + 4] + before[row + 6];
      }
      EXPECT_EQ(memory[at], expected) << i << ", " << j;
    }
}

/// Leading dimensions and offsets may exceed 2^31 and 2^32 elements, in memory with only a few pages present.
TEST(GemmTest, StridesBeyond32Bits) {
  for (const Index ld : {(Index{1} << 31) + 3, (Index{1} << 32) + 5}) {
    const auto bytes = static_cast<std::size_t>(3 * ld + 3) * sizeof(double);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) GTEST_SKIP() << "no address space";
    for (const bool by_columns : {false, true}) {
      auto* const data = static_cast<double*>(memory);
      const auto far = by_columns ? column_major(data, 3, 3, ld) : row_major(data, 3, 3, ld);
      const auto near = test::matrix_of({{1, 2, 3}, {4, 5, 6}, {7, 8, 10}});
      const auto unit = test::matrix_of({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
      const auto plan = SplitPlan::balanced(2, 2, 4);
      const CpuEngine engine({.threads = 1});
      Matrix<double> c(3, 3);
      multiply_unproven({near, unit, far}, plan, engine);
      multiply_unproven({far, near, c}, plan, engine);
      EXPECT_TRUE(test::same_bits(test::stored(c),
                                  test::bits_of_matrix(test::matrix_of({{30, 36, 45}, {66, 81, 102}, {109, 134, 169}}))));
      multiply_unproven({near, far, c, 1, -1, c}, plan, engine);
      EXPECT_TRUE(test::same_bits(test::stored(c), std::vector<std::uint64_t>(9)));
    }
    munmap(memory, bytes);
  }
}

/// New contents of the same memory are a new operand: nothing is remembered by its address.
TEST(GemmTest, RemembersNothing) {
  const CpuEngine engine({.threads = 2});
  auto a = test::matrix_of({{1, 2}, {3, 4}});
  const auto b = test::matrix_of({{1, 0}, {0, 1}});
  Matrix<double> c(2, 2);
  for (const double scale : {1.0, 0x1p600, -0x1.8p-900, 0.0}) {
    for (Index t = 0; t < 4; ++t) a.data()[t] = scale * static_cast<double>(t + 1);
    multiply_unproven({a, b, c}, SplitPlan::balanced(7, 7, 8), engine);
    EXPECT_TRUE(test::same_bits(test::stored(c), test::bits_of_matrix(a))) << scale;
  }
}

// Memory that must not be read.

/// Memory that no process may access.
class Unreadable {
 public:
  Unreadable() : memory_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("mmap");
  }
  ~Unreadable() { munmap(memory_, bytes); }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;

  [[nodiscard]] MatrixView<const double> view(Index rows, Index cols) const {
    return row_major(static_cast<const double*>(memory_), rows, cols, cols);
  }

 private:
  static constexpr std::size_t bytes = 1 << 16;
  void* memory_;
};

TEST(GemmTest, BetaZeroNeverReadsC0) {
  const Unreadable nothing;
  const auto a = test::matrix_of({{1, 2}, {3, 4}});
  for (const double zero : {0.0, -0.0}) {
    Matrix<double> c(2, 2);
    std::fill_n(c.data(), 4, nan);
    multiply_unproven({a, a, c, 1, zero, nothing.view(2, 2)}, SplitPlan::balanced(2, 2, 4), CpuEngine({.threads = 1}));
    EXPECT_TRUE(test::same_bits(test::stored(c), test::bits_of_matrix(test::matrix_of({{7, 10}, {15, 22}}))));
    // A C0 that beta = 0 leaves unread may have any shape and lie anywhere.
    multiply_unproven({a, a, c, 1, zero, c.view().block(0, 1, 1, 1)}, SplitPlan::balanced(2, 2, 4), CpuEngine({.threads = 1}));
    EXPECT_EQ(c(1, 1), 22);
  }
}

TEST(GemmTest, AlphaZeroNeverReadsAOrB) {
  const Unreadable nothing;
  const auto c0 = test::matrix_of({{1, -0.0, 3}, {inf, nan, -inf}});
  for (const double zero : {0.0, -0.0})
    for (const auto accumulation : {Accumulation::exact, Accumulation::per_product, Accumulation::per_diagonal}) {
      auto plan = SplitPlan::balanced(3, 2, 4);
      plan.accumulation = accumulation;
      Matrix<double> c(2, 3);
      std::fill_n(c.data(), 6, nan);
      const RealProduct overwrite{nothing.view(2, 7), nothing.view(7, 3), c, zero};
      multiply_unproven(overwrite, plan, CpuEngine({.threads = 1}));
      EXPECT_TRUE(test::same_bits(test::stored(c), std::vector<std::uint64_t>(6)));
      multiply_unproven({nothing.view(2, 7), nothing.view(7, 3), c, zero, -2, c0}, plan, CpuEngine({.threads = 1}));
      EXPECT_TRUE(test::same_bits(test::stored(c), test::bits_of_matrix(test::matrix_of({{-2, 0, -6}, {-inf, nan, inf}}))));
    }
}

/// If A B is empty or not read, every entry is decided, whatever bound comes with A B.
TEST(GemmTest, WithoutAProductNothingIsOpen) {
  Matrix<double> c(1, 2);
  const auto c0 = test::matrix_of({{1, 2}});
  const EntryBound bound{{{"test", {{{1}, {1, inf}}}}}};
  const auto a = test::matrix_of({{3}}), b = test::matrix_of({{4, 5}});
  EXPECT_TRUE(multiply_finite({a, b, c, 0, 3, c0}, SplitPlan::balanced(2, 2, 4), CpuEngine({.threads = 1}), &bound).empty());
  EXPECT_EQ(c(0, 0), 3);
  EXPECT_EQ(c(0, 1), 6);
}

/// Without an inner dimension C is beta C0 for any alpha; without entries nothing is done.
TEST(GemmTest, EmptySizes) {
  const CpuEngine engine({.threads = 2});
  const auto plan = SplitPlan::balanced(7, 7, 8);
  for (const double alpha : {1.0, 0.0, inf, nan}) {
    const Matrix<double> a(2, 0), b(0, 2);
    const auto c0 = test::matrix_of({{1, -0.0}, {-3, 4}});
    Matrix<double> c(2, 2);
    std::fill_n(c.data(), 4, nan);
    multiply_unproven({a, b, c, alpha}, plan, engine);
    EXPECT_TRUE(test::same_bits(test::stored(c), std::vector<std::uint64_t>(4))) << alpha;
    multiply_unproven({a, b, c, alpha, 2, c0}, plan, engine);
    EXPECT_TRUE(test::same_bits(test::stored(c), test::bits_of_matrix(test::matrix_of({{2, 0}, {-6, 8}})))) << alpha;
  }
  for (const auto& [m, n] : {std::pair<Index, Index>{0, 3}, {3, 0}, {0, 0}}) {
    const Matrix<double> a(m, 4), b(4, n);
    Matrix<double> c(m, n);
    multiply_unproven({a, b, c, nan, nan, c}, plan, engine);
    apply_specials({a, b, c}, 2);
    multiply_exactly({a, b, c}, 2);
    EXPECT_TRUE(multiply_finite({a, b, c}, plan, engine).empty());
  }
}

// The exact finish.

/// multiply_exactly and finish_exactly round the exact result once, in any type and in place.
RC_GTEST_PROP(ExactFinishTest, RoundsTheExactResult, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    auto call = test::sample_call({random.below(5), random.below(6), random.below(8), random.once_in(2)}, random);
    auto some = call;
    const int threads = random.between(1, 3);
    const bool single = call.c.storage().single;
    multiply_exactly(call.product(), threads);
    std::vector<Entry> entries;
    for (Index i = 0; i < some.c.rows(); ++i)
      for (Index j = 0; j < some.c.cols(); ++j)
        if (random.once_in(2)) entries.push_back({i, j});
    const auto before = some;
    finish_exactly(some.product(), entries, threads);
    for (Index i = 0; i < some.c.rows(); ++i)
      for (Index j = 0; j < some.c.cols(); ++j) {
        test::Exact value;
        if (before.alpha != 0)
          value = test::Exact(before.alpha) * test::exact_product(before.a.input(), before.b.input(), i, j);
        if (before.beta != 0) value = value + test::Exact(before.beta) * test::Exact(before.c0_values().value(i, j));
        RC_ASSERT(call.c.bits(i, j) == test::rounded_bits(value, single));
        const bool listed = std::find(entries.begin(), entries.end(), Entry{i, j}) != entries.end();
        RC_ASSERT(some.c.bits(i, j) == (listed ? call.c.bits(i, j) : before.c.bits(i, j)));
      }
    RC_ASSERT(call.c.intact() && some.c.intact());
  }
}

// Refused calls, which do not write C.

template <class Call>
void expect_refusal(Call&& call, const std::string& what) {
  EXPECT_THAT(call, testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(what)));
}

class GemmRefusalTest : public testing::Test {
 protected:
  void expect_refused(const RealProduct& call, const std::string& what) {
    expect_refusal([&] { call.check(); }, what);
    expect_refusal([&] { multiply_unproven(call, plan, engine); }, what);
    for (const double x : memory) EXPECT_EQ(x, 7);
  }

  [[nodiscard]] MatrixView<double> part(Index start, Index rows, Index cols, Index row_stride, Index col_stride = 1) {
    return {memory.data() + start, rows, cols, row_stride, col_stride};
  }

  CpuEngine engine{{.threads = 1}};
  SplitPlan plan = SplitPlan::balanced(2, 2, 4);
  std::vector<double> memory = std::vector<double>(100, 7.0);
  Matrix<double> a{2, 3}, b{3, 4};
};

TEST_F(GemmRefusalTest, ShapesThatDoNotFit) {
  const auto c = part(0, 2, 4, 4);
  expect_refused({a, Matrix<double>(2, 4), c}, "b must have a's inner dimension, 3 rows: 2 x 4");
  expect_refused({a, b, part(0, 3, 4, 4)}, "c must be 2 x 4: 3 x 4");
  expect_refused({a, b, part(0, 2, 3, 4)}, "c must be 2 x 4: 2 x 3");
  expect_refused({a, b, c, 1, 1}, "c0 must be 2 x 4 where beta is not 0: 0 x 0");
  expect_refused({a, b, c, 1, nan, Matrix<double>(4, 2)}, "c0 must be 2 x 4");
  expect_refused({a, b, c, 1, 0x1p-1074, Matrix<double>(2, 3)}, "c0 must be 2 x 4");
}

TEST_F(GemmRefusalTest, OverlapsOfC) {
  const auto c = part(10, 2, 4, 4);  // 10 … 17
  expect_refused({a, b, part(0, 2, 4, 3)}, "c must not overlap itself");
  expect_refused({a, b, part(0, 2, 4, 0)}, "c must not overlap itself");
  expect_refused({a, b, part(0, 2, 4, 4, 0)}, "c must not overlap itself");
  expect_refused({a, b, part(0, 2, 4, 1, 1)}, "c must not overlap itself");
  for (const Index start : {5, 10, 15, 17}) {
    expect_refused({part(start, 2, 3, 3), b, c}, "a must not overlap c");
    expect_refused({a, part(start - 1, 3, 4, 2), c}, "b must not overlap c");
    if (start != 10) expect_refused({a, b, c, 1, 1, part(start, 2, 4, 4)}, "c0 must be c or not overlap it");
  }
  expect_refused({a, b, c, 1, 1, part(10, 2, 4, 1, 2)}, "c0 must be c or not overlap it");
  expect_refused({MatrixView<const float>(reinterpret_cast<const float*>(memory.data() + 17) + 1, 2, 3, 3, 1), b, c},
                 "a must not overlap c");
}

/// C next to its operands, around them and between their lines does not overlap them.
TEST_F(GemmRefusalTest, NeighboursAreNoOverlap) {
  const auto c = part(10, 2, 4, 10);  // 10 … 13, 20 … 23
  for (const auto& neighbour :
       {part(4, 2, 3, 3), part(14, 2, 3, 3), part(14, 2, 3, 10), part(7, 2, 3, 10), part(24, 2, 3, 3), part(4, 2, 3, 30)}) {
    RealProduct({neighbour, b, c}).check();
    RealProduct({a, part(14, 3, 4, 2, 0), c}).check();
    RealProduct({a, b, c, 1, 1, part(30, 2, 4, 4)}).check();
  }
  const auto columns = part(0, 2, 4, 1, 4);  // column-major: 0 1, 4 5, 8 9, 12 13
  RealProduct({part(2, 2, 3, 1, 4), b, columns}).check();
  RealProduct({a, b, columns, 1, 1, part(2, 2, 4, 1, 4)}).check();
  // With one row or column, the stride to the next one does not matter.
  RealProduct({Matrix<double>(1, 3), b, part(0, 1, 4, 0)}).check();
  RealProduct({a, Matrix<double>(3, 1), part(0, 2, 1, 1, 0)}).check();
  RealProduct({Matrix<double>(1, 3), b, part(0, 1, 4, 4), 1, 1, part(0, 1, 4, 9)}).check();
}

TEST_F(GemmRefusalTest, ImpossiblePlansAndWorkspaces) {
  a(0, 0) = nan;  // no refused call may write this NaN to C
  auto invalid = plan;
  invalid.cut = 5;
  const auto c = part(0, 2, 4, 4);
  expect_refusal([&] { multiply_unproven({a, b, c}, invalid, engine); }, "cut");
  const double least = least_workspace(engine, plan, 3);
  EXPECT_GT(least, 0);
  EXPECT_LE(least, full_workspace(engine, plan, 2, 4, 3));
  for (const double cap : {-1.0, 0.0, least / 2, std::nextafter(least, 0), nan, -inf})
    expect_refusal([&] { multiply_unproven({a, b, c}, plan, engine, cap); }, "workspace must be at least");
  for (const double x : memory) EXPECT_EQ(x, 7);
  multiply_unproven({a, b, c}, plan, engine, least);
  EXPECT_TRUE(std::isnan(memory[0]));
  EXPECT_EQ(memory[4], 0);
}

}  // namespace
}  // namespace ozbound::gemm_test
