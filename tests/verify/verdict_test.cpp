// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"
#include "print.hpp"

namespace ozbound::verdict_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

template <class T = double>
Matrix<T> correctly_rounded(const Oracle& oracle) {
  Matrix<T> c(oracle.rows(), oracle.cols());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      if constexpr (sizeof(T) == sizeof(double))
        c(i, j) = oracle.rounded(i, j);
      else
        c(i, j) = oracle.rounded_float(i, j);
  return c;
}

template <class T = double>
Matrix<T> conventional_product(const Problem& p) {
  Matrix<T> c(p.a.rows(), p.b.cols());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index l = 0; l < p.a.cols(); ++l)
      for (Index j = 0; j < c.cols(); ++j) c(i, j) += static_cast<T>(p.a(i, l)) * static_cast<T>(p.b(l, j));
  return c;
}

std::vector<Target> targets(double tau) {
  return {Target::correctly_rounded(), Target::dgemm(),       Target::dgemm_typical(), Target::componentwise(tau),
          Target::rowcol(tau),         Target::normwise(tau), Target::relative(tau)};
}

/// A 1 x 1 problem whose product is exactly x, to be judged by hand. M = |x|.
struct Scalar {
  double x = 1, one = 1;
  ExactOracle oracle{{.a = row_major(&x, 1, 1, 1), .b = row_major(&one, 1, 1, 1)}};
  explicit Scalar(double value) : x(value) {}

  [[nodiscard]] Verdict judge(double computed, const Target& target) const {
    return verify(row_major(&computed, 1, 1, 1), oracle, target);
  }
  [[nodiscard]] Verdict judge(float computed, const Target& target) const {
    return verify(row_major(&computed, 1, 1, 1), oracle, target);
  }
};

TEST(Verdict, aCorrectlyRoundedProductMeetsEveryTargetFromUOn) {
  for (const auto family : all_families())
    for (const double phi : {0.0, 3.0}) {
      const auto p = generate({family, 6, 7, 8, phi, 1});
      const ExactOracle oracle(p);
      const auto doubles = correctly_rounded(oracle);
      const auto floats = correctly_rounded<float>(oracle);
      for (const auto& target : targets(0x1p-53)) {
        const auto verdict = verify(doubles, oracle, target);
        EXPECT_TRUE(verdict.holds()) << generate_command(p.recipe) << '\n' << explain(verdict);
        EXPECT_EQ(verdict.entries, 42);
      }
      for (const auto& target : targets(0x1p-24)) {
        const auto verdict = verify(floats, oracle, target);
        const bool overflow = target.kind != Target::Kind::correctly_rounded &&
                              std::any_of(floats.data(), floats.data() + 42, [](float x) { return std::isinf(x); });
        EXPECT_TRUE(verdict.holds() || overflow) << generate_command(p.recipe) << '\n' << explain(verdict);
      }
    }
}

TEST(Verdict, oneUlpInOneEntryFailsCorrectRounding) {
  for (const auto family : all_families()) {
    const auto p = generate({family, 6, 7, 8, 1, 1});
    const ExactOracle oracle(p);
    auto c = correctly_rounded(oracle);
    c(4, 2) = std::nextafter(c(4, 2), 0.125);
    const auto verdict = verify(c, oracle, Target::correctly_rounded());
    EXPECT_FALSE(verdict.holds()) << name(family);
    EXPECT_EQ(verdict.failures, 1) << name(family);
    EXPECT_EQ(std::pair(verdict.row, verdict.col), std::pair(Index{4}, Index{2})) << name(family);
    EXPECT_EQ(verdict.computed, c(4, 2));
    EXPECT_EQ(verdict.exact, oracle.rounded(4, 2));
    auto single = correctly_rounded<float>(oracle);
    single(4, 2) = std::nextafter(single(4, 2), 0.125F);
    EXPECT_EQ(verify(single, oracle, Target::correctly_rounded()).failures, 1) << name(family);
  }
}

