// SPDX-License-Identifier: BSD-3-Clause
#include "models_operands.hpp"

#include "ozbound/verify/literature/models/fp16_slices.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ozbound/core/dyadic.hpp"

namespace ozbound::models::models_fp16_slices_test {
namespace {

constexpr auto correctly_rounded = SliceMode::correctly_rounded;

/// One row and one column, with their exact product.
Problem dot_problem(const std::vector<double>& row, const std::vector<double>& column) {
  return binary32_operands(row, column).exact;
}

Fp16Product<double> product_of(const Fp16Slices& method, const Problem& problem) {
  return multiply(method, problem.a.view(), problem.b.view());
}

double first_entry(const Fp16Slices& method, const std::vector<double>& row, const std::vector<double>& column) {
  return product_of(method, dot_problem(row, column)).c(0, 0);
}

bool is_exact(const auto& product) { return product.lost_conversions == 0 && product.lost_sums == 0; }

/// A problem that Algorithm 1 accepts: some families, `full_range` among them, have elements for which sigma overflows.
Problem smaller(Recipe recipe) {
  auto problem = generate(recipe);
  for (auto* matrix : {&problem.a, &problem.b})
    for (Index t = 0; t < matrix->rows() * matrix->cols(); ++t)
      while (std::fabs(matrix->data()[t]) > 0x1p900) matrix->data()[t] *= 0x1p-100;
  return problem;
}

/// The worst error / bound(i, j, entry) over the entries that did not overflow.
template <class T, class Bound>
double ratio(const Matrix<T>& c, const Problem& problem, ResultFormat format, const Bound& bound) {
  const ExactOracle oracle(problem);
  double worst = 0;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      if (!std::isfinite(c(i, j))) continue;
      const auto entry = oracle.evaluate(i, j, static_cast<double>(c(i, j)), format);
      worst = std::max(worst, to_double_upper(divide_upper(entry.error_upper, bound(i, j, entry))));
    }
  return worst;
}

/// The worst row sum of errors over 2 sqrt(k) u |A||B|e, the error that the paper's (1) expects of DGEMM and Algorithm 3 aims
/// at.
double over_expected(const Matrix<double>& c, const Problem& problem) {
  const ExactOracle oracle(problem);
  const auto factor = Magnitude::of(2 * std::sqrt(static_cast<double>(problem.a.cols())) * 0x1p-53);
  double worst = 0;
  for (Index i = 0; i < c.rows(); ++i) {
    Magnitude error, scale;
    for (Index j = 0; j < c.cols(); ++j) {
      const auto entry = oracle.evaluate(i, j, c(i, j));
      error = add_upper(error, entry.error_upper);
      scale = add_lower(scale, entry.scale_lower);
    }
    worst = std::max(worst, to_double_upper(divide_upper(error, multiply_lower(factor, scale))));
  }
  return worst;
}

/// Slice counts and block lengths may be as large as their integer types allow.
TEST(Fp16Slices, CountsOfAnySize) {
  Matrix<double> a(1, 2), b(2, 1);
  a(0, 0) = a(0, 1) = b(0, 0) = b(1, 0) = 1;
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const auto& method : {Fp16Slices{.slices = std::numeric_limits<int>::max()},
                             Fp16Slices{.slices = std::numeric_limits<int>::max(), .fast = false}, Fp16Slices{.block = most},
                             Fp16Slices{.inner_block = most}}) {
    EXPECT_EQ(multiply(method, std::as_const(a).view(), std::as_const(b).view()).c(0, 0), 2);
  }
}

/// The bits are those of rho = ceil(53 - (24 - log2 n) / 2) as printed, at both ends of every step.
TEST(Fp16Slices, BitsAreThoseOfRho) {
  EXPECT_EQ(bits_of_fp16_slices(1), 12);
  for (int bits = 1; bits <= 11; ++bits) {
    const Index last = Index{1} << (24 - 2 * bits);
    EXPECT_EQ(bits_of_fp16_slices(last), bits);
    if (bits > 1) {
      EXPECT_EQ(bits_of_fp16_slices(last + 1), bits - 1);
    }
    for (const Index n : {last, last / 4 + 1})
      EXPECT_EQ(53 - static_cast<int>(std::ceil(53 - (24 - std::log2(static_cast<double>(n))) / 2)), bits) << n;
  }
  EXPECT_THROW(bits_of_fp16_slices(0), std::invalid_argument);
  EXPECT_THROW(bits_of_fp16_slices((Index{1} << 22) + 1), std::invalid_argument);
}

