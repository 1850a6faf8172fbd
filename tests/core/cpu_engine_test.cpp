// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/cpu_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/full_digits.hpp"
#include "support/gemm_calls.hpp"

namespace ozbound::cpu_engine_test {
namespace {

using test::OwnedProduct;
using test::RandomBits;
using test::StoredMatrix;

/// The sum of every group in plain loops, in the order of plan.groups(k) for k that need no cut of a diagonal.
std::vector<std::int64_t> sums_by_definition(const test::PlanReference& reference, const SplitPlan& plan, Index i, Index j) {
  std::vector<std::int64_t> sums;
  if (plan.accumulation == Accumulation::per_product) {
    for (int p = 1; p <= plan.a.slices; ++p)
      for (int q = 1; q <= plan.b.slices && p + q <= plan.cut; ++q) sums.push_back(reference.pair_sum(i, j, p, q));
  } else {
    for (int g = 2; g <= plan.cut; ++g) sums.push_back(reference.diagonal_sum(i, j, g));
  }
  return sums;
}

testing::AssertionResult sums_rightly(const StoredMatrix& a, const StoredMatrix& b, const SplitPlan& plan,
                                      const CpuEngine::Options& options) {
  const CpuEngine engine(options);
  const auto sums = engine.group_sums(engine.slice(a.input(), Side::rows_of_a, plan.a),
                                      engine.slice(b.input(), Side::columns_of_b, plan.b), plan);
  const test::PlanReference reference(a.input(), b.input(), plan);
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) {
      const auto expected = sums_by_definition(reference, plan, i, j);
      if (sums.size() != expected.size())
        return testing::AssertionFailure() << sums.size() << " groups, not " << expected.size();
      for (std::size_t t = 0; t < sums.size(); ++t)
        if (sums[t].rows() != a.rows() || sums[t].cols() != b.cols() || sums[t](i, j) != expected[t])
          return testing::AssertionFailure()
                 << "group " << t << " of (" << i << ", " << j << ") is " << sums[t](i, j) << ", not " << expected[t] << "; "
                 << to_string(plan) << ", k " << a.cols() << ", threads " << options.threads << ", inner_block "
                 << options.inner_block << ", row_tile " << options.row_tile << ", column_tile " << options.column_tile;
    }
  return testing::AssertionSuccess();
}

/// For any plan and any blocking, every group's sum is the plain sum of its products.
RC_GTEST_PROP(GroupSumsTest, AreThePlainSums, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 10; ++repetition) {
    const auto plan = test::sample_plan(random);
    const Index m = random.below(7), n = random.below(11), k = random.below(20);
    StoredMatrix a(m, k, test::sample_storage(random.once_in(3), random));
    StoredMatrix b(k, n, test::sample_storage(random.once_in(3), random));
    test::fill(a, Side::rows_of_a, true, random);
    test::fill(b, Side::columns_of_b, true, random);
    const auto result = sums_rightly(a, b, plan, test::sample_options(random));
    if (!result) RC_FAIL(result.message());
  }
}

/// Sums are right for several cache blocks, and for lengths that no vector width divides.
TEST(GroupSumsTest, LongerThanABlock) {
  RandomBits random(2);
  for (const Index k : {2047, 2048, 2049, 4099}) {
    StoredMatrix a(3, k), b(k, 5);
    test::fill(a, Side::rows_of_a, true, random);
    test::fill(b, Side::columns_of_b, true, random);
    for (const Index inner_block : {0, 1, 63, 2048, 1 << 20})
      EXPECT_TRUE(
          sums_rightly(a, b, parse_plan("balanced:3x2:full:exact").split(), {.threads = 2, .inner_block = inner_block}));
    EXPECT_TRUE(sums_rightly(a, b, parse_plan("truncated7,nearest7:2x3:cut=4:per_product").split(),
                             {.threads = 1, .inner_block = 1 << 20}));
  }
}

