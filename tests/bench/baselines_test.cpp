// SPDX-License-Identifier: BSD-3-Clause
// The baselines of the benchmarks are as accurate as their names say: within their published bounds against the exact product,
// also where C is far below |A||B| and the low parts decide.

#include "baselines.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"

namespace ozbound::bench::baselines_test {
namespace {

constexpr double u = 0x1p-53;

/// The bound u|C| + gamma|A||B|, rounded upward.
Magnitude bound(double c, double gamma, const OracleEntry& entry) {
  return add_upper(multiply_upper(Magnitude::of(u), Magnitude::of(c)), multiply_upper(Magnitude::of(gamma), entry.scale_upper));
}

void expect_within(const Problem& problem, Index i, Index j, double c, double gamma) {
  const auto entry = ExactOracle(problem).evaluate(i, j, c);
  EXPECT_LE(to_double_upper(entry.error_upper), to_double_upper(bound(c, gamma, entry))) << i << ", " << j;
}

void expect_within(const Problem& problem, const Matrix<double>& c, double gamma) {
  const ExactOracle oracle(problem);
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto entry = oracle.evaluate(i, j, c(i, j));
      ASSERT_LE(to_double_upper(entry.error_upper), to_double_upper(bound(c(i, j), gamma, entry))) << i << ", " << j;
    }
}

/// (k - 1) d / (1 - (k - 1) d) with d = 3 u^2 / (1 - 4 u), for k < 2^20: 3.1 u^2 is more than d by a factor beyond 1 + 2^-5.
double double_double_gamma(Index k) { return static_cast<double>(k - 1) * 3.1 * u * u; }

/// gamma_k^2, and 2.1 u^2 because the bound has u|AB|, where |AB| <= |C| + |C - AB|.
double dot2_gamma(Index k) {
  const auto terms = static_cast<double>(k);
  return (terms * terms * (1 + 0x1p-20) + 2.1) * u * u;
}

std::vector<const PanelKernels*> panels_of_this_processor() {
  std::vector<const PanelKernels*> panels{&generic_panels()};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) panels.push_back(&avx2_panels());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) panels.push_back(&avx512f_panels());
#endif
  return panels;
}

/// Sums far below their terms, and shapes that are no multiples of tiles and blocks.
std::vector<Problem> problems() {
  std::vector<Problem> all;
  std::uint64_t seed = 1;
  for (const auto [m, n, k] : {std::array<Index, 3>{1, 1, 1}, {5, 19, 34}, {70, 33, 12}, {9, 16, 257}})
    for (const auto family : {Family::cancellation, Family::wide_exponents})
      all.push_back(generate({family, m, n, k, 1, seed++}));
  return all;
}

TEST(Baselines, DoubleDoubleKeepsItsBoundOnEveryInstructionSet) {
  for (const auto* const panels : panels_of_this_processor())
    for (const auto& problem : problems()) {
      Matrix<double> c(problem.a.rows(), problem.b.cols());
      double_double_gemm(*panels, problem.a, problem.b, c, 2);
      expect_within(problem, c, double_double_gamma(problem.a.cols()));
    }
}

TEST(Baselines, Dot2KeepsItsBoundOnEveryInstructionSet) {
  for (const auto* const panels : panels_of_this_processor())
    for (const auto& problem : problems()) {
      Matrix<double> c(problem.a.rows(), problem.b.cols());
      dot2_gemm(*panels, problem.a, problem.b, c, 2);
      expect_within(problem, c, dot2_gamma(problem.a.cols()));
    }
}

TEST(Baselines, QuadRowsKeepTheirBound) {
  const auto problem = generate({Family::cancellation, 5, 70, 40, 1, 3});
  QuadRows quad(problem.a, problem.b, 3);
  for (int time = 0; time < 2; ++time) quad.multiply(2);  // no data remain from an earlier product
  for (const Index j : {0, 1, 63, 64, 69})
    for (Index i = 0; i < 3; ++i) expect_within(problem, i, j, quad.entry(i, j), 40 * 0x1p-113);
}

/// MPFR's entries are correctly rounded: 2048 bits hold every sum of this test.
TEST(Baselines, MpfrEntriesAreCorrectlyRounded) {
  const auto problem = generate({Family::wide_exponents, 21, 17, 30, 1, 4});
  const ExactOracle oracle(problem);
  MpfrEntries mpfr(problem.a, problem.b, 4, 3, 2048);
  for (int time = 0; time < 2; ++time) mpfr.multiply(2);
  ASSERT_EQ(mpfr.rows(), 4);
  ASSERT_EQ(mpfr.columns(), 3);
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(mpfr.entry(i, j), oracle.rounded(mpfr.row(i), mpfr.column(j)));
}

}  // namespace
}  // namespace ozbound::bench::baselines_test
