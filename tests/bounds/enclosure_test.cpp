// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/enclosure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "bounds/hostile_environment.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/problem.hpp"
#include "support/classified.hpp"
#include "support/exact.hpp"

namespace ozbound::enclosure_test {
namespace {

using test::Exact;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

/// The exact (|A||B|)_ij, relative to the enclosure's scales.
Exact truth(InputView a, InputView b, const Enclosure& enclosure, Index i, Index j) {
  Exact sum;
  for (Index l = 0; l < a.cols(); ++l) {
    const Exact x(double_from_bits(a.bits(i, l)));
    const Exact y(double_from_bits(b.bits(l, j)));
    sum = sum + (x * y).magnitude();
  }
  return sum.times_power_of_two(-enclosure.row_exponents[static_cast<std::size_t>(i)] -
                                enclosure.column_exponents[static_cast<std::size_t>(j)]);
}

/// Success if lower <= |A||B| <= upper everywhere, upper is 0 only for 0, and no value that a double can hold has a bound of 0.
testing::AssertionResult encloses(InputView a, InputView b, const Enclosure& enclosure) {
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) {
      const auto exact = truth(a, b, enclosure, i, j);
      const double lower = enclosure.lower(i, j);
      const double upper = enclosure.upper(i, j);
      const auto fail = [&](const char* what) {
        return testing::AssertionFailure() << "entry (" << i << ", " << j << "), levels " << enclosure.levels << ": " << what
                                           << ": " << std::hexfloat << lower << " … " << upper;
      };
      if (!(lower >= 0) || exact < Exact(lower)) return fail("lower is too large");
      if (!(upper < inf) || Exact(upper) < exact) return fail("upper is too small");
      if ((upper == 0) != exact.is_zero()) return fail("zero");
      if (lower == 0 && !exact.is_zero() && exact.top_exponent() >= -1060) return fail("no lower bound");
    }
  return testing::AssertionSuccess();
}

/// The mean and the least of lower / upper.
struct Tightness {
  double mean = 0;
  double least = 1;

  explicit Tightness(const Enclosure& enclosure) {
    const Index count = enclosure.lower.rows() * enclosure.lower.cols();
    for (Index t = 0; t < count; ++t) {
      const double ratio = enclosure.lower.data()[t] / enclosure.upper.data()[t];
      mean += ratio / static_cast<double>(count);
      least = std::min(least, ratio);
    }
  }
};

TEST(Enclosure, HoldsForEveryFamily) {
  test::RandomBits random(1);
  for (double phi = 0; phi <= 8; phi += phi < 1 ? 0.5 : 1)
    for (const auto family : all_families())
      for (int t = 0; t < 3; ++t) {
        const auto problem =
            generate({family, random.between(1, 8), random.between(1, 8), random.between(1, 40), phi, random()});
        const auto enclosure = enclose_product(problem.a, problem.b, engine());
        ASSERT_TRUE(encloses(problem.a, problem.b, enclosure)) << generate_command(problem.recipe);
      }
}

TEST(Enclosure, HoldsForNumbersOfEveryClass) {
  test::RandomBits random(2);
  for (int t = 0; t < 1500; ++t) {
    Matrix<double> a(3, random.between(1, 5));
    Matrix<double> b(a.cols(), 3);
    const bool sparse = random.once_in(2);
    for (Index e = 0; e < 3 * a.cols(); ++e) {
      a.data()[e] = sparse && random.once_in(2) ? 0.0 : test::sample<double>(random);
      b.data()[e] = sparse && random.once_in(2) ? -0.0 : test::sample<double>(random);
    }
    ASSERT_TRUE(encloses(a, b, enclose_product(a, b, engine()))) << t;
  }
}

TEST(Enclosure, HoldsForFloats) {
  test::RandomBits random(3);
  for (int t = 0; t < 200; ++t) {
    Matrix<float> a(2, 4);
    Matrix<float> b(4, 2);
    Matrix<double> wide_a(2, 4);
    for (Index e = 0; e < 8; ++e) {
      a.data()[e] = test::sample<float>(random);
      b.data()[e] = test::sample<float>(random);
      wide_a.data()[e] = static_cast<double>(a.data()[e]);
    }
    ASSERT_TRUE(encloses(a, b, enclose_product(a, b, engine()))) << t;
    ASSERT_TRUE(encloses(wide_a, b, enclose_product(wide_a, b, engine()))) << t;
  }
}

TEST(Enclosure, LevelOneIsTightOnUniformData) {
  // docs/derivations/enclosure.md (E1)
  const auto problem = generate({Family::uniform, 16, 16, 1024, 0, 4});
  const auto enclosure = enclose_product(problem.a, problem.b, engine());
  EXPECT_EQ(enclosure.levels, 1);
  double mean = 0;
  double mean_upper = 0;
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j) {
      double exact = 0;
      for (Index l = 0; l < 1024; ++l) exact += std::abs(problem.a(i, l) * problem.b(l, j));
      exact = std::ldexp(exact, -enclosure.row_exponents[static_cast<std::size_t>(i)] -
                                    enclosure.column_exponents[static_cast<std::size_t>(j)]);
      mean += enclosure.lower(i, j) / exact / 256;
      mean_upper += enclosure.upper(i, j) / exact / 256;
    }
  RecordProperty("mean_lower_over_true", std::to_string(mean));
  EXPECT_GE(mean, 0.95);
  EXPECT_LE(mean_upper, 1.05);
}