/// Sums are right on both sides of the INT32 overflow by docs/derivations/slicing.md (S5): one product a term, then all pairs
/// of the fullest diagonal.
TEST(GroupSumsTest, OnBothSidesOfEachOverflow) {
  struct Limit {
    Encoding encoding;
    Index terms;  ///< floor((2^31 - 1) / D^2)
  };
  const Limit limits[] = {{Encoding::balanced(), 131071}, {Encoding::unsigned8(), 33025},   {Encoding::truncated(7), 133144},
                          {Encoding::nearest(7), 524287}, {Encoding::truncated(6), 541064}, {Encoding::truncated(5), 2234634}};
  for (const auto& [encoding, terms] : limits) {
    const auto digits = test::full_digits(encoding);
    const auto full = test::fullest_diagonal(encoding);
    const SplitPlan plan{{encoding, digits.slices}, {encoding, digits.slices}, 2 * digits.slices, Accumulation::exact};
    EXPECT_EQ(plan.int32_terms(), terms);
    EXPECT_GT((terms + 1) * encoding.digit_magnitude() * encoding.digit_magnitude(), 0x7fffffff);
    for (const Index over : {0, 1}) {
      EXPECT_TRUE(test::full_sums_are_exact(plan, terms / full.pairs + over));
      EXPECT_TRUE(terms > 600000 || test::full_sums_are_exact(plan, terms + over));
    }
  }
}

/// The plan's INT32 limit holds if A and B have different encodings.
TEST(GroupSumsTest, MixedEncodingsOnBothSidesOfTheOverflow) {
  const auto a = test::full_digits(Encoding::truncated(7));
  const auto b = test::full_digits(Encoding::nearest(7));
  const SplitPlan plan{{a.encoding, a.slices}, {b.encoding, b.slices}, a.slices + b.slices, Accumulation::per_product};
  EXPECT_EQ(plan.int32_terms(), 0x7fffffff / (127 * 64));
  for (const Index over : {0, 1}) EXPECT_TRUE(test::full_sums_are_exact(plan, plan.int32_terms() + over));
}

/// per_diagonal takes a pair less in a group just where INT32 would overflow, and every sum is exact on both sides.
TEST(GroupSumsTest, ErrorFreeGroupsOfADiagonal) {
  const auto plan = parse_plan("truncated7:6x6:full:per_diagonal").split();
  const auto largest_group = [&plan](Index k) {
    int pairs = 0;
    for (const auto& group : plan.groups(k)) pairs = std::max(pairs, group.pairs());
    return pairs;
  };
  for (const Index pairs : {6, 5, 2, 1}) {
    const Index last = 133144 / pairs;  // pairs * k * 127^2 <= 2^31 - 1
    EXPECT_EQ(largest_group(last), pairs);
    EXPECT_EQ(largest_group(last + 1), std::max<Index>(pairs - 1, 1));
    for (const Index over : {0, 1}) EXPECT_TRUE(test::full_sums_are_exact(plan, last + over));
  }
}

/// Signed and unsigned bytes meet in one block: an operand's first slice is signed, the others are not, for any blocking.
TEST(GroupSumsTest, MixedSignsInOneBlock) {
  RandomBits random(5);
  StoredMatrix a(3, 7), b(7, 5);
  test::fill(a, Side::rows_of_a, true, random);
  test::fill(b, Side::columns_of_b, true, random);
  for (const char* plan :
       {"unsigned8:4x3:full:exact", "unsigned8,balanced:3x4:full:exact", "balanced,unsigned8:4x4:cut=5:exact",
        "unsigned8:3x3:full:per_product", "unsigned8:1x1:full:per_diagonal"})
    for (const Index inner_block : {0, 1, 5, 7, 8, 1000})
      EXPECT_TRUE(sums_rightly(a, b, parse_plan(plan).split(), {.threads = 1, .inner_block = inner_block}));
}