/// A negative element has one more bit. For n = 64, beta is 9: -(2^9 - 1) 2^-9 is one slice, and the positive number is split
/// at 2^-8.
TEST(Fp16Slices, NegativeElementsHaveABitMore) {
  const auto slices = [](double x) {
    std::vector<double> row(64, 0.0), column(64, 0.0);
    row[0] = x, column[0] = 1;
    return product_of({.mode = correctly_rounded}, dot_problem(row, column)).slices_a;
  };
  EXPECT_EQ(slices(-511.0 / 512), 1);
  EXPECT_EQ(slices(511.0 / 512), 2);
  EXPECT_EQ(slices(255.0 / 256), 1);
}

/// Within Algorithm 1's limits no unit rounds anything, for any alignment and any order.
TEST(Fp16Slices, NothingIsRoundedWithinTheLimits) {
  for (const auto& unit : {TensorCore::nearest(), TensorCore::truncating(4), TensorCore::truncating(16)})
    for (const auto family : all_families())
      for (const Index k : {2, 5, 33}) {
        const auto product = product_of({.mode = correctly_rounded, .unit = unit}, smaller({family, 2, 2, k, 1, 5}));
        EXPECT_TRUE(is_exact(product)) << name(family) << " " << k;
      }
}

/// k elements -(2^beta - 1) 2^-beta, which give the largest possible sums.
Fp16Product<double> of_maximal_slices(Index k, int bits) {
  const std::vector<double> x(static_cast<std::size_t>(k), std::ldexp(1.0, -bits) - 1);
  return product_of({.mode = correctly_rounded, .bits = bits}, dot_problem(x, x));
}

/// With one bit more than Algorithm 1 allows, the unit rounds the same sums, and the result is rounded with them.
TEST(Fp16Slices, OneBitMoreIsRoundedInTheUnit) {
  for (const Index k : {16, 64, 256, 1024}) {
    const int bits = bits_of_fp16_slices(k);
    EXPECT_TRUE(is_exact(of_maximal_slices(k, bits))) << k;
    const auto product = of_maximal_slices(k, bits + 1);
    EXPECT_EQ(product.lost_sums, 1) << k;
    EXPECT_EQ(product.lost_conversions, 0) << k;
    EXPECT_NE(product.c(0, 0), static_cast<double>(k) * std::pow(1 - std::ldexp(1.0, -bits - 1), 2)) << k;
  }
  EXPECT_EQ(of_maximal_slices(2, 12).lost_conversions, 4);
}

TEST(Fp16Slices, CorrectRoundingIsThatOfTheOracle) {
  for (const auto family : all_families())
    for (const Index k : {1, 2, 33})
      for (const Fp16Slices& method : {Fp16Slices{.mode = correctly_rounded, .bits = k == 1 ? std::optional(11) : std::nullopt},
                                       Fp16Slices{.mode = correctly_rounded, .bits = 4, .block = 2, .inner_block = 7}}) {
        const auto problem = smaller({family, 3, 3, k, 1, 9});
        const auto c = product_of(method, problem).c;
        const ExactOracle oracle(problem);
        for (Index i = 0; i < 3; ++i)
          for (Index j = 0; j < 3; ++j) EXPECT_EQ(bits_of(c(i, j)), bits_of(oracle.rounded(i, j))) << name(family) << " " << k;
      }
}

TEST(Fp16Slices, CorrectRoundingOfFloatIsThatOfTheOracle) {
  for (const auto family : all_families()) {
    const auto operands = binary32_operands(Recipe{family, 3, 3, 20, 0.25, 9});
    const auto c = multiply({.mode = correctly_rounded}, operands.a.view(), operands.b.view()).c;
    const ExactOracle oracle(operands.exact);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) EXPECT_EQ(bits_of(c(i, j)), bits_of(oracle.rounded_float(i, j))) << name(family);
  }
}

TEST(Fp16Slices, ErrorsAreWithinTheBoundForEveryFamily) {
  for (const auto family : all_families())
    for (const Index k : {2, 33, 70})
      for (const Fp16Slices& method : {Fp16Slices{}, Fp16Slices{.slices = 3}, Fp16Slices{.slices = 3, .fast = false},
                                       Fp16Slices{.block = 2, .inner_block = 8}, Fp16Slices{.slices = 1, .bits = 2}}) {
        const auto problem = smaller({family, 3, 3, k, 1, 7});
        const auto product = product_of(method, problem);
        ASSERT_TRUE(is_exact(product));
        const auto bound = bound_upper(method, problem.a.view(), problem.b.view());
        const auto of = [&](Index i, Index j, const OracleEntry&) { return bound(i, j); };
        EXPECT_LE(ratio(product.c, problem, ResultFormat::of_double, of), 1) << name(family) << " " << k;
      }
}