TEST(Enclosure, LevelTwoIsTightWhereNothingUnderflows) {
  // The factors are 1 + 2^-13 below and 1 + 2^-12 above. With the operands' own roundings, both bounds are within 2^-11.
  for (const double phi : {1.0, 2.0, 3.0})
    for (const Index k : {Index{1}, Index{100}, Index{3000}}) {
      const auto problem = generate({Family::wide_exponents, 8, 8, k, phi, 5});
      const auto enclosure = enclose_product(problem.a, problem.b, engine());
      if (enclosure.levels == 1) continue;
      EXPECT_EQ(enclosure.levels, 2) << phi << ' ' << k;
      EXPECT_GE(Tightness(enclosure).least, 1 - 0x1p-11) << phi << ' ' << k;
    }
}

TEST(Enclosure, WideDataLeavesNoEntryWithoutALowerBound) {
  for (const double phi : {2.0, 3.0, 4.0, 8.0}) {
    const auto problem = generate({Family::wide_exponents, 16, 16, 512, phi, 6});
    const auto enclosure = enclose_product(problem.a, problem.b, engine());
    EXPECT_GE(enclosure.levels, 2);
    EXPECT_GE(Tightness(enclosure).least, phi < 8 ? 0.5 : 1.0 / (4 * 512)) << phi;
  }
}

TEST(Enclosure, AnInnerDimensionOfOne) {
  for (const double x : {1.0, 0x1.fffffffffffffp0, 0x1p-1074, 0x1.fffffffffffffp1023, 1.0 / 3})
    for (const double y : {1.0, 0x1.fffffffffffffp0, 0x1p-1074, 0x1.fffffffffffffp1023, 0.0}) {
      const auto a = row_major(&x, 1, 1, 1);
      const auto b = row_major(&y, 1, 1, 1);
      const auto enclosure = enclose_product(a, b, engine());
      EXPECT_TRUE(encloses(a, b, enclosure)) << std::hexfloat << x << ' ' << y;
      if (y != 0) {
        EXPECT_GE(Tightness(enclosure).least, 0.5);
      }
    }
}

TEST(Enclosure, ALongInnerDimension) {
  // Every sum is a multiple of one product. Neither exact sums of INT8 products nor sums of FP32 products may lose a product.
  const Index k = (Index{1} << 20) + 17;
  for (const double x : {1.0, 0x1.fffffffffffffp0, 1.0 / 3})
    for (const double small : {0.0, 0x1p-9, 0x1p-70}) {
      const double y = 0.7;
      const MatrixView<const double> long_row(&x, 1, k, 0, 0);
      Matrix<double> b(k, 1);
      for (Index l = 0; l < k; ++l) b(l, 0) = l == 0 ? y : y * small;
      const auto enclosure = enclose_product(long_row, b, engine());
      const auto sum = Exact(x) * (Exact(y) + Exact(y * small) * Exact(static_cast<double>(k - 1)));
      const auto exact = sum.times_power_of_two(-enclosure.row_exponents[0] - enclosure.column_exponents[0]);
      EXPECT_FALSE(exact < Exact(enclosure.lower(0, 0))) << x << ' ' << small;
      EXPECT_FALSE(Exact(enclosure.upper(0, 0)) < exact) << x << ' ' << small;
      EXPECT_GE(Tightness(enclosure).least, 0.4) << x << ' ' << small;
    }
}

TEST(Enclosure, EmptyProductsAreZero) {
  const Matrix<double> a(2, 0);
  const Matrix<double> b(0, 3);
  const auto enclosure = enclose_product(a, b, engine());
  for (Index t = 0; t < 6; ++t) {
    EXPECT_EQ(enclosure.lower.data()[t], 0);
    EXPECT_EQ(enclosure.upper.data()[t], 0);
  }
  EXPECT_EQ(enclose_product(Matrix<double>(0, 4), Matrix<double>(4, 3), engine()).lower.rows(), 0);
}

