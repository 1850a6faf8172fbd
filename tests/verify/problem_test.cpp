// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "ozbound/verify/exact_oracle.hpp"

namespace ozbound::problem_test {
namespace {

Problem problem(Family family, Index m, Index n, Index k, double phi = 1, std::uint64_t seed = 1) {
  return generate({family, m, n, k, phi, seed});
}

std::uint64_t checksum(std::uint64_t hash, const Matrix<double>& matrix) {  // FNV-1a over the bits
  for (Index t = 0; t < matrix.rows() * matrix.cols(); ++t) {
    auto bits = std::bit_cast<std::uint64_t>(matrix.data()[t]);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) hash = (hash ^ (bits & 0xff)) * 0x100000001b3U;
  }
  return hash;
}

std::uint64_t checksum(const Problem& p) { return checksum(checksum(0xcbf29ce484222325U, p.a), p.b); }

/// The number of elements of a row (column) that satisfy a predicate.
template <class Predicate>
Index count_row(const Matrix<double>& matrix, Index i, Predicate predicate) {
  Index count = 0;
  for (Index j = 0; j < matrix.cols(); ++j) count += predicate(matrix(i, j)) ? 1 : 0;
  return count;
}

template <class Predicate>
Index count_column(const Matrix<double>& matrix, Index j, Predicate predicate) {
  Index count = 0;
  for (Index i = 0; i < matrix.rows(); ++i) count += predicate(matrix(i, j)) ? 1 : 0;
  return count;
}

template <class Predicate>
Index count(const Matrix<double>& matrix, Predicate predicate) {
  return std::count_if(matrix.data(), matrix.data() + matrix.rows() * matrix.cols(), predicate);
}

bool is_subnormal(double x) { return std::fpclassify(x) == FP_SUBNORMAL; }
bool is_normal(double x) { return std::fpclassify(x) == FP_NORMAL; }
double significand(double x) { return std::abs(x) / std::exp2(std::ilogb(x)); }

/// |c| / M, averaged over the entries.
double mean_cancellation(const Problem& p) {
  const ExactOracle oracle(p);
  double sum = 0;
  for (Index i = 0; i < oracle.rows(); ++i)
    for (Index j = 0; j < oracle.cols(); ++j) {
      const auto entry = oracle.evaluate(i, j, 0);
      sum += to_double_upper(divide_upper(entry.value_upper, entry.scale_lower));
    }
  return sum / static_cast<double>(oracle.rows() * oracle.cols());
}

TEST(Problem, isTheSameBitsEverywhere) {
  const std::map<std::string, std::uint64_t> expected{
      {"uniform", 0x41dae9e16d7172c3},
      {"uniform-positive", 0x60efe5bbbc83f443},
      {"wide-exponents", 0x4d8dfb4803666cd3},
      {"powers-of-two", 0x24a1df07aa316f35},
      {"cancellation", 0xa2bff398fe6da040},
      {"maximal-digits", 0x635842a810da11ff},
      {"maximal-digits-positive", 0xbeca5ea0ed42ced8},
      {"graded-rows", 0x4ab895b69df650a5},
      {"graded-columns", 0xe911f47bfb4b0c80},
      {"graded-inner", 0x8cbb3b3c444fb1d5},
      {"subnormal", 0xd48fb3d0b0a2275b},
      {"full-range", 0x174eec9011c620e6},
      {"integers", 0xee834ec9f0f07d23},
      {"sparse", 0x8c8e5819cb8f68f1},
      {"fem", 0xfd0a662d4bb640c2},
  };
  for (const auto family : all_families()) {
    auto hash = checksum(problem(family, 9, 9, 9, 1.5, 42));
    hash ^= 3 * checksum(problem(family, 5, 7, 11, 1.5, 43));
    const auto known = expected.find(std::string(name(family)));
    EXPECT_TRUE(known != expected.end() && known->second == hash)
        << "{\"" << name(family) << "\", 0x" << std::hex << hash << "},";
  }
}

TEST(Problem, hasTheRecipesShapeAndFiniteElements) {
  for (const auto family : all_families())
    for (const double phi : {0.0, 1.0, 1000.0})
      for (const Index size : {0, 1, 2, 17}) {
        const Recipe recipe{family, size, size + 1, 2 * size, phi, 5};
        const auto p = generate(recipe);
        EXPECT_EQ(p.recipe, recipe);
        EXPECT_EQ(p.a.rows(), size);
        EXPECT_EQ(p.a.cols(), 2 * size);
        EXPECT_EQ(p.b.rows(), 2 * size);
        EXPECT_EQ(p.b.cols(), size + 1);
        const auto unusable = [](double x) { return !std::isfinite(x); };
        EXPECT_EQ(count(p.a, unusable) + count(p.b, unusable), 0) << generate_command(recipe);
        const auto square = problem(family, size, size, size, phi);
        EXPECT_EQ(count(square.a, unusable) + count(square.b, unusable), 0) << generate_command(square.recipe);
      }
}

TEST(Problem, inversesThatOverflowStayFinite) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto p = problem(Family::cancellation, 3, 3, 3, 400, seed);  // one in twenty overflows
    EXPECT_EQ(count(p.b, [](double x) { return !std::isfinite(x); }), 0) << seed;
  }
}