TEST(Fp16Slices, ErrorsOfFloatAreWithinTheBoundForEveryFamily) {
  for (const auto family : all_families())
    for (const Fp16Slices& method : {Fp16Slices{}, Fp16Slices{.slices = 2}, Fp16Slices{.inner_block = 8}}) {
      const auto operands = binary32_operands(Recipe{family, 3, 3, 33, 0.25, 7});
      const auto product = multiply(method, operands.a.view(), operands.b.view());
      ASSERT_TRUE(is_exact(product));
      const auto bound = bound_upper(method, operands.a.view(), operands.b.view());
      EXPECT_LE(ratio(product.c, operands.exact, ResultFormat::of_float,
                      [&](Index i, Index j, const OracleEntry&) { return bound(i, j); }),
                1)
          << name(family);
    }
}

/// The bound covers omitted slices: in one-element products they are the whole error (one slice of -(2^10 - 1) 2^-10 - 2^-22,
/// for example).
TEST(Fp16Slices, TheBoundSeesWhatIsLeftOut) {
  std::vector<double> row(16, 0.0), column(16, 0.0);
  row[0] = -1 + 0x1p-10 - 0x1p-22, column[0] = 1;
  const auto problem = dot_problem(row, column);
  const Fp16Slices method{.slices = 1};
  EXPECT_EQ(product_of(method, problem).c(0, 0), -1 + 0x1p-10);
  EXPECT_EQ(bound_upper(method, problem.a.view(), problem.b.view())(0, 0),
            add_upper(Magnitude::of(0x1p-22), Magnitude::power_of_two(-1075)));
}

/// On the paper's own data, Algorithm 3 meets its aim of 2 sqrt(k) u |A||B|e.
TEST(Fp16Slices, TheEstimateIsMetOnThePapersData) {
  for (const double phi : {0.1, 1.0, 2.0})
    for (const Index k : {16, 128, 500}) {
      const auto problem = generate({Family::wide_exponents, 8, 8, k, phi, 3});
      const auto product = product_of({}, problem);
      EXPECT_LE(over_expected(product.c, problem), 1) << phi << " " << k;
      EXPECT_TRUE(product.fast);
      const int d = product.slices_a;
      EXPECT_LE(product.slices_b, d);
      EXPECT_EQ(product.products, d * (d + 1) / 2 - (d - product.slices_b)) << "of one slice of A at most";
      EXPECT_GE(product.slices_b, d - 1);
      EXPECT_GT(over_expected(product_of({.slices = 3}, problem).c, problem), 1) << phi << " " << k;
    }
}

TEST(Fp16Slices, WiderExponentsTakeMoreSlices) {
  const auto slices = [](double phi) { return product_of({}, generate({Family::wide_exponents, 4, 4, 64, phi, 3})).slices_a; };
  EXPECT_LT(slices(0.1), slices(2));
}

/// If A is used up before Algorithm 3 is satisfied, every product is computed.
TEST(Fp16Slices, FastModeIsOffWhereAIsUsedUp) {
  const auto product = product_of({}, dot_problem({3, 5}, {1.0 / 3, 1.0 / 7}));
  EXPECT_FALSE(product.fast);
  EXPECT_EQ(product.slices_a, 1);
  EXPECT_EQ(product.products, product.slices_b);
}

/// Algorithm 3 tests the second slice t by 2 sqrt(2) u (3/4 + t) v > 3 t v: true for t = u / 2, false for 7u / 8.
TEST(Fp16Slices, TheEstimateCountsTheProductsThatItLeavesOut) {
  const auto product = [](double t) { return product_of({}, dot_problem({0.75, t}, {1.0 / 3, 1.0 / 3})); };
  EXPECT_TRUE(product(0x1p-54).fast);
  EXPECT_EQ(product(0x1p-54).products, 3);
  EXPECT_FALSE(product(0x1.cp-54).fast);
}

TEST(Fp16Slices, TheEstimateBeginsAtTwoSlices) { EXPECT_EQ(product_of({}, dot_problem({1.0 / 3, 0}, {0, 1})).slices_a, 2); }

