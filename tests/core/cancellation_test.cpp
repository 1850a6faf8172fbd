// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/cancellation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/core/special_entries.hpp"

// Cancelled calls end soon. The work still done is counted; seconds are never measured.

namespace ozbound::cancellation_test {
namespace {

constexpr double unwritten = -77;

/// Nothing if the call does not throw Cancelled; otherwise what the exception says about whether C may be written.
std::optional<bool> cancelled(const std::atomic<bool>& flag, const std::function<void()>& call) {
  const CancelScope scope(flag);
  try {
    call();
  } catch (const Cancelled& e) {
    EXPECT_STREQ(e.what(), e.c_may_be_written() ? "cancelled: entries of C may be written" : "cancelled before C was written");
    return e.c_may_be_written();
  }
  return std::nullopt;
}

Matrix<double> numbers(Index rows, Index cols) {
  Matrix<double> matrix(rows, cols);
  for (Index t = 0; t < rows * cols; ++t) matrix.data()[t] = 1 / static_cast<double>(t % 1009 + 3);
  return matrix;
}

Matrix<double> blank(Index rows, Index cols) {
  Matrix<double> matrix(rows, cols);
  std::fill_n(matrix.data(), rows * cols, unwritten);
  return matrix;
}

Index written(const Matrix<double>& c) {
  return c.rows() * c.cols() - std::count(c.data(), c.data() + c.rows() * c.cols(), unwritten);
}

class CancellationTest : public testing::Test {
 protected:
  static constexpr Index m = 60, n = 70, k = 50;
  const CpuEngine engine{{.threads = 2}};
  const SplitPlan plan = SplitPlan::balanced(7, 7, 8);
  Matrix<double> a = numbers(m, k), b = numbers(k, n), c = blank(m, n);
  std::atomic<bool> set = true, unset = false;
};

TEST_F(CancellationTest, EndsEveryVerbAtOnce) {
  const auto x = engine.slice(a, Side::rows_of_a, plan.a);
  const auto y = engine.slice(b, Side::columns_of_b, plan.b);
  Matrix<std::complex<double>> ca(m, k), cb(k, n), cc(m, n);
  const RealProduct call{a, b, c};
  const ComplexProduct real_scalars{ca, cb, cc}, scaled{ca, cb, cc, {0, 1}};
  const std::vector<Entry> entries{{0, 0}, {m - 1, n - 1}};
  const std::vector<std::function<void()>> verbs{
      [&] { (void)engine.slice(a, Side::rows_of_a, plan.a); },
      [&] { (void)engine.slice(a, Side::rows_of_a, {Encoding::nearest_adaptive(7), 3}); },
      [&] { (void)engine.measure(b, Side::columns_of_b, plan.b); },
      [&] { (void)engine.measure(b, Side::columns_of_b, {Encoding::truncated(7), 3}); },
      [&] { engine.multiply(x, y, plan, {}, c); },
      [&] { (void)engine.group_sums(x, y, plan); },
      [&] { multiply_finite(call, plan, engine); },
      [&] { multiply_unproven(call, plan, engine); },
      [&] { apply_specials({a, b, c, 1, NAN, c}, 2); },
      [&] { finish_exactly(call, entries, 2); },
      [&] { multiply_exactly(call, 2); },
      [&] { multiply_unproven(real_scalars, plan, engine); },
      [&] { multiply_unproven(scaled, plan, engine); },
      [&] { finish_exactly(scaled, entries, 2); },
      [&] { multiply_exactly(scaled, 2); },
  };
  for (std::size_t v = 0; v < verbs.size(); ++v) EXPECT_TRUE(cancelled(set, verbs[v])) << v;
  EXPECT_EQ(written(c), 0);
}

TEST_F(CancellationTest, ChangesNoBitOfWhatIsNotCancelled) {
  multiply_unproven({a, b, c}, plan, engine);
  auto other = blank(m, n);
  EXPECT_FALSE(cancelled(unset, [&] { multiply_unproven({a, b, other}, plan, engine); }));
  EXPECT_TRUE(std::equal(c.data(), c.data() + m * n, other.data()));
}

TEST_F(CancellationTest, ScopesNest) {
  const auto ends = [&] { return cancelled(unset, [&] { multiply_unproven({a, b, c}, plan, engine); }).has_value(); };
  EXPECT_FALSE(ends());
  {
    const CancelScope outer(set);
    EXPECT_TRUE(ends()) << "a scope within keeps the outer one's flag";
  }
  {
    const CancelScope outer(unset);
    {
      const CancelScope inner(set);
      EXPECT_TRUE(ends());
    }
    EXPECT_FALSE(ends()) << "it ended with its scope";
  }
  EXPECT_EQ(CancelScope::innermost(), nullptr);
}

TEST_F(CancellationTest, IsAMatterOfOneThread) {
  EXPECT_TRUE(cancelled(set, [&] {
    std::thread([&] { multiply_unproven({a, b, c}, plan, engine); }).join();
    EXPECT_EQ(written(c), m * n);
    multiply_unproven({a, b, c}, plan, engine);
  }));
  EXPECT_FALSE(cancelled(unset, [&] { multiply_unproven({a, b, c}, plan, engine); })) << "OpenMP's workers forget the scope";
}

TEST_F(CancellationTest, TellsAnExceptionThatIsNotItself) {
  std::atomic<int> parts = 0;
  FirstException failure;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 1000; ++i)
    failure.run([&] {
      ++parts;
      throw std::length_error("of the work");
    });
  EXPECT_THROW(failure.rethrow(), std::length_error);
  EXPECT_LE(parts, 2) << "what comes later is left out";
}

/// The portable kernel, which sets a flag in the call with the given number and counts the calls that begin afterwards.
struct Counting {
  static inline std::atomic<bool> flag = false;
  static inline std::atomic<int> until_set = 0, products_after = 0, slicings_after = 0;
  static inline const KernelFunctions* right = portable_functions;