TEST(Problem, changesWithTheSeed) {
  for (const auto family : all_families())
    EXPECT_NE(checksum(problem(family, 9, 9, 9, 1, 1)), checksum(problem(family, 9, 9, 9, 1, 2))) << name(family);
}

TEST(Problem, refusesBadRecipes) {
  EXPECT_THROW(problem(Family::uniform, -1, 1, 1), std::invalid_argument);
  EXPECT_THROW(problem(Family::uniform, 1, -1, 1), std::invalid_argument);
  EXPECT_THROW(problem(Family::uniform, 1, 1, -1), std::invalid_argument);
  EXPECT_THROW(problem(Family::uniform, 1, 1, 1, -0.5), std::invalid_argument);
  EXPECT_THROW(problem(Family::uniform, 1, 1, 1, std::nan("")), std::invalid_argument);
  EXPECT_THROW(problem(Family::uniform, 1, 1, 1, HUGE_VAL), std::invalid_argument);
  EXPECT_THROW(problem(static_cast<Family>(99), 1, 1, 1), std::invalid_argument);
}

TEST(Problem, namesAreReadBack) {
  std::set<std::string_view> names;
  for (const auto family : all_families()) {
    EXPECT_EQ(parse_family(name(family)), family);
    names.insert(name(family));
  }
  EXPECT_EQ(names.size(), 15U);
  EXPECT_THROW(static_cast<void>(name(static_cast<Family>(99))), std::invalid_argument);
  try {
    parse_family("Uniform");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("uniform, uniform-positive, wide-exponents"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'Uniform'"), std::string::npos);
  }
}

TEST(Problem, isReproducedByACommand) {
  EXPECT_EQ(generate_command({Family::wide_exponents, 5, 6, 7, 0.5, 1}),
            "ozbound generate wide-exponents --m 5 --n 6 --k 7 --phi 0.5 --seed 1");
  EXPECT_EQ(generate_command({Family::fem, 1, 2, 3, 0, 18446744073709551615U}),
            "ozbound generate fem --m 1 --n 2 --k 3 --phi 0 --seed 18446744073709551615");
}

TEST(Problem, uniformFillsItsInterval) {
  const auto p = problem(Family::uniform, 50, 50, 50);
  EXPECT_EQ(count(p.a, [](double x) { return std::abs(x) >= 1; }), 0);
  EXPECT_NEAR(static_cast<double>(count(p.a, [](double x) { return x < 0; })), 1250, 150);
  const auto positive = problem(Family::uniform_positive, 50, 50, 50);
  EXPECT_EQ(count(positive.b, [](double x) { return x <= 0 || x >= 1; }), 0);
}

TEST(Problem, wideExponentsSpreadWithPhi) {
  const auto binades = [](double phi) {
    const auto p = problem(Family::wide_exponents, 50, 50, 50, phi);
    const auto [low, high] =
        std::minmax_element(p.a.data(), p.a.data() + 2500, [](double x, double y) { return std::abs(x) < std::abs(y); });
    return std::ilogb(*high) - std::ilogb(*low);
  };
  EXPECT_LT(binades(0), 20);
  EXPECT_GT(binades(4), 25);
  EXPECT_GT(binades(40), 250);
}

TEST(Problem, powersOfTwoHaveTheirNeighbours) {
  const auto p = problem(Family::powers_of_two, 30, 30, 30);
  std::set<double> significands;
  std::set<int> exponents;
  for (Index t = 0; t < 900; ++t) {
    significands.insert(significand(p.a.data()[t]));
    exponents.insert(std::ilogb(p.b.data()[t]));
  }
  EXPECT_EQ(significands, (std::set<double>{1, 0x1.0000000000001p0, 0x1.fffffffffffffp0}));
  EXPECT_EQ(*exponents.begin(), -10);
  EXPECT_EQ(*exponents.rbegin(), 9);
}

TEST(Problem, cancellationIsDeep) {
  EXPECT_GT(mean_cancellation(problem(Family::uniform, 20, 20, 20)), 0.05);
  EXPECT_LT(mean_cancellation(problem(Family::cancellation, 20, 20, 20)), 0.06);  // the diagonal is 1
  EXPECT_LT(mean_cancellation(problem(Family::cancellation, 5, 20, 60)), 0x1p-48);
  EXPECT_LT(mean_cancellation(problem(Family::cancellation, 20, 5, 7)), 0x1p-48);
  const auto p = problem(Family::cancellation, 20, 20, 20);
  const auto off_diagonal = ExactOracle(p).evaluate(3, 11, 0);
  EXPECT_LT(to_double_upper(divide_upper(off_diagonal.value_upper, off_diagonal.scale_lower)), 0x1p-44);
  EXPECT_GT(off_diagonal.value_lower, Magnitude{});
}

TEST(Problem, maximalDigitsHoldOneSignificandForEachRow) {
  const double expected[] = {0x1.fffffffffffffp0, 0x1.fdfdfdfdfdfdfp0, 0x1.0101010101010p0};
  for (const auto family : {Family::maximal_digits, Family::maximal_digits_positive}) {
    const auto p = problem(family, 9, 9, 40);
    for (Index i = 0; i < 9; ++i) {
      EXPECT_EQ(count_row(p.a, i, [&](double x) { return significand(x) != expected[i % 3]; }), 0) << i;
      EXPECT_EQ(count_column(p.b, i, [&](double x) { return significand(x) != expected[i % 3]; }), 0) << i;
      const auto negative = count_row(p.a, i, [](double x) { return x < 0; });
      if (family == Family::maximal_digits)
        EXPECT_TRUE(negative > 0 && negative < 40) << i;
      else
        EXPECT_EQ(negative, i % 3 == 2 ? 40 : 0) << i;
    }
  }
  EXPECT_NEAR(mean_cancellation(problem(Family::maximal_digits_positive, 9, 9, 40)), 1, 1e-12);
}

TEST(Problem, gradedFamiliesFallAsStated) {
  const auto exponent = [](double x) { return std::ilogb(x); };
  const auto row_top = [&](const Matrix<double>& x, Index i) {
    int top = -2000;
    for (Index j = 0; j < x.cols(); ++j) top = std::max(top, exponent(x(i, j)));
    return top;
  };
  const auto column_top = [&](const Matrix<double>& x, Index j) {
    int top = -2000;
    for (Index i = 0; i < x.rows(); ++i) top = std::max(top, exponent(x(i, j)));
    return top;
  };
  const auto rows = problem(Family::graded_rows, 40, 40, 40, 2);
  EXPECT_EQ(row_top(rows.a, 0) - row_top(rows.a, 39), 64);
  EXPECT_EQ(column_top(rows.b, 0), column_top(rows.b, 39));
  const auto columns = problem(Family::graded_columns, 40, 40, 40, 2);
  EXPECT_EQ(column_top(columns.b, 0) - column_top(columns.b, 39), 64);
  EXPECT_EQ(row_top(columns.a, 0), row_top(columns.a, 39));
  const auto inner = problem(Family::graded_inner, 40, 40, 40, 2);
  EXPECT_EQ(column_top(inner.a, 0) - column_top(inner.a, 39), 64);
  EXPECT_EQ(row_top(inner.b, 39) - row_top(inner.b, 0), 64);
}

TEST(Problem, subnormalRowsAndColumnsAreWhatTheyClaim) {
  const auto p = problem(Family::subnormal, 9, 8, 100);
  for (Index i = 0; i < 9; i += 3) {
    EXPECT_EQ(count_row(p.a, i, is_subnormal), 100);
    const auto subnormal = count_row(p.a, i + 1, is_subnormal);
    EXPECT_TRUE(subnormal > 20 && subnormal < 80);
    EXPECT_EQ(count_row(p.a, i + 1, [](double x) { return is_normal(x) && std::abs(x) < 0x1p-1010; }), 100 - subnormal);
    EXPECT_EQ(count_row(p.a, i + 2, is_normal), 100);
  }
  for (Index j = 0; j < 8; j += 4) {
    EXPECT_EQ(count_column(p.b, j, is_normal), 100);
    EXPECT_EQ(count_column(p.b, j + 1, is_subnormal), 100);
    EXPECT_GT(count_column(p.b, j + 2, is_subnormal), 20);
    EXPECT_GT(count_column(p.b, j + 3, [](double x) { return std::abs(x) > 0x1p990; }), 90);
  }
  EXPECT_GT(count_row(p.a, 0, [](double x) { return std::abs(x) < 0x1p-1060; }), 10);  // subnormal numbers of every length
  EXPECT_GT(count_row(p.a, 0, [](double x) { return std::abs(x) > 0x1p-1030; }), 3);
}

TEST(Problem, fullRangeOverflowsInEvenColumnsOnly) {
  const auto p = problem(Family::full_range, 20, 10, 30);
  const ExactOracle oracle(p);
  int overflows = 0;
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 10; ++j) {
      const bool finite = std::isfinite(oracle.rounded(i, j));
      EXPECT_TRUE(finite || j % 2 == 0);
      overflows += finite ? 0 : 1;
    }
  EXPECT_GT(overflows, 50);
  EXPECT_GT(count(p.a, [](double x) { return std::abs(x) > 0x1p1000; }), 3);
  EXPECT_GT(count(p.a, [](double x) { return std::abs(x) < 0x1p-1000; }), 3);
  EXPECT_NEAR(static_cast<double>(count(problem(Family::full_range, 100, 1, 100).a, is_subnormal)), 10000 * 52 / 2098.0, 60);
}