/// Sums are right for k beyond 2^17 and random digits of both signs.
TEST(GroupSumsTest, LongRandomVectors) {
  RandomBits random(3);
  constexpr Index k = 200003;
  StoredMatrix a(1, k), b(k, 2);
  for (Index l = 0; l < k; ++l) {
    a.set(0, l, test::sample_below<double>(0, random.below(9), random));
    for (Index j = 0; j < 2; ++j) b.set(l, j, test::sample_below<double>(0, random.below(9), random));
  }
  for (const Index inner_block : {0, 65, 1 << 30})
    EXPECT_TRUE(sums_rightly(a, b, parse_plan("balanced:3x3:cut=4:exact").split(), {.threads = 2, .inner_block = inner_block}));
}

// multiply()

/// One pair of sliced operands serves many products: plans with the same slicings, epilogues, repeated calls.
TEST(CpuEngineTest, SlicesCanBeReused) {
  RandomBits random(4);
  StoredMatrix a(5, 9), b(9, 6);
  test::fill(a, Side::rows_of_a, true, random);
  test::fill(b, Side::columns_of_b, true, random);
  const CpuEngine engine({.threads = 2, .row_tile = 2, .column_tile = 4});
  const Slicing slicing{Encoding::nearest(6), 8};
  const auto sliced_a = engine.slice(a.input(), Side::rows_of_a, slicing);
  const auto sliced_b = engine.slice(b.input(), Side::columns_of_b, slicing);
  for (const auto accumulation :
       {Accumulation::exact, Accumulation::per_product, Accumulation::per_diagonal, Accumulation::exact})
    for (int cut = 2; cut <= 16; cut += 7)
      for (const double alpha : {1.0, -0x1.8p-3}) {
        const SplitPlan plan{slicing, slicing, cut, accumulation};
        Matrix<double> reused(5, 6), fresh(5, 6);
        EXPECT_TRUE(engine.multiply(sliced_a, sliced_b, plan, {alpha, 0, {}}, reused).empty());
        multiply_unproven({a.input(), b.input(), fresh, alpha}, plan, CpuEngine({.threads = 1}));
        EXPECT_TRUE(test::same_bits(test::stored(reused), test::bits_of_matrix(fresh))) << to_string(plan);
      }
}

/// Entries with a special value in A's row, B's column or c0 are not written.
TEST(CpuEngineTest, LeavesSpecialEntriesAlone) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto a = test::matrix_of({{1, 2}, {inf, 1}, {3, 4}});
  const auto b = test::matrix_of({{1, NAN, 2}, {1, 1, 1}});
  const auto c0 = test::matrix_of({{1, 1, 1}, {1, 1, 1}, {-inf, 1, NAN}});
  const CpuEngine engine({.threads = 2, .row_tile = 1, .column_tile = 2});
  const auto plan = SplitPlan::balanced(2, 2, 4);
  const auto sliced_a = engine.slice(a, Side::rows_of_a, plan.a);
  const auto sliced_b = engine.slice(b, Side::columns_of_b, plan.b);
  const double untouched = -99;
  for (const double beta : {0.0, 1.0}) {
    Matrix<double> c(3, 3);
    std::fill_n(c.data(), 9, untouched);
    EXPECT_TRUE(engine.multiply(sliced_a, sliced_b, plan, {1, beta, c0}, c).empty());
    const auto expected =
        beta == 0 ? test::matrix_of({{3, untouched, 4}, {untouched, untouched, untouched}, {7, untouched, 10}})
                  : test::matrix_of({{4, untouched, 5}, {untouched, untouched, untouched}, {untouched, untouched, untouched}});
    EXPECT_TRUE(test::same_bits(test::stored(c), test::bits_of_matrix(expected)));
  }
}

/// True if value - radius and value + radius round to different bits or include zero.
bool is_open(const test::Exact& value, const test::Exact& radius, bool single) {
  if (radius.is_zero()) return false;
  if (radius >= value.magnitude()) return true;
  return test::rounded_bits(value - radius, single) != test::rounded_bits(value + radius, single);
}