TEST(Fp16Slices, SlicesMayBeGiven) {
  const auto problem = generate({Family::wide_exponents, 2, 2, 20, 1, 2});
  EXPECT_EQ(product_of({.slices = 3}, problem).products, 6);
  EXPECT_EQ(product_of({.slices = 3, .fast = false}, problem).products, 9);
  EXPECT_TRUE(product_of({.fast = false}, problem).fast);  // Algorithm 3's d is for fast mode
}

/// Blocks of C have slice counts of their own, so a block size may change bits, except if everything is rounded once.
TEST(Fp16Slices, BlocksAreProductsOfTheirOwn) {
  const auto problem = generate({Family::wide_exponents, 7, 5, 40, 3, 2});
  const auto block = [&](Index i, Index j, Index rows, Index cols) {
    return multiply({}, problem.a.view().block(i, 0, rows, 40), problem.b.view().block(0, j, 40, cols)).c;
  };
  const auto c = product_of({.block = 4}, problem).c;  // 7 rows as 4, 3; 5 columns as 3, 2
  for (Index i = 0; i < 7; ++i)
    for (Index j = 0; j < 5; ++j)
      EXPECT_EQ(c(i, j), block(i / 4 * 4, j / 3 * 3, i < 4 ? 4 : 3, j < 3 ? 3 : 2)(i % 4, j % 3)) << i << " " << j;
}

/// beta follows the inner block length: an element that needs two slices of 10 bits needs one of 11.
TEST(Fp16Slices, InnerBlocksKeepSlicesLong) {
  const std::vector<double> x(16, -2047.0 / 2048), y(16, -1);
  EXPECT_EQ(product_of({.mode = correctly_rounded}, dot_problem(x, y)).slices_a, 2);
  const auto blocked = product_of({.mode = correctly_rounded, .inner_block = 4}, dot_problem(x, y));
  EXPECT_EQ(blocked.slices_a, 1);
  EXPECT_EQ(blocked.products, 4);
  EXPECT_EQ(blocked.c(0, 0), 16 * 2047.0 / 2048);
}

/// The last inner block may have one element, and is sliced like the others.
TEST(Fp16Slices, InnerBlocksShareTheirBits) {
  const auto problem = dot_problem({1, 1, -(1.5 + 0x1p-11)}, {1, 1, 1});
  EXPECT_TRUE(is_exact(product_of({.inner_block = 2}, problem)));
  EXPECT_EQ(bound_upper({.inner_block = 2}, problem.a.view(), problem.b.view()).rows(), 1);
}

TEST(Fp16Slices, EmptyAndZeroOperands) {
  const Matrix<double> none(2, 0), zero(0, 3), zeros(2, 2);
  const Matrix<double> of_none(0, 3);
  const auto empty = multiply({}, none.view(), of_none.view());
  EXPECT_EQ(empty.c.rows(), 2);
  EXPECT_EQ(empty.c(1, 2), 0);
  EXPECT_EQ(empty.products, 0);
  for (const auto mode : {SliceMode::estimated, correctly_rounded})
    EXPECT_EQ(bits_of(multiply({.mode = mode}, zeros.view(), zeros.view()).c(1, 1)), bits_of(0.0));
  EXPECT_TRUE(bound_upper({}, none.view(), of_none.view())(0, 0).is_zero());
}

TEST(Fp16Slices, TheCallersRoundingModeDoesNotMatter) {
  const auto problem = generate({Family::wide_exponents, 2, 2, 20, 1, 2});
  const auto c = product_of({}, problem).c;
  std::fesetround(FE_UPWARD);
  const auto again = product_of({}, problem).c;
  std::fesetround(FE_TONEAREST);
  for (Index t = 0; t < 4; ++t) EXPECT_EQ(again.data()[t], c.data()[t]);
}