TEST(Problem, integersAreIntegers) {
  const auto p = problem(Family::integers, 30, 30, 30);
  const auto fraction = [](double x) { return x != std::floor(x); };
  EXPECT_EQ(count(p.a, fraction) + count(p.b, fraction), 0);
  EXPECT_EQ(count(p.a, [](double x) { return std::abs(x) > 15; }), 0);
  EXPECT_EQ(count(p.b, [](double x) { return std::abs(x) >= 0x1p53; }), 0);
  EXPECT_GT(count(p.b, [](double x) { return std::abs(x) >= 0x1p50; }), 10);
  EXPECT_GT(count(p.b, [](double x) { return std::abs(x) < 256; }), 10);
}

TEST(Problem, sparseFollowsItsPattern) {
  const auto is_zero = [](double x) { return x == 0; };
  const auto random = problem(Family::sparse, 30, 30, 30, 1, 4);
  EXPECT_NEAR(static_cast<double>(count(random.a, is_zero)), 810, 60);
  const auto arrow = problem(Family::sparse, 30, 30, 30, 1, 5);
  EXPECT_EQ(count(arrow.a, is_zero), 900 - 30 * 3 + 2);
  const auto band = problem(Family::sparse, 30, 30, 30, 1, 6);
  EXPECT_EQ(count(band.b, is_zero), 900 - (30 * 5 - 6));
  const auto empty = problem(Family::sparse, 30, 30, 30, 1, 7);
  for (Index i = 0; i < 30; ++i) {
    EXPECT_EQ(count_row(empty.a, i, is_zero), i % 3 == 1 ? 30 : 10);
    EXPECT_EQ(count_column(empty.b, i, is_zero), i % 3 == 1 ? 30 : 10);
  }
}