TEST(Enclosure, SpecialRowsAndColumnsAreLeftOut) {
  const auto problem = generate({Family::wide_exponents, 5, 5, 20, 3, 7});
  const auto clean = enclose_product(problem.a, problem.b, engine());
  auto a = problem.a;
  auto b = problem.b;
  a(1, 3) = nan, a(3, 0) = inf, b(7, 2) = -inf;
  a(3, 1) = 0x1p1023;
  const auto enclosure = enclose_product(a, b, engine());
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) {
      const bool special = i == 1 || i == 3 || j == 2;
      EXPECT_EQ(enclosure.lower(i, j), special ? 0 : clean.lower(i, j));
      EXPECT_EQ(enclosure.upper(i, j), special ? 0 : clean.upper(i, j));
    }
}

bool same(const Enclosure& x, const Enclosure& y) {
  const auto equal = [](const Matrix<double>& p, const Matrix<double>& q) {
    return std::equal(p.data(), p.data() + p.rows() * p.cols(), q.data(),
                      [](double s, double t) { return bits_of(s) == bits_of(t); });
  };
  return equal(x.lower, y.lower) && equal(x.upper, y.upper) && x.row_exponents == y.row_exponents &&
         x.column_exponents == y.column_exponents && x.levels == y.levels;
}

TEST(Enclosure, HasTheSameBitsOnAnyEngineAndInAnyEnvironment) {
  const CpuEngine threads({.threads = 3, .inner_block = 37, .row_tile = 5, .column_tile = 3});
  for (const auto family : {Family::uniform, Family::wide_exponents, Family::sparse, Family::subnormal, Family::full_range}) {
    const auto problem = generate({family, 11, 13, 2100, 3, 8});
    const auto expected = enclose_product(problem.a, problem.b, engine());
    EXPECT_TRUE(same(enclose_product(problem.a, problem.b, threads), expected)) << name(family);
    const test::HostileEnvironment hostile;
    ASSERT_TRUE(test::HostileEnvironment::is_in_force());
    EXPECT_TRUE(same(enclose_product(problem.a, problem.b, threads), expected)) << name(family);
    EXPECT_TRUE(test::HostileEnvironment::is_in_force());
  }
}

Matrix<double> transpose_of(const Matrix<double>& x) {
  Matrix<double> result(x.cols(), x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) result(j, i) = x(i, j);
  return result;
}

/// The same elements in every other column of a matrix with twice the columns.
Matrix<double> spread_of(const Matrix<double>& x) {
  Matrix<double> result(x.rows(), 2 * x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) result(i, 2 * j) = x(i, j);
  return result;
}

TEST(Enclosure, HasTheSameBitsInAnyOrderInMemory) {
  for (const auto family : {Family::uniform, Family::wide_exponents, Family::sparse, Family::subnormal, Family::full_range})
    for (const bool special : {false, true}) {
      auto problem = generate({family, 35, 70, 1100, 3, 8});
      if (special) problem.a(3, 5) = inf, problem.b(7, 11) = nan;
      const auto expected = enclose_product(problem.a, problem.b, engine());
      const auto a_by_columns = transpose_of(problem.a), b_by_columns = transpose_of(problem.b);
      const auto a = a_by_columns.view().transposed(), b = b_by_columns.view().transposed();
      EXPECT_TRUE(same(enclose_product(a, b, engine()), expected)) << name(family);
      const auto a_spread = spread_of(problem.a), b_spread = spread_of(problem.b);
      const MatrixView<const double> every_other_a(a_spread.data(), 35, 1100, 2200, 2);
      const MatrixView<const double> every_other_b(b_spread.data(), 1100, 70, 140, 2);
      EXPECT_TRUE(same(enclose_product(every_other_a, every_other_b, engine()), expected)) << name(family);
    }
}

/// A matrix of floats gives the bits of the same values as doubles, by rows and by columns.
TEST(Enclosure, HasTheSameBitsForFloatsOfTheSameValues) {
  const auto problem = generate({Family::wide_exponents, 20, 70, 600, 1, 8});
  Matrix<float> a(20, 600), b(70, 600);
  Matrix<double> wide_a(20, 600), wide_b(600, 70);
  for (Index l = 0; l < 600; ++l) {
    for (Index i = 0; i < 20; ++i) wide_a(i, l) = a(i, l) = static_cast<float>(problem.a(i, l));
    for (Index j = 0; j < 70; ++j) wide_b(l, j) = b(j, l) = static_cast<float>(problem.b(l, j));
  }
  EXPECT_TRUE(same(enclose_product(a, InputView(b).transposed(), engine()), enclose_product(wide_a, wide_b, engine())));
}

}  // namespace
}  // namespace ozbound::enclosure_test