TEST(Fp16Slices, RefusesWhatIsNone) {
  const auto problem = dot_problem({1, 2}, {3, 4});
  for (const Fp16Slices& method :
       {Fp16Slices{.slices = 0}, Fp16Slices{.bits = 0}, Fp16Slices{.bits = 17}, Fp16Slices{.block = -1},
        Fp16Slices{.inner_block = -1}, Fp16Slices{.unit = TensorCore::truncating(0)}})
    EXPECT_THROW(product_of(method, problem), std::invalid_argument);
  EXPECT_THROW(multiply({}, problem.a.view(), problem.a.view()), std::invalid_argument);
  EXPECT_THROW(product_of({}, dot_problem({1, std::numeric_limits<double>::infinity()}, {1, 1})), std::invalid_argument);
  EXPECT_THROW(bound_upper({.mode = correctly_rounded}, problem.a.view(), problem.b.view()), std::invalid_argument);
  EXPECT_THROW(bound_upper({.bits = 12}, problem.a.view(), problem.b.view()), std::invalid_argument);
  const auto single = dot_problem({1}, {1});
  EXPECT_THROW(bound_upper({}, single.a.view(), single.b.view()), std::invalid_argument);
  for (const auto& unit : {TensorCore::truncating(0), TensorCore::truncating(4, -1)})
    EXPECT_THROW(bound_upper({.unit = unit}, problem.a.view(), problem.b.view()), std::invalid_argument);
}

/// An element is refused even if the product is empty and no other element meets it.
TEST(Fp16Slices, RefusesElementsOfAnEmptyProduct) {
  const Matrix<double> no_columns(2, 0);
  for (const double x : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), 0x1p982}) {
    const auto problem = dot_problem({1, x}, {x, 1});
    EXPECT_THROW(multiply({}, problem.a.view(), no_columns.view()), std::invalid_argument) << x;
    EXPECT_THROW(bound_upper({}, problem.a.view(), no_columns.view()), std::invalid_argument) << x;
    EXPECT_THROW(multiply({}, Matrix<double>(0, 2).view(), problem.b.view()), std::invalid_argument) << x;
  }
  EXPECT_EQ(multiply({}, no_columns.view(), Matrix<double>(0, 0).view()).c.cols(), 0);
}

/// docs/errata.md, 8: the slices of B are ignored.
TEST(ErrataOfModels, Algorithm3IgnoresTheSlicesOfB) {
  const std::vector<double> row{1, 0x1p-60}, column{1.0 / 3, 1.0 / 7};
  const auto problem = dot_problem(row, column);
  const auto product = product_of({}, problem);
  EXPECT_EQ(product.slices_a, 2);
  EXPECT_TRUE(is_exact(product));
  const auto relative = [](Index, Index, const OracleEntry& entry) { return entry.value_lower; };
  EXPECT_GT(ratio(product.c, problem, ResultFormat::of_double, relative), 1.1e-7);
  EXPECT_LT(ratio(product_of({.slices = 5}, problem).c, problem, ResultFormat::of_double, relative), 3.2e-16);
}

/// docs/errata.md, 9: x / 2 has 12 bits, and as it is negative it is one slice of 12 bits.
TEST(ErrataOfModels, SlicesOfOneElementDoNotFitBinary16) {
  const double x = -(1.5 + 0x1p-11);
  EXPECT_EQ(product_of({.mode = correctly_rounded}, dot_problem({x}, {1})).lost_conversions, 1);
  EXPECT_EQ(first_entry({.mode = correctly_rounded}, {x}, {1}), -1.5);
  EXPECT_EQ(first_entry({.mode = correctly_rounded, .bits = 11}, {x}, {1}), x);
  EXPECT_EQ(first_entry({.mode = correctly_rounded}, {-x}, {1}), -x);
  EXPECT_EQ(first_entry({.mode = correctly_rounded}, {x, 0}, {1, 0}), x);
}

/// Algorithm 1 as printed: slices before scaling (line 9) and after it (line 11).
struct PrintedSlices {
  std::vector<std::vector<double>> unscaled, scaled;
};

PrintedSlices printed_algorithm_1(std::vector<double> x) {
  const int rho = static_cast<int>(std::ceil(53 - (24 - std::log2(static_cast<double>(x.size()))) / 2));
  const auto largest = [&x] {
    return std::fabs(*std::max_element(x.begin(), x.end(), [](double y, double z) { return std::fabs(y) < std::fabs(z); }));
  };
  PrintedSlices slices;
  for (double mu = largest(); mu != 0; mu = largest()) {
    const int tau = std::ilogb(mu) + (std::ldexp(1.0, std::ilogb(mu)) < mu ? 1 : 0);
    const double sigma = std::ldexp(1.0, rho + tau);
    auto &unscaled = slices.unscaled.emplace_back(), &scaled = slices.scaled.emplace_back();
    for (double& element : x) {
      const double part = (element + sigma) - sigma;
      element -= part;
      unscaled.push_back(part);
      scaled.push_back(static_cast<double>(round_to(binary16_word, std::ldexp(part, -tau))));
    }
  }
  return slices;
}