/// As is_open, with a tolerance of 2^-400 |value|: a grid cannot hold both terms if alpha S and beta c0 are that far apart.
bool may_be_open(const test::Exact& value, const test::Exact& radius, bool single) {
  if (radius.is_zero()) return false;
  return is_open(value, radius + test::Exact{abs(value.integer), value.exponent - 400}, single);
}

/// A bound that must be fetched.
class Elsewhere final : public RemoteEntryBound {
 public:
  explicit Elsewhere(const EntryBound& bound) : bound_(bound) {}
  [[nodiscard]] EntryBound entries() const override { return bound_; }

 private:
  const EntryBound& bound_;
};

/// An entry is open exactly if S - b and S + b round differently. Open entries come in row order for any blocks of C that the
/// workspace leads to, and are not written.
RC_GTEST_PROP(CpuEngineTest, ReturnsTheEntriesThatAreOpen, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 20; ++repetition) {
    auto call = test::sample_call({random.between(1, 7), random.between(1, 9), random.between(1, 9)}, random);
    call.source = OwnedProduct::C0::separate;
    test::fill(call.c0, Side::rows_of_a, true, random);
    call.c = StoredMatrix(call.c.rows(), call.c.cols(), call.c.storage());
    const auto plan = test::sample_plan(random, 6);
    const bool single = call.c.storage().single;
    EntryBound bound{{{"test", {{}, {}}}}, random.once_in(2) ? 0x1p-40 : std::numeric_limits<double>::infinity()};
    for (auto& outer : bound.terms[0].alternatives) {
      std::vector<double> rows, columns;
      for (Index i = 0; i < call.c.rows(); ++i) rows.push_back(random.once_in(4) ? 0 : std::ldexp(1.0, -random.below(70)));
      for (Index j = 0; j < call.c.cols(); ++j) columns.push_back(random.once_in(4) ? 0 : std::ldexp(1.0, -random.below(30)));
      outer = {std::move(rows), std::move(columns)};
    }
    const CpuEngine engine(test::sample_options(random));
    const auto least = least_workspace(engine, plan, call.a.cols());
    const auto whole = full_workspace(engine, plan, call.c.rows(), call.c.cols(), call.a.cols());
    const auto workspace = least + random.below(33) / 32.0 * (whole - least);
    const Elsewhere elsewhere(bound);
    const auto open =
        multiply_finite(call.product(), plan, engine, random.once_in(2) ? ZivBound(&bound) : ZivBound(&elsewhere), workspace);
    const test::PlanReference reference(call.a.input(), call.b.input(), plan);
    const auto scale = [](const StoredMatrix& operand, Side side, Index i, const Slicing& slicing) {
      return vector_scales(operand.input(), side, slicing.encoding, 1)[static_cast<std::size_t>(i)].exponent;
    };
    std::vector<Entry> expected;
    for (Index i = 0; i < call.c.rows(); ++i)
      for (Index j = 0; j < call.c.cols(); ++j) {
        const int unit = scale(call.a, Side::rows_of_a, i, plan.a) + scale(call.b, Side::columns_of_b, j, plan.b);
        const auto radius = test::Exact(std::abs(call.alpha)) * test::Exact(bound.upper(i, j)) * test::power_of_two_exact(unit);
        const auto value =
            test::Exact(call.alpha) * reference.sum(i, j) + test::Exact(call.beta) * test::Exact(call.c0.value(i, j));
        const bool left = call.c.untouched(i, j);
        if (left) expected.push_back({i, j});
        RC_ASSERT(left || !is_open(value, radius, single));
        RC_ASSERT(!left || may_be_open(value, radius, single));
        RC_ASSERT(left || call.c.bits(i, j) == test::rounded_bits(value, single));
      }
    RC_ASSERT(open == expected);
    RC_ASSERT(call.c.intact());
  }
}