TEST(Problem, femIsABeamAndItsInverse) {
  for (const Index size : {8, 9}) {
    const auto p = problem(Family::fem, size, size, size, 0.5);
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j) {
        EXPECT_EQ(p.a(i, j), p.a(j, i));
        EXPECT_EQ(p.a(i, j) != 0, std::abs(i - j) <= 3 && (i / 2 == j / 2 || std::abs(i / 2 - j / 2) == 1) && p.a(i, j) != 0);
        double sum = 0;
        for (Index l = 0; l < size; ++l) sum += p.a(i, l) * p.b(l, j);
        EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-8) << i << ' ' << j;
      }
    EXPECT_GT(p.a(0, 0), 0);
    EXPECT_GT(p.b(0, 0), 0);
  }
  EXPECT_LT(mean_cancellation(problem(Family::fem, 20, 20, 20, 1000)), 0.2);
  const auto square = problem(Family::fem, 9, 9, 9);
  const auto block = problem(Family::fem, 2, 3, 9);
  EXPECT_EQ(block.a(1, 7), square.a(1, 7));
  EXPECT_EQ(block.b(8, 2), square.b(8, 2));
}

TEST(PhiMatters, WhereItWidens) {
  for (const auto family : {Family::uniform, Family::uniform_positive, Family::subnormal, Family::full_range, Family::integers})
    EXPECT_FALSE(phi_matters(family)) << name(family);
  for (const auto family : {Family::wide_exponents, Family::powers_of_two, Family::cancellation, Family::graded_rows,
                            Family::graded_columns, Family::graded_inner, Family::sparse, Family::fem})
    EXPECT_TRUE(phi_matters(family)) << name(family);
}

}  // namespace
}  // namespace ozbound::problem_test