/// An entry fails from the first number whose error is above its bound: there is no tolerance.
TEST(Verdict, anEntryFailsAsSoonAsItsErrorIsAboveItsBound) {
  const Scalar one(1);
  const double computed = 1 + 0x1p-40;  // an error of 2^-40
  for (const auto& [bound, failures] : {std::pair{0x1p-40, 0}, {std::nextafter(0x1p-40, 0), 1}, {0x1.ep-41, 1}, {0x1p-41, 1}}) {
    const double allowed = bound;
    const auto verdict = verify(row_major(&computed, 1, 1, 1), one.oracle, [allowed](Index, Index) { return allowed; });
    EXPECT_EQ(verdict.failures, failures) << allowed;
    EXPECT_EQ(verdict.holds(), failures == 0) << allowed;
  }
}

TEST(Verdict, theDistanceToTheCorrectlyRoundedValueIsReported) {
  const Scalar x(3);
  EXPECT_EQ(x.judge(2.0, Target::correctly_rounded()).error, (Magnitude{1, 0}));
  EXPECT_EQ(x.judge(-3.0, Target::correctly_rounded()).error, (Magnitude{1.5, 2}));
}

TEST(Verdict, aMidpointRoundedTheWrongWayFailsCorrectRoundingAlone) {
  const double a[] = {1, 0x1p-53};
  const double ones[] = {1, 1};
  const ExactOracle oracle({.a = row_major(a, 1, 2, 2), .b = row_major(ones, 2, 1, 1)});
  const double up = 1 + 0x1p-52;
  EXPECT_FALSE(verify(row_major(&up, 1, 1, 1), oracle, Target::correctly_rounded()).holds());
  EXPECT_TRUE(verify(row_major(&up, 1, 1, 1), oracle, Target::componentwise(0x1p-53)).holds());
}

TEST(Verdict, theSignOfZeroCountsForCorrectRoundingAlone) {
  const Scalar zero(0);
  EXPECT_TRUE(zero.judge(0.0, Target::correctly_rounded()).holds());
  EXPECT_FALSE(zero.judge(-0.0, Target::correctly_rounded()).holds());
  EXPECT_EQ(zero.judge(-0.0, Target::correctly_rounded()).failures, 1);
  EXPECT_TRUE(zero.judge(-0.0, Target::componentwise(0x1p-53)).holds());
}

TEST(Verdict, everyTargetHasItsOwnBound) {
  // A = [3 4], B = [1 -1; 1 1]: C = [7 1], M = [7 7], ||a|| = 5, ||b_j|| = sqrt(2).
  const double a[] = {3, 4};
  const double b[] = {1, -1, 1, 1};
  const ExactOracle oracle({.a = row_major(a, 1, 2, 2), .b = row_major(b, 2, 2, 2)});
  const double tau = 0x1p-10;
  const double root2 = 0x1.6a09e667f3bccp0;  // sqrt(2), rounded down
  const auto judge = [&](double e0, double e1, const Target& target) {
    const double c[] = {7 + e0, 1 - e1};
    return verify(row_major(c, 1, 2, 2), oracle, target);
  };
  const auto expect_limit = [&](const Target& target, double limit, int column) {
    const auto at = [&](double e) { return column == 0 ? judge(e, 0, target) : judge(0, e, target); };
    EXPECT_TRUE(at(limit).holds()) << to_string(target) << '\n' << explain(at(limit));
    EXPECT_NEAR(at(limit).ratio, 1, 1e-6) << to_string(target);
    EXPECT_FALSE(at(limit * (1 + 0x1p-20)).holds()) << to_string(target);
    EXPECT_EQ(at(limit).col, column);
  };
  expect_limit(Target::componentwise(tau), 7 * tau, 0);
  expect_limit(Target::componentwise(tau), 7 * tau, 1);
  expect_limit(Target::relative(tau), 7 * tau, 0);
  expect_limit(Target::relative(tau), tau, 1);
  expect_limit(Target::rowcol(tau), std::floor(5 * root2 * tau * 0x1p40) * 0x1p-40, 0);
  expect_limit(Target::normwise(tau), std::floor(7 * root2 * tau * 0x1p40) * 0x1p-40, 1);
  EXPECT_TRUE(judge(7 * tau, 6.999 * tau, Target::normwise(tau)).holds());
  EXPECT_FALSE(judge(7 * tau, 7.001 * tau, Target::normwise(tau)).holds());
  EXPECT_TRUE(judge(0x1p-50, 0, Target::dgemm()).holds());  // 14 u = 1.75 * 2^-50
  EXPECT_FALSE(judge(0x1p-49, 0, Target::dgemm()).holds());
}