  static void count(std::atomic<int>& after) {
    if (flag) ++after;
    if (--until_set == 0) flag = true;
  }
  static void multiply(const KernelBlock& block, const KernelRun* runs, std::int64_t runs_count, bool add) {
    count(products_after);
    right->multiply(block, runs, runs_count, add);
  }
  static void slice(const double (*x)[slice_lanes], std::int64_t steps, const SliceShape& shape, const double* scale,
                    std::int64_t lanes, std::int8_t* out) {
    count(slicings_after);
    right->slice(x, steps, shape, scale, lanes, out);
  }
  static const Kernel& kernel() {
    static const KernelFunctions functions = [] {
      auto all = *right;
      all.multiply = multiply, all.slice = slice;
      return all;
    }();
    static const Kernel counting{"counting", &functions};
    return counting;
  }
  static void start(int calls) { flag = false, until_set = calls, products_after = slicings_after = 0; }
};

TEST_F(CancellationTest, LeavesNoMoreThanABlockOfAPairOfPanelsToEachThread) {
  constexpr int threads = 3;
  const Index size = 256, inner = 2048;
  const CpuEngine counting({.threads = threads, .inner_block = 256, .kernel = &Counting::kernel()});
  const auto x = counting.slice(numbers(size, inner), Side::rows_of_a, plan.a);
  const auto y = counting.slice(numbers(inner, size), Side::columns_of_b, plan.b);
  for (const int calls : {1, 100, 5000}) {
    auto product = blank(size, size);
    Counting::start(calls);
    EXPECT_EQ(cancelled(Counting::flag, [&] { counting.multiply(x, y, plan, {}, product); }), true) << calls;
    EXPECT_LE(Counting::products_after, threads) << calls;
    EXPECT_LT(written(product), size * size) << calls;
  }
}

TEST_F(CancellationTest, LeavesNoMoreThanABlockOfAPanelToEachThread) {
  constexpr int threads = 3;
  const CpuEngine counting({.threads = threads, .inner_block = 256, .kernel = &Counting::kernel()});
  const auto operand = numbers(256, 4096);
  const Index groups = (Counting::right->rows + slice_lanes - 1) / slice_lanes;
  for (const int calls : {1, 100, 1000}) {
    Counting::start(calls);
    EXPECT_EQ(cancelled(Counting::flag, [&] { (void)counting.slice(operand, Side::rows_of_a, plan.a); }), false) << calls;
    EXPECT_LE(Counting::slicings_after, threads * groups * 256 / 32) << calls;
  }
}

/// Another thread sets a flag soon after work of several seconds begins. The work throws Cancelled only if some of it is left.
std::optional<bool> cancelled_by_another(const std::function<void()>& call) {
  std::atomic<bool> flag = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    flag = true;
  });
  const auto result = cancelled(flag, call);
  other.join();
  return result;
}

TEST_F(CancellationTest, EndsASumInItsMidst) {
  const double one = 1, infinity = INFINITY;
  const Index terms = Index{1} << 33;
  Matrix<double> entry = blank(1, 1);
  const RealProduct call{MatrixView<const double>(&one, 1, terms, 0, 0), MatrixView<const double>(&one, terms, 1, 0, 0), entry,
                         infinity};
  const SpecialEntries all{{0}, {0}, true, {}};
  EXPECT_EQ(cancelled_by_another([&] { apply_specials(call, all, 1); }), true);
  EXPECT_EQ(written(entry), 0);
}

TEST_F(CancellationTest, AnotherThreadEndsLongProducts) {
  const Index size = 768, inner = 3000;
  const auto x = numbers(size, inner), y = numbers(inner, size);
  auto z = blank(size, size);
  const RealProduct call{x, y, z};
  Matrix<std::complex<double>> cx(size, inner), cy(inner, size), cz(size, size);
  EXPECT_TRUE(cancelled_by_another([&] { multiply_unproven(call, SplitPlan::balanced(20, 20, 40), engine); }));
  EXPECT_TRUE(cancelled_by_another([&] { multiply_exactly(call, 2); }));
  EXPECT_TRUE(cancelled_by_another([&] { multiply_unproven({cx, cy, cz, {0, 1}}, SplitPlan::balanced(20, 20, 40), engine); }));
}

}  // namespace
}  // namespace ozbound::cancellation_test