/// Open entries come row by row even if tiles of 2 x 2 interleave the entries of a row.
TEST(CpuEngineTest, OpenEntriesComeRowByRow) {
  constexpr Index m = 5, n = 7;
  const Matrix<double> a(m, 1);
  const Matrix<double> b(1, n);
  const auto plan = SplitPlan::balanced(1, 1, 2);
  const EntryBound unknown{
      {{"test", {{std::vector<double>(m, std::numeric_limits<double>::infinity()), std::vector<double>(n, 1)}}}}};
  std::vector<Entry> all;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) all.push_back({i, j});
  for (const int threads : {1, 3}) {
    const CpuEngine engine({.threads = threads, .row_tile = 2, .column_tile = 2});
    const auto rows = engine.slice(a, Side::rows_of_a, plan.a);
    const auto columns = engine.slice(b, Side::columns_of_b, plan.b);
    Matrix<double> c(m, n);
    EXPECT_EQ(engine.multiply(rows, columns, plan, {.c0 = {}, .error = &unknown}, c), all) << threads;
  }
}

/// Products without rows, columns or inner dimension are right.
TEST(CpuEngineTest, EmptyOperands) {
  const CpuEngine engine({.threads = 3});
  for (const auto accumulation : {Accumulation::exact, Accumulation::per_product}) {
    SplitPlan plan = SplitPlan::balanced(2, 3, 5);
    plan.accumulation = accumulation;
    for (const Index m : {0, 2})
      for (const Index n : {0, 3})
        for (const Index k : {0, 4}) {
          const Matrix<double> a(m, k), b(k, n);
          Matrix<double> c(m, n);
          std::fill_n(c.data(), m * n, 7.0);
          const auto sliced_a = engine.slice(a, Side::rows_of_a, plan.a);
          const auto sliced_b = engine.slice(b, Side::columns_of_b, plan.b);
          EXPECT_TRUE(engine.multiply(sliced_a, sliced_b, plan, {}, c).empty());
          for (Index t = 0; t < m * n; ++t) EXPECT_EQ(bits_of(c.data()[t]), bits_of(0.0));
          const auto sums = engine.group_sums(sliced_a, sliced_b, plan);
          EXPECT_EQ(sums.size(), plan.groups(k).size());
          for (const auto& sum : sums) EXPECT_EQ(sum.rows() * sum.cols(), m * n);
        }
  }
}

/// The longest inner block that INT32 allows does not make the panels longer than the sums.
TEST(CpuEngineTest, TheLargestInnerBlockCostsNoMoreThanTheSumsAreLong) {
  const CpuEngine engine({.threads = 1, .inner_block = std::numeric_limits<Index>::max()});
  const auto plan = parse_plan("truncated1:2x2:full:exact").split();
  EXPECT_EQ(plan.int32_terms(), 0x7fffffff);
  ASSERT_LT(engine.workspace(plan, 4, 4, 100), 1e6);
  const auto a = test::matrix_of({{1, 1}}), b = test::matrix_of({{1}, {1}});
  EXPECT_EQ(
      engine.group_sums(engine.slice(a, Side::rows_of_a, plan.a), engine.slice(b, Side::columns_of_b, plan.b), plan)[0](0, 0),
      2);
}

TEST(CpuEngineTest, MeasuresWhatItSlices) {
  RandomBits random(9);
  StoredMatrix operand(4, 6);
  test::fill(operand, Side::columns_of_b, false, random);
  const CpuEngine engine({.threads = 3});
  const Slicing slicing{Encoding::truncated(5), 6};
  const auto sliced = engine.slice(operand.input(), Side::columns_of_b, slicing);
  const auto facts = engine.measure(operand.input(), Side::columns_of_b, slicing);
  ASSERT_EQ(facts.vectors.size(), 6u);
  for (Index j = 0; j < 6; ++j)
    for (int p = 1; p <= 6; ++p) {
      std::uint64_t sum = 0;
      for (Index l = 0; l < 4; ++l) sum += static_cast<std::uint64_t>(std::abs(sliced.digit(j, p, l)));
      EXPECT_EQ(facts.vectors[static_cast<std::size_t>(j)].slices[static_cast<std::size_t>(p - 1)].sum, sum);
      EXPECT_EQ(facts.vectors[static_cast<std::size_t>(j)].scale.exponent, sliced.exponent(j));
    }
}