TEST(Verdict, typicalAllowsTheRootOfTheInnerDimension) {
  // C = 1, M = 1, k terms: an error of r u is allowed exactly if r^2 <= k.
  for (const Index k : {1, 2, 3, 4, 8, 9, 10, 1000}) {
    std::vector<double> a(static_cast<std::size_t>(k), 0), ones(static_cast<std::size_t>(k), 1);
    a[0] = 1;
    const ExactOracle oracle({.a = row_major(a.data(), 1, k, k), .b = row_major(ones.data(), k, 1, 1)});
    for (Index r = 1; r <= 40; ++r) {
      const double below = 1 - static_cast<double>(r) * 0x1p-53;
      EXPECT_EQ(verify(row_major(&below, 1, 1, 1), oracle, Target::dgemm_typical()).holds(), r * r <= k) << k << ' ' << r;
      const float single = 1 - static_cast<float>(r) * 0x1p-24F;
      EXPECT_EQ(verify(row_major(&single, 1, 1, 1), oracle, Target::dgemm_typical()).holds(), r * r <= k) << k << ' ' << r;
    }
  }
}

TEST(Verdict, explainsWhatANormIsRelativeTo) {
  const Scalar x(3);
  EXPECT_TRUE(x.judge(3.0, Target::normwise(1e-3)).of_norms);
  EXPECT_THAT(explain(x.judge(3.0, Target::normwise(1e-3))),
              testing::HasSubstr("  in the Frobenius norm, relative to || |alpha||A||B| + |beta||C0| ||_F, not to ||C||_F\n"));
  EXPECT_FALSE(x.judge(3.0, Target::dgemm()).of_norms);
  EXPECT_THAT(explain(x.judge(3.0, Target::dgemm())), testing::Not(testing::HasSubstr("relative to")));
}

TEST(Verdict, alphaBetaAndC0ArePartsOfM) {
  const double a = 3;
  const double b = 5;
  const double c0 = -7;
  const ExactOracle oracle({.a = row_major(&a, 1, 1, 1),
                            .b = row_major(&b, 1, 1, 1),
                            .alpha = -2,
                            .beta = 4,
                            .c0 = row_major(&c0, 1, 1, 1)});  // c = -58, M = 58
  const double good = -58 + 58 * 0x1p-20;
  const double bad = -58 + 59 * 0x1p-20;
  for (const auto& target : {Target::componentwise(0x1p-20), Target::rowcol(0x1p-20), Target::normwise(0x1p-20)}) {
    EXPECT_TRUE(verify(row_major(&good, 1, 1, 1), oracle, target).holds()) << to_string(target);
    EXPECT_FALSE(verify(row_major(&bad, 1, 1, 1), oracle, target).holds()) << to_string(target);
  }
}

TEST(Verdict, underflowIsAllowedHalfASmallestNumber) {
  const double a[] = {0x1p-1074, 0x1p-1074, 0x1p-1074};
  const double b[] = {0x1p-3, 0x1p-3, 0x1p-2};  // c = eta/2, a tie
  const ExactOracle oracle({.a = row_major(a, 1, 3, 3), .b = row_major(b, 3, 1, 1)});
  const double zero = 0;
  const double one = 0x1p-1074;
  const double two = 0x2p-1074;
  const double three = 0x3p-1074;
  for (const auto& target : {Target::componentwise(0x1p-53), Target::rowcol(0x1p-53), Target::normwise(0x1p-53),
                             Target::relative(0x1p-53), Target::dgemm(), Target::dgemm_typical()}) {
    EXPECT_TRUE(verify(row_major(&zero, 1, 1, 1), oracle, target).holds()) << to_string(target);
    EXPECT_TRUE(verify(row_major(&one, 1, 1, 1), oracle, target).holds()) << to_string(target);
    EXPECT_EQ(verify(row_major(&two, 1, 1, 1), oracle, target).holds(), target == Target::dgemm()) << to_string(target);
    EXPECT_FALSE(verify(row_major(&three, 1, 1, 1), oracle, target).holds()) << to_string(target);
  }
  const float tiny = 0x1p-149F;
  EXPECT_TRUE(verify(row_major(&tiny, 1, 1, 1), oracle, Target::dgemm()).holds());  // 1.5 eta of floats
  EXPECT_FALSE(verify(row_major(&tiny, 1, 1, 1), oracle, Target::componentwise(1)).holds());
}

