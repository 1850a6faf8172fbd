// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "ozbound/core/cpu_engine.hpp"
#include "support/forked.hpp"
#include "support/full_digits.hpp"
#include "support/gemm_calls.hpp"

// A child of fork() has no OpenMP workers: an engine computes in one thread in the child and gives the same result.

namespace ozbound::fork_test {
namespace {

std::vector<std::uint64_t> product(const CpuEngine& engine) {
  Matrix<double> a(70, 300), b(300, 90), c(70, 90);
  for (Index t = 0; t < a.rows() * a.cols(); ++t) a.data()[t] = 1 / static_cast<double>(t + 3);
  for (Index t = 0; t < b.rows() * b.cols(); ++t) b.data()[t] = 1 / static_cast<double>(t + 7);
  multiply_unproven({a, b, c}, SplitPlan::balanced(7, 7, 8), engine);
  std::vector<std::uint64_t> bits;
  for (Index t = 0; t < c.rows() * c.cols(); ++t) bits.push_back(bits_of(c.data()[t]));
  return bits;
}

/// The number of threads of a parallel region that requests none.
int default_team() {
  int threads = 0;
#pragma omp parallel
#pragma omp atomic
  ++threads;
  return threads;
}

TEST(Fork, AChildComputesTheSameByItself) {
  const CpuEngine engine({.threads = 4, .row_tile = 16, .column_tile = 16});
  const auto expected = product(engine);
  EXPECT_TRUE(test::holds_in_child([&] { return engine.threads() == 1 && product(engine) == expected; }));
  EXPECT_TRUE(test::holds_in_child([&] { return product(CpuEngine({.threads = 3})) == expected; })) << "an engine of its own";
  EXPECT_TRUE(test::holds_in_child([&] { return test::holds_in_child([&] { return product(engine) == expected; }); }));
  EXPECT_EQ(engine.threads(), 4);
  EXPECT_EQ(product(engine), expected);
}

TEST(Fork, AChildHasOneThreadForWhatAsksForNoNumber) {
  const CpuEngine engine({.threads = 4});
  product(engine);
  EXPECT_TRUE(test::holds_in_child([] { return default_team() == 1; }));
}

}  // namespace
}  // namespace ozbound::fork_test