TEST(CpuEngineTest, TakesItsThreadsFromOpenMP) {
  EXPECT_EQ(CpuEngine().threads(), omp_get_max_threads());
  EXPECT_EQ(CpuEngine({.threads = 5}).threads(), 5);
  EXPECT_NE(dynamic_cast<const ProductCount*>(&CpuEngine().costs()), nullptr);
}

/// One engine used by many threads at once, also from within a parallel region, gives the same bits.
TEST(CpuEngineTest, SharedBetweenThreads) {
  RandomBits random(10);
  StoredMatrix a(9, 33), b(33, 7);
  test::fill(a, Side::rows_of_a, true, random);
  test::fill(b, Side::columns_of_b, true, random);
  const CpuEngine engine({.threads = 2, .row_tile = 2, .column_tile = 3});
  const auto plan = parse_plan("truncated6:9x9:cut=10:per_diagonal").split();
  const auto sliced_b = engine.slice(b.input(), Side::columns_of_b, plan.b);
  const auto run = [&] {
    Matrix<double> c(9, 7);
    engine.multiply(engine.slice(a.input(), Side::rows_of_a, plan.a), sliced_b, plan, {}, c);
    return test::bits_of_matrix(c);
  };
  const auto expected = run();
  std::vector<std::vector<std::uint64_t>> results(6);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&] {
      for (int repetition = 0; repetition < 20; ++repetition) {
        result = run();
        if (result != expected) return;
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
#pragma omp parallel for num_threads(3)
  for (std::size_t t = 0; t < results.size(); ++t) results[t] = run();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

// Refusals.

testing::Matcher<std::string> names(const std::string& what) { return testing::HasSubstr(what); }

template <class Call>
void expect_refusal(Call&& call, const std::string& what) {
  EXPECT_THAT(call, testing::ThrowsMessage<std::invalid_argument>(names(what)));
}

TEST(CpuEngineRefusalTest, NegativeOptions) {
  expect_refusal([] { CpuEngine({.threads = -1}); }, "threads");
  expect_refusal([] { CpuEngine({.inner_block = -1}); }, "inner_block");
  expect_refusal([] { CpuEngine({.row_tile = -1}); }, "row_tile");
  expect_refusal([] { CpuEngine({.column_tile = -1}); }, "column_tile");
}

class CpuEngineMultiplyRefusalTest : public testing::Test {
 protected:
  /// Checks that multiply and group_sums both refuse and that C is not written.
  void expect_both_refuse(const SlicedMatrix& x, const SlicedMatrix& y, const SplitPlan& split, const std::string& what) {
    expect_refusal([&] { (void)engine.group_sums(x, y, split); }, what);
    expect_refusal([&] { engine.multiply(x, y, split, {}, c.output()); }, what);
    expect_untouched(c);
  }
  void expect_multiply_refuses(const Epilogue& epilogue, StoredMatrix& result, const std::string& what) {
    expect_refusal([&] { engine.multiply(a, b, plan, epilogue, result.output()); }, what);
    expect_untouched(result);
  }
  static void expect_untouched(const StoredMatrix& result) {
    for (Index i = 0; i < result.rows(); ++i)
      for (Index j = 0; j < result.cols(); ++j) EXPECT_TRUE(result.untouched(i, j));
  }

  [[nodiscard]] SlicedMatrix rows(Index m, Index k, Slicing slicing) const {
    return engine.slice(Matrix<double>(m, k), Side::rows_of_a, slicing);
  }
  [[nodiscard]] SlicedMatrix columns(Index k, Index n, Slicing slicing) const {
    return engine.slice(Matrix<double>(k, n), Side::columns_of_b, slicing);
  }

  CpuEngine engine{{.threads = 1}};
  SplitPlan plan = SplitPlan::balanced(2, 3, 4);
  SlicedMatrix a = rows(2, 4, plan.a);
  SlicedMatrix b = columns(4, 5, plan.b);
  StoredMatrix c{2, 5};
};

TEST_F(CpuEngineMultiplyRefusalTest, OperandsThatDoNotFitThePlan) {
  auto invalid = plan;
  invalid.cut = 6;
  expect_both_refuse(a, b, invalid, "cut");
  expect_both_refuse(columns(4, 5, plan.a), b, plan, "a must be sliced by rows");
  expect_both_refuse(a, rows(2, 4, plan.b), plan, "b must be sliced by columns");
  expect_both_refuse(rows(2, 4, {plan.a.encoding, 3}), b, plan, "a is not sliced as the plan says");
  expect_both_refuse(rows(2, 4, {Encoding::nearest(7), 2}), b, plan, "a is not sliced as the plan says");
  expect_both_refuse(a, columns(4, 5, {plan.b.encoding, 2}), plan, "b is not sliced as the plan says");
  expect_both_refuse(a, columns(3, 5, plan.b), plan, "inner dimensions");
}

TEST_F(CpuEngineMultiplyRefusalTest, EpiloguesThatDoNotFit) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const auto& [m, n] : {std::pair<Index, Index>{3, 5}, {2, 4}, {5, 2}, {0, 0}}) {
    StoredMatrix other(m, n);
    expect_multiply_refuses({}, other, "c must be 2 x 5");
    expect_multiply_refuses({1, 1, other.input()}, c, "c0 must be 2 x 5");
  }
  for (const double bad : {inf, -inf, double(NAN)}) {
    expect_multiply_refuses({bad, 0, {}}, c, "alpha");
    expect_multiply_refuses({1, bad, Matrix<double>(2, 5)}, c, "beta");
  }
}