/// The exact entry is eta/2 + rest, C is 0: of the error, eta/2 is underflow, and the rest is at most tau M or just above, both
/// of them beyond the last bit of eta/2.
TEST(Verdict, underflowIsTakenOffExactly) {
  for (const auto& [factor, holds] :
       {std::pair{0x1p-585, true}, {0x1p-528, true}, {0x1.00000001p-528, false}, {0x1p-520, false}}) {
    const double a[] = {0x1p-500, factor};
    const double b[] = {0x1p-575, 0x1p-600};
    const Operands in{.a = row_major(a, 1, 2, 2), .b = row_major(b, 2, 1, 1)};
    const ExactOracle exact(in);
    const MpfrOracle mpfr(in, MpfrOracle::exact_bits(2));
    const double zero = 0;
    for (const Oracle* const oracle : {static_cast<const Oracle*>(&exact), static_cast<const Oracle*>(&mpfr)}) {
      for (const auto& target :
           {Target::componentwise(0x1p-53), Target::rowcol(0x1p-53), Target::normwise(0x1p-53), Target::relative(0x1p-53)})
        EXPECT_EQ(verify(row_major(&zero, 1, 1, 1), *oracle, target).holds(), holds) << to_string(target) << " " << factor;
      const auto entry = oracle->evaluate(0, 0, 0);
      EXPECT_EQ(entry.error_halves, 1U);
      EXPECT_EQ(entry.error_rest_upper, multiply_upper(Magnitude::of(factor), Magnitude::of(0x1p-600)));
      EXPECT_EQ(error_beyond_upper(entry, 0, ResultFormat::of_double), entry.error_upper);
      EXPECT_EQ(error_beyond_upper(entry, 1, ResultFormat::of_double), entry.error_rest_upper);
      EXPECT_EQ(error_beyond_upper(entry, 2, ResultFormat::of_double), Magnitude{});
      EXPECT_TRUE(error_beyond_upper(oracle->evaluate(0, 0, nan), 2, ResultFormat::of_double).is_infinite());
      EXPECT_FALSE(error_is_within(oracle->evaluate(0, 0, nan), Magnitude::of(1), 1 << 20, ResultFormat::of_double));
      EXPECT_FALSE(error_is_within(oracle->evaluate(0, 0, 0x1p900), Magnitude::of(1), 1 << 20, ResultFormat::of_double));
    }
  }
}

/// Whole eta/2 and the rest add up to the error, whatever its size.
TEST(Verdict, theErrorIsSplitAtMultiplesOfHalfEta) {
  for (const double computed : {0.0, 0x1p-1074, -0x7p-1074, 0x1p-1021, -0x1.8p-1000, 1.0, -inf, 0x1.fffffffffffffp1023}) {
    const double a[] = {0x1p-500, 0x1p-528};
    const double b[] = {-0x1.8p-574, 0x1p-600};
    for (const auto format : {ResultFormat::of_double, ResultFormat::of_float}) {
      const ExactOracle oracle({.a = row_major(a, 1, 2, 2), .b = row_major(b, 2, 1, 1)});
      const auto entry = oracle.evaluate(0, 0, computed, format);
      const auto whole = multiply_upper(Magnitude::of(static_cast<double>(entry.error_halves)),
                                        Magnitude::power_of_two(smallest_exponent(format) - 1));
      EXPECT_LE(entry.error_upper, add_upper(whole, entry.error_rest_upper)) << computed;
      EXPECT_LE(whole, entry.error_upper) << computed;
      EXPECT_LE(entry.error_halves, std::uint64_t{1} << 53);
    }
  }
}

TEST(Verdict, floatsAreJudgedByTheirOwnRoundoff) {
  const Scalar x(1);
  EXPECT_TRUE(x.judge(1 + 0x1p-24, Target::componentwise(0x1p-24)).holds());
  EXPECT_FALSE(x.judge(1 + 0x1p-24, Target::dgemm()).holds());
  const Scalar third(1.0 / 3);
  EXPECT_TRUE(third.judge(1.0F / 3, Target::dgemm()).holds());
  EXPECT_TRUE(third.judge(1.0F / 3, Target::correctly_rounded()).holds());
  EXPECT_FALSE(third.judge(static_cast<double>(1.0F / 3), Target::dgemm()).holds());
  EXPECT_EQ(third.judge(1.0F / 3, Target::dgemm()).format, ResultFormat::of_float);
}

