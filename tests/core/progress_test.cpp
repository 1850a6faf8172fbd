// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/special_entries.hpp"

// Products report progress up to all of C, and no more.

namespace ozbound::progress_test {
namespace {

Matrix<double> numbers(Index rows, Index cols) {
  Matrix<double> matrix(rows, cols);
  for (Index t = 0; t < rows * cols; ++t) matrix.data()[t] = 1 / static_cast<double>(t % 1009 + 3);
  return matrix;
}

/// The shares reported while `work` runs.
template <class Work>
std::vector<double> told(const Work& work) {
  std::mutex mutex;
  std::vector<double> shares;
  const ProgressScope scope([&](double share) {
    const std::lock_guard lock(mutex);
    shares.push_back(share);
  });
  work();
  return shares;
}

/// Checks that several shares were reported and that the last one is all of C.
void expect_all(std::vector<double> shares, std::size_t least) {
  ASSERT_GE(shares.size(), least);
  std::sort(shares.begin(), shares.end());
  EXPECT_GT(shares.front(), 0);
  EXPECT_LT(shares.front(), 1);
  EXPECT_EQ(shares.back(), 1);
  EXPECT_EQ(std::count(shares.begin(), shares.end(), 1.0), 1) << "not before the last part";
}

class ProgressTest : public testing::Test {
 protected:
  const Index m_ = 150, n_ = 130, k_ = 70;
  const Matrix<double> a_ = numbers(m_, k_), b_ = numbers(k_, n_);
  Matrix<double> c_{m_, n_};
  const CpuEngine engine_{{.threads = 3}};
  const Plan plan_ = SplitPlan::balanced(4, 4, 5);
};

TEST_F(ProgressTest, OfSlicesTileByTile) {
  expect_all(told([&] { multiply_unproven(Product{a_, b_, c_}, plan_, engine_, unlimited_workspace); }), 4);
}

TEST_F(ProgressTest, OfBlocksTogether) {
  const double some = (least_workspace(engine_, plan_, k_) + full_workspace(engine_, plan_, m_, n_, k_)) / 2;
  expect_all(told([&] { multiply_unproven(Product{a_, b_, c_}, plan_, engine_, some); }), 4);
}

TEST_F(ProgressTest, OfExactSums) {
  const RealProduct product{a_, b_, c_};
  expect_all(told([&] { multiply_exactly(product, 3); }), static_cast<std::size_t>(m_));
  const std::vector<Entry> some{{0, 0}, {3, 5}, {149, 129}};
  EXPECT_EQ(told([&] { finish_exactly(product, some, 1); }), (std::vector<double>{1.0 / 3, 2.0 / 3, 1}));
}

TEST_F(ProgressTest, IsToldToTheInnermostScopeAlone) {
  EXPECT_EQ(ProgressScope::innermost(), nullptr);
  const auto outer = told([&] {
    EXPECT_FALSE(told([&] { multiply_unproven(Product{a_, b_, c_}, plan_, engine_, unlimited_workspace); }).empty());
  });
  EXPECT_TRUE(outer.empty());
  EXPECT_EQ(ProgressScope::innermost(), nullptr);
  multiply_unproven(Product{a_, b_, c_}, plan_, engine_, unlimited_workspace);  // without a listener
}

}  // namespace
}  // namespace ozbound::progress_test