/// The number of times that |slice p| < |slice p + 1| for an element, both not zero.
int rises(const std::vector<std::vector<double>>& slices) {
  int count = 0;
  for (std::size_t p = 1; p < slices.size(); ++p)
    for (std::size_t i = 0; i < slices[p].size(); ++i)
      count += slices[p - 1][i] != 0 && std::fabs(slices[p - 1][i]) < std::fabs(slices[p][i]) ? 1 : 0;
  return count;
}

/// docs/errata.md, 20: scaled slices may rise, as 1 + 2^-11 is 2^1 (1/2) + 2^-11 (1).
TEST(ErrataOfModels, ScaledSlicesDoNotFall) {
  const auto smallest = printed_algorithm_1({1 + 0x1p-11});
  EXPECT_EQ(smallest.scaled, (std::vector<std::vector<double>>{{0.5}, {1}}));
  EXPECT_EQ(smallest.unscaled, (std::vector<std::vector<double>>{{1}, {0x1p-11}}));
  EXPECT_EQ(printed_algorithm_1({1 + 0x1p-10, 0}).scaled, (std::vector<std::vector<double>>{{0.5, 0}, {1, 0}}));
  int of_scaled = 0;
  for (const auto family : all_families())
    for (const Index k : {1, 2, 5, 33, 1025}) {
      const auto problem = smaller({family, 1, 1, k, 1, 5});
      const auto slices = printed_algorithm_1({problem.a.data(), problem.a.data() + k});
      EXPECT_EQ(std::ssize(slices.scaled), product_of({.mode = correctly_rounded}, problem).slices_a)
          << name(family) << " " << k;
      EXPECT_EQ(rises(slices.unscaled), 0) << name(family) << " " << k;
      of_scaled += rises(slices.scaled);
    }
  EXPECT_GT(of_scaled, 0);
}

/// docs/errata.md, 19: sigma overflows. With rho = 42 for n = 2, sigma = 2^1023 for 2^981, and 2^1024 for larger numbers.
TEST(ErrataOfModels, SigmaOverflows) {
  EXPECT_EQ(first_entry({.mode = correctly_rounded}, {0x1p981, 1}, {0x1p-981, 1}), 2);
  try {
    first_entry({}, {std::nextafter(0x1p981, 0x1p982), 1}, {1, 1});
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "the elements must be at most 2^981, where sigma overflows");
  }
  EXPECT_THROW(first_entry({}, {1, 1}, {1, -0x1p982}), std::invalid_argument);
  const auto of_float = [](double x) {  // rho = 13: 2^127 for 2^114
    const auto operands = binary32_operands({x}, {1});
    return multiply({.bits = 11}, operands.a.view(), operands.b.view()).c(0, 0);
  };
  EXPECT_EQ(of_float(0x1p114), 0x1p114F);
  EXPECT_THROW(of_float(0x1.8p114), std::invalid_argument);
}

/// docs/errata.md, 19: Algorithm 3 does not end on a row of zeros, as s_i > t_i is 0 > 0.
TEST(ErrataOfModels, Algorithm3DoesNotEndOnARowOfZeros) {
  auto problem = generate({Family::wide_exponents, 2, 2, 20, 0.1, 2});
  const int d = product_of({}, problem).slices_a;
  for (Index l = 0; l < 20; ++l) problem.a(1, l) = 0;
  const auto product = product_of({}, problem);
  EXPECT_TRUE(product.fast);
  EXPECT_LE(product.slices_a, d);
}

/// docs/errata.md, 19: products of scaled slices may underflow below every double, which NearSum, a sum of doubles, cannot
/// repair.
TEST(ErrataOfModels, ScaledProductsMayUnderflow) {
  const std::vector<double> row{1 + 0x1p-52, 0}, column{0x1p-1040 * (1 + 0x1p-12), 0};
  const auto problem = dot_problem(row, column);
  const auto product = product_of({.mode = correctly_rounded}, problem);
  EXPECT_GT(product.lost_scalings, 0);
  EXPECT_EQ(product.c(0, 0), ExactOracle(problem).rounded(0, 0));
  EXPECT_EQ(product_of({.mode = correctly_rounded}, dot_problem({1 + 0x1p-52, 0}, {1 + 0x1p-12, 0})).lost_scalings, 0);
}

}  // namespace
}  // namespace ozbound::models::models_fp16_slices_test