TEST(Verdict, overflowIsAnErrorWithASize) {
  const Scalar largest(std::numeric_limits<double>::max());
  EXPECT_FALSE(largest.judge(inf, Target::correctly_rounded()).holds());
  EXPECT_TRUE(largest.judge(inf, Target::componentwise(0x1p-53)).holds());
  EXPECT_FALSE(largest.judge(inf, Target::componentwise(0x1p-55)).holds());
  EXPECT_EQ(largest.judge(inf, Target::componentwise(0x1p-55)).special_mismatches, 0);
  EXPECT_FALSE(largest.judge(-inf, Target::componentwise(1)).holds());
  const double huge = 0x1p1023;
  const double two = 2;
  const ExactOracle beyond({.a = row_major(&huge, 1, 1, 1), .b = row_major(&two, 1, 1, 1)});
  for (const auto& target : targets(0x1p-53))
    EXPECT_TRUE(verify(row_major(&inf, 1, 1, 1), beyond, target).holds()) << to_string(target);
}

TEST(Verdict, specialsAreJudgedByClass) {
  const double a[] = {inf, 0, 1};  // times [1 0]: inf, NaN; 0, 0; 1, 0
  const double b[] = {1, 0};
  const ExactOracle oracle({.a = row_major(a, 3, 1, 1), .b = row_major(b, 1, 2, 2)});
  const double good[] = {inf, -nan, 0, 0, 1, 0};
  for (const auto& target : targets(0x1p-53)) {
    const auto verdict = verify(row_major(good, 3, 2, 2), oracle, target);
    EXPECT_TRUE(verdict.holds()) << explain(verdict);
  }
  const std::pair<Index, double> spoilt[] = {{0, -inf}, {0, nan}, {0, 1}, {1, inf}, {1, 0}, {2, nan}, {4, nan}};
  for (const auto& [position, value] : spoilt)
    for (const auto& target : targets(0x1p-53)) {
      std::vector<double> bad(good, good + 6);
      bad[static_cast<std::size_t>(position)] = value;
      const auto verdict = verify(row_major(bad.data(), 3, 2, 2), oracle, target);
      EXPECT_FALSE(verdict.holds()) << to_string(target) << ' ' << position << ' ' << value;
      EXPECT_EQ(verdict.special_mismatches, 1) << to_string(target) << ' ' << position << ' ' << value;
      EXPECT_EQ(verdict.ratio, inf);
      EXPECT_EQ(verdict.row * 2 + verdict.col, position) << to_string(target);
    }
}

TEST(Verdict, conventionalProductsMeetTheDgemmTarget) {
  for (const auto family : all_families()) {
    if (family == Family::full_range) continue;  // its sums overflow on the way
    const auto p = generate({family, 12, 12, 40, 1, 2});
    EXPECT_TRUE(verify(conventional_product(p), ExactOracle(p), Target::dgemm()).holds()) << name(family);
  }
}

TEST(Verdict, judgesAgainstABoundForEachEntry) {
  const auto p = generate({.family = Family::uniform, .m = 30, .n = 20, .k = 10, .seed = 3});
  const ExactOracle oracle(p);
  auto c = correctly_rounded(oracle);
  const auto bound = [](Index i, Index j) { return i == 29 ? 0x1p-30 : j == 0 ? inf : 0x1p-50; };
  EXPECT_TRUE(verify(c, oracle, bound).holds());
  c(7, 0) = 1e300;
  c(29, 3) += 0x1p-31;
  const auto good = verify(c, oracle, bound);
  EXPECT_TRUE(good.holds());
  EXPECT_EQ(std::pair(good.row, good.col), std::pair(Index{29}, Index{3}));
  EXPECT_NEAR(good.ratio, 0.5, 1e-5);
  EXPECT_EQ(good.bound, (Magnitude{1, -30}));
  EXPECT_EQ(good.claim, "bound");
  c(8, 1) += 0x1p-40;
  c(9, 1) += 0x1p-39;
  const auto bad = verify(c, oracle, bound);
  EXPECT_FALSE(bad.holds());
  EXPECT_EQ(bad.failures, 2);
  EXPECT_EQ(bad.row, 9);
  const auto zero = verify(c, oracle, [](Index, Index) { return 0.0; });
  EXPECT_EQ(zero.ratio, inf);
  EXPECT_EQ(zero.row, 7);  // equal ratios: the largest error
}