/// Inner dimensions whose sums exceed 64 bits, or the 53 of a floating-point term, are refused; shown by operands without
/// vectors, which need no memory.
TEST_F(CpuEngineMultiplyRefusalTest, InnerDimensionsBeyondTheSums) {
  const auto refuses = [&](const std::string& text, Index k) {
    const auto long_plan = parse_plan(text).split();
    const auto long_a = rows(0, k, long_plan.a);
    const auto long_b = columns(k, 0, long_plan.b);
    try {
      EXPECT_EQ(engine.group_sums(long_a, long_b, long_plan).size(), long_plan.groups(k).size());
      return false;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), names("inner dimension"));
      return true;
    }
  };
  constexpr Index one = 1;
  EXPECT_FALSE(refuses("balanced:1x1:full:exact", one << 48));
  EXPECT_TRUE(refuses("balanced:1x1:full:exact", (one << 48) + 1));
  EXPECT_FALSE(refuses("balanced:4x9:full:exact", one << 46));
  EXPECT_TRUE(refuses("balanced:4x9:full:exact", (one << 46) + 1));
  EXPECT_FALSE(refuses("balanced:4x9:full:per_product", one << 39));
  EXPECT_TRUE(refuses("balanced:4x9:full:per_product", (one << 39) + 1));
  EXPECT_FALSE(refuses("balanced:4x9:full:per_diagonal", one << 39));
  EXPECT_TRUE(refuses("balanced:4x9:full:per_diagonal", (one << 39) + 1));
  EXPECT_FALSE(refuses("truncated1,nearest1:2x2:full:per_diagonal", one << 53));
  EXPECT_TRUE(refuses("truncated1,nearest1:2x2:full:per_diagonal", (one << 53) + 1));
}

}  // namespace
}  // namespace ozbound::cpu_engine_test
