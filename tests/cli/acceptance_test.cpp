// SPDX-License-Identifier: BSD-3-Clause
// Products that other libraries get wrong, computed by the command and judged by the exact oracle.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/gemm_files.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::cli::test::acceptance_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Matrix<double> filled(Index rows, Index cols, double value) {
  Matrix<double> out(rows, cols);
  std::fill_n(out.data(), rows * cols, value);
  return out;
}

/// Checks the command's own verdict, and the test's, on every target that leads to another decision.
void expect_proven(const GemmFiles& files, const std::string& alpha = "1") {
  for (const auto* target : {"dgemm", "dgemm-typical", "cr", "componentwise:1e-8", "componentwise:0x1p-53", "normwise:1e-12"}) {
    const auto report = files.report({"--target", target, "--alpha", alpha, "--verify", "exact"});
    EXPECT_TRUE(report["certificate"]["holds"]) << target;
    EXPECT_TRUE(report["verification"]["holds"]) << target;
    EXPECT_LE(files.judge(parse_target(target), files::parse_real(alpha, "alpha")).ratio, 1) << target;
  }
}

TEST(Acceptance, AMillionFullDigits) {
  const GemmFiles files(filled(2, 200000, 1 - 0x1p-53), filled(200000, 3, 1 - 0x1p-53));
  expect_proven(files);
}

TEST(Acceptance, RowsOfSubnormals) {
  expect_proven(GemmFiles({.family = Family::subnormal, .m = 12, .n = 8, .k = 40, .seed = 1}));
}

TEST(Acceptance, SubnormalsAlone) {
  Matrix<double> a(3, 50);
  for (Index i = 0; i < 150; ++i) a.data()[i] = static_cast<double>(i * i % 37 - 18) * 0x1p-1074;
  expect_proven(GemmFiles(std::move(a), filled(50, 2, 1.75)));
}

TEST(Acceptance, LargeTimesSmall) { expect_proven(GemmFiles(filled(1, 1, 0x1.8p1023), filled(1, 1, 0x1p-1000))); }

TEST(Acceptance, TheLargestPowerOfTwo) { expect_proven(GemmFiles(filled(1, 1, 0x1p512), filled(1, 1, 0x1p511))); }

TEST(Acceptance, AnIntermediateThatWouldOverflow) {
  expect_proven(GemmFiles(filled(2, 1, 0x1p512), filled(1, 2, 0x1p512)), "0x1p-10");
}

TEST(Acceptance, AProductThatOverflows) {
  const GemmFiles files(filled(1, 1, 0x1p512), filled(1, 2, 0x1p512));
  expect_proven(files);
  EXPECT_EQ(files.c()(0, 0), infinity);
}

TEST(Acceptance, TheWholeRangeOfExponents) {
  expect_proven(GemmFiles({.family = Family::full_range, .m = 9, .n = 8, .k = 60, .seed = 3}));
}

// NaN and infinities depend only on the inputs, and other entries keep their bits.

/// A NaN in row 1, an infinity in row 3, and values in columns 0 and 2 that make 0 * Inf and +Inf - Inf with them.
std::pair<Matrix<double>, Matrix<double>> with_specials(Matrix<double> a, Matrix<double> b) {
  a(1, 4) = nan;
  a(3, 5) = infinity;
  b(5, 0) = 0;
  a(4, 6) = 2;
  b(6, 2) = -infinity;
  return {std::move(a), std::move(b)};
}

bool is_special(Index i, Index j) { return i == 1 || i == 3 || j == 2; }

TEST(Acceptance, SpecialsAreThoseOfTheInputs) {
  const Recipe recipe{.family = Family::wide_exponents, .m = 6, .n = 5, .k = 30, .phi = 1, .seed = 4};
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--target", "cr"},
                                                  {"--plan", "balanced:7x7:cut=8:exact"},
                                                  {"--engine", "cpu"},
                                                  {"--target", "componentwise:0x1p-53"}}) {
    const auto problem = ozbound::generate(recipe);
    auto [a, b] = with_specials(problem.a, problem.b);
    const GemmFiles files(std::move(a), std::move(b));
    auto judged = options;
    judged.insert(judged.end(), {"--verify", "exact"});
    EXPECT_TRUE(files.report(judged)["verification"]["holds"]) << options[1];
    const auto c = files.c();
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(bits(c(1, j)), 0x7ff8000000000000) << j;
    EXPECT_EQ(bits(c(3, 0)), 0x7ff8000000000000);
    EXPECT_EQ(std::abs(c(3, 1)), infinity);
    EXPECT_EQ(c(4, 2), -infinity);
  }
}

TEST(Acceptance, EntriesWithoutSpecialsKeepTheirBits) {
  const Recipe recipe{.family = Family::wide_exponents, .m = 6, .n = 5, .k = 30, .phi = 1, .seed = 4};
  const auto problem = ozbound::generate(recipe);
  auto plain_b = problem.b, plain_a = problem.a;
  plain_b(5, 0) = 0;
  plain_a(4, 6) = 2;
  const GemmFiles plain(std::move(plain_a), std::move(plain_b));
  auto [a, b] = with_specials(problem.a, problem.b);
  const GemmFiles special(std::move(a), std::move(b));
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--target", "cr"},
                                                  {"--plan", "balanced:7x7:cut=8:exact"},
                                                  {"--plan", "truncated6:5x4:cut=7:per_product"}}) {
    plain.report(options);
    special.report(options);
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 5; ++j)
        if (!is_special(i, j)) {
          EXPECT_EQ(bits(special.c()(i, j)), bits(plain.c()(i, j))) << options[1] << " at " << i << ", " << j;
        }
  }
}

TEST(Acceptance, ScalarsThatAreNotFinite) {
  const GemmFiles files({.family = Family::uniform, .m = 3, .n = 3, .k = 5, .seed = 1});
  EXPECT_TRUE(files.report({"--alpha", "inf", "--verify", "exact"})["verification"]["holds"]);
  EXPECT_EQ(std::abs(files.c()(0, 0)), infinity);
  EXPECT_TRUE(files.report({"--alpha", "nan", "--verify", "exact"})["verification"]["holds"]);
  EXPECT_TRUE(std::isnan(files.c()(2, 2)));
}

TEST(Acceptance, EmptyAndSmallSizes) {
  for (const Index m : {0, 1, 2})
    for (const Index n : {0, 1, 3})
      for (const Index k : {0, 1, 2}) {
        const GemmFiles files({.family = Family::uniform, .m = m, .n = n, .k = k, .seed = 1});
        for (const auto* target : {"dgemm", "cr"}) {
          EXPECT_TRUE(files.report({"--target", target, "--verify", "exact"})["verification"]["holds"])
              << m << n << k << target;
          EXPECT_EQ(files.judge(parse_target(target)).entries, m * n);
        }
      }
}

}  // namespace
}  // namespace ozbound::cli::test::acceptance_test