TEST(Verdict, anExactEntryUnderABoundOfZeroHolds) {
  const Scalar x(1);
  const double one = 1;
  const auto verdict = verify(row_major(&one, 1, 1, 1), x.oracle, [](Index, Index) { return 0.0; });
  EXPECT_TRUE(verdict.holds());
  EXPECT_EQ(verdict.ratio, 0);
}

TEST(Verdict, refusesBadBoundsShapesAndSamples) {
  const auto p = generate({.family = Family::uniform, .m = 3, .n = 4, .k = 5});
  const ExactOracle oracle(p);
  const Matrix<double> c(3, 4);
  EXPECT_THROW(verify(c, oracle, [](Index, Index) { return -1.0; }), std::invalid_argument);
  EXPECT_THROW(verify(c, oracle, [](Index i, Index) { return i == 2 ? nan : 1.0; }), std::invalid_argument);
  EXPECT_THROW(verify(Matrix<double>(4, 3), oracle, Target::dgemm()), std::invalid_argument);
  EXPECT_THROW(verify(Matrix<float>(3, 5), oracle, Target::dgemm()), std::invalid_argument);
  EXPECT_THROW(verify(c, oracle, Target::normwise(1), {.selection = EntrySelection::sample(9, 1)}), std::invalid_argument);
}

TEST(Verdict, samplesIncludeTheCorners) {
  const auto p = generate({.family = Family::uniform, .m = 40, .n = 50, .k = 3});
  const ExactOracle oracle(p);
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {0, 49}, {39, 0}, {39, 49}}) {
    auto c = correctly_rounded(oracle);
    c(i, j) += 1;
    const auto verdict = verify(c, oracle, Target::dgemm(), {.selection = EntrySelection::sample(100, 5)});
    EXPECT_EQ(verdict.entries, 100);
    EXPECT_EQ(verdict.failures, 1);
    EXPECT_EQ(std::pair(verdict.row, verdict.col), std::pair(i, j));
  }
}

/// The dgemm target of a scaled product (alpha = 2) is gamma_4, slightly above 4 u; a unit in the last place of C = 2 is 2 u.
TEST(Verdict, theDgemmTargetOfAProductWithScalarsIsGamma) {
  const Matrix<double> one = [] {
    Matrix<double> x(1, 1);
    x(0, 0) = 1;
    return x;
  }();
  const ExactOracle oracle({one.view(), one.view(), 2});
  Matrix<double> c(1, 1);
  c(0, 0) = 2 + 2 * 0x1p-51;
  EXPECT_TRUE(verify(c.view(), oracle, Target::dgemm()).holds());
  c(0, 0) = 2 + 3 * 0x1p-51;
  EXPECT_FALSE(verify(c.view(), oracle, Target::dgemm()).holds());
  EXPECT_FALSE(verify(c.view(), oracle, Target::dgemm_typical()).holds());
  c(0, 0) = 2 + 0x1p-51;
  EXPECT_TRUE(verify(c.view(), oracle, Target::dgemm_typical()).holds()) << "sqrt(4) u";
}

TEST(Verdict, anEmptyProductHolds) {
  const auto p = generate({.family = Family::uniform, .m = 0, .n = 4, .k = 5});
  for (const auto& target : targets(1)) {
    const auto verdict = verify(Matrix<double>(0, 4), ExactOracle(p), target);
    EXPECT_TRUE(verdict.holds());
    EXPECT_EQ(verdict.row, -1);
  }
  const auto no_inner = generate({.family = Family::uniform, .m = 2, .n = 2, .k = 0});
  Matrix<double> c(2, 2);
  for (const auto& target : targets(1)) EXPECT_TRUE(verify(c, ExactOracle(no_inner), target).holds());
  c(1, 1) = 0x1p-1073;
  for (const auto& target : targets(1)) EXPECT_FALSE(verify(c, ExactOracle(no_inner), target).holds());
}

TEST(Verdict, theDgemmTargetLeavesRoomForC0WithoutAnInnerDimension) {
  const double c0 = 3;
  const double beta = 0.1;
  const ExactOracle oracle({.a = MatrixView<const double>(&c0, 1, 0, 1, 1),
                            .b = MatrixView<const double>(&c0, 0, 1, 1, 1),
                            .beta = beta,
                            .c0 = row_major(&c0, 1, 1, 1)});
  const double product = beta * c0;
  EXPECT_GT(verify(row_major(&product, 1, 1, 1), oracle, Target::dgemm()).ratio, 0.1);
  EXPECT_TRUE(verify(row_major(&product, 1, 1, 1), oracle, Target::dgemm()).holds());
}

TEST(Verdict, doesNotDependOnTheNumberOfThreads) {
  const auto p = generate({.family = Family::wide_exponents, .m = 40, .n = 40, .k = 20, .phi = 3});
  const auto c = conventional_product(p);
  const ExactOracle oracle(p);
  const int threads = omp_get_max_threads();
  for (const auto& target : targets(0x1p-53)) {
    omp_set_num_threads(1);
    const auto one = to_json(verify(c, oracle, target));
    omp_set_num_threads(5);
    EXPECT_EQ(to_json(verify(c, oracle, target)), one);
  }
  omp_set_num_threads(threads);
}

TEST(Verdict, aWeakOracleNeverPassesWhatItCannotDecide) {
  const auto p = generate({.family = Family::cancellation, .m = 6, .n = 6, .k = 6, .phi = 1});
  const ExactOracle exact(p);
  const MpfrOracle weak(p, 60);
  const auto c = correctly_rounded(exact);
  const auto verdict = verify(c, weak, Target::correctly_rounded());
  EXPECT_GT(verdict.undecided, 0);
  EXPECT_FALSE(verdict.holds());
  EXPECT_EQ(verdict.failures, verdict.undecided);
  EXPECT_TRUE(verify(c, MpfrOracle(p, 500), Target::correctly_rounded()).holds());
  EXPECT_GE(verify(c, weak, Target::dgemm()).ratio, verify(c, exact, Target::dgemm()).ratio);
}

TEST(Verdict, explainsItself) {
  const auto p = generate({.family = Family::uniform, .m = 3, .n = 4, .k = 5, .seed = 9});
  const ExactOracle oracle(p);
  auto c = correctly_rounded(oracle);
  c(2, 3) = 0x1.8p3;
  const auto verdict = verify(c, oracle, Target::componentwise(1e-14), {.reproduction = generate_command(p.recipe)});
  const auto text = explain(verdict);
  const std::string parts[] = {"componentwise:1e-14 FAILS",
                               "(2, 3)",
                               "0x1.8p+3 (12)",
                               to_string(verdict.error),
                               to_string(verdict.bound),
                               "12 entries judged, 1 failing",
                               "reproduce: ozbound generate uniform --m 3 --n 4 --k 5 --phi 0 --seed 9"};
  for (const auto& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_NE(explain(verify(c, oracle, Target::componentwise(1e9))).find("holds"), std::string::npos);
}

TEST(Verdict, becomesOneJsonObject) {
  const Scalar x(0.1);
  const auto json = to_json(x.judge(0.25, Target::correctly_rounded()));
  EXPECT_EQ(json["claim"], "cr");
  EXPECT_EQ(json["holds"], false);
  EXPECT_EQ(json["format"], "binary64");
  EXPECT_EQ(json["entries"], 1);
  EXPECT_EQ(json["failures"], 1);
  EXPECT_EQ(json["special_mismatches"], 0);
  EXPECT_EQ(json["undecided"], 0);
  EXPECT_EQ(json["row"], 0);
  EXPECT_EQ(json["col"], 0);
  EXPECT_EQ(json["computed"], "0x1p-2");
  EXPECT_EQ(json["exact"], "0x1.999999999999ap-4");
  EXPECT_EQ(json["error"], "0x1.3333333333333p-3");
  EXPECT_EQ(json["bound"], "0x0p+0");
  EXPECT_EQ(json["ratio"], "inf");
  EXPECT_EQ(json["reproduction"], "");
  EXPECT_EQ(to_json(x.judge(0.1, Target::dgemm()))["ratio"], 0.0);
}

}  // namespace
}  // namespace ozbound::verdict_test
