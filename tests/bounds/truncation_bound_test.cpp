// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/truncation_bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bounds/hostile_environment.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/problem.hpp"
#include "ozbound/verify/property.hpp"
#include "support/exact.hpp"
#include "support/generators.hpp"

namespace ozbound::truncation_bound_test {
namespace {

using test::cpp_int;
using test::Exact;

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

/// A row of A and a column of B under a plan: slice products by their definition, and the library's bounds for them.
class Pair {
 public:
  Pair(InputView a, InputView b, const SplitPlan& plan)
      : a_(a),
        b_(b),
        plan_(plan),
        row_(engine().slice(a, Side::rows_of_a, plan.a)),
        column_(engine().slice(b, Side::columns_of_b, plan.b)),
        rows_(engine().measure(a, Side::rows_of_a, plan.a)),
        columns_(engine().measure(b, Side::columns_of_b, plan.b)) {}

  [[nodiscard]] Index k() const { return a_.cols(); }

  /// The exponent of rho_i sigma_j.
  [[nodiscard]] int scale(Index i, Index j) const { return row_.exponent(i) + column_.exponent(j); }

  [[nodiscard]] Exact product(Index i, Index j) const {
    Exact sum;
    for (Index l = 0; l < k(); ++l) sum = sum + element(a_, i, l) * element(b_, l, j);
    return sum;
  }

  /// The product of two slices, relative to rho_i sigma_j.
  [[nodiscard]] Exact slice_product(Index i, Index j, int p, int q) const {
    std::int64_t sum = 0;
    for (Index l = 0; l < k(); ++l) sum += std::int64_t{row_.digit(i, p, l)} * column_.digit(j, q, l);
    return {cpp_int(sum), row_.weight_exponent(i, p) + column_.weight_exponent(j, q)};
  }

  /// The terms in accumulation order: slice products, or diagonals of them.
  [[nodiscard]] std::vector<Exact> terms(Index i, Index j) const {
    std::vector<Exact> all;
    if (plan_.accumulation == Accumulation::per_product) {
      for (int p = 1; p <= plan_.a.slices; ++p)
        for (int q = 1; q <= plan_.b.slices; ++q)
          if (p + q <= plan_.cut) all.push_back(slice_product(i, j, p, q));
      return all;
    }
    for (int g = 2; g <= plan_.cut; ++g) {
      Exact diagonal;
      for (int p = 1; p <= plan_.a.slices; ++p)
        if (g - p >= 1 && g - p <= plan_.b.slices) diagonal = diagonal + slice_product(i, j, p, g - p);
      all.push_back(diagonal);
    }
    return all;
  }

  /// The exact sum S, relative to rho_i sigma_j.
  [[nodiscard]] Exact sum(Index i, Index j) const {
    Exact total;
    for (const auto& term : terms(i, j)) total = total + term;
    return total;
  }

  /// The result of the published order of additions; S itself for `exact`.
  [[nodiscard]] Exact accumulated(Index i, Index j) const {
    if (plan_.accumulation == Accumulation::exact) return sum(i, j);
    Exact total;
    for (const auto& term : terms(i, j)) total = Exact(test::rounded<double>(total + term));
    return total;
  }

  /// |AB - x| relative to rho_i sigma_j.
  [[nodiscard]] Exact error(Index i, Index j, const Exact& x) const {
    return (product(i, j).times_power_of_two(-scale(i, j)) - x).magnitude();
  }

  [[nodiscard]] const std::vector<VectorFacts>& rows() const { return rows_.vectors; }
  [[nodiscard]] const std::vector<VectorFacts>& columns() const { return columns_.vectors; }

 private:
  static Exact element(InputView x, Index i, Index j) { return Exact(double_from_bits(x.bits(i, j))); }

  InputView a_, b_;
  SplitPlan plan_;
  SlicedMatrix row_, column_;
  SliceFacts rows_, columns_;
};

MatrixView<const double> row_view(const std::vector<double>& x) { return row_major(x.data(), 1, std::ssize(x), std::ssize(x)); }
MatrixView<const double> column_view(const std::vector<double>& x) { return row_view(x).transposed(); }

bool exceeds(const Exact& error, double bound) {
  return bound < std::numeric_limits<double>::infinity() && Exact(bound) < error;
}

/// The ratio error / bound, to 60 bits.
double ratio(const Exact& error, const Exact& bound) {
  if (error.is_zero()) return 0;
  const int unit = std::min(error.exponent, bound.exponent);
  return static_cast<double>(cpp_int((error.in_units_of(unit) << 60) / bound.in_units_of(unit))) * 0x1p-60;
}

/// Checks the property bounds-hold for every bound of the header.
testing::AssertionResult bounds_hold(const Problem& problem, const SplitPlan& plan) {
  GemmCase one;
  one.a.values = problem.a, one.b.values = problem.b, one.c0.values = Matrix<double>(problem.a.rows(), problem.b.cols());
  one.plan = plan;
  const auto wrong = judge(find_property("bounds-hold"), one, engine());
  return wrong ? testing::AssertionFailure() << *wrong : testing::AssertionSuccess();
}

TEST(TruncationBound, HoldsForEveryFamily) {
  test::RandomBits random(7);
  for (const double phi : {0.0, 1.0, 4.0})
    for (const auto family : all_families())
      for (int t = 0; t < 4; ++t) {
        const auto problem = generate({family, 3, 4, random.between(1, 12), phi, random()});
        ASSERT_TRUE(bounds_hold(problem, test::sample_plan(random))) << generate_command(problem.recipe);
      }
}

/// a_p of docs/derivations/general_bound.md.
Exact slice_magnitude(const Encoding& encoding, int p) {
  const auto top = test::power_of_two_exact(-encoding.radix_bits() * (p - 1));
  const auto next = top.times_power_of_two(-encoding.radix_bits());
  switch (encoding.kind) {
    case Encoding::Kind::truncated: return top - next;
    case Encoding::Kind::ozimmu: return (p == 1 ? top : top.times_power_of_two(1)) - next.times_power_of_two(1);
    case Encoding::Kind::unsigned8: return p == 1 ? top : (top - next).times_power_of_two(1);
    case Encoding::Kind::nearest:
    case Encoding::Kind::nearest_adaptive:
    case Encoding::Kind::balanced: break;
  }
  return top;
}

/// 255 t_p of docs/derivations/general_bound.md.
Exact tail_magnitude_255(const Slicing& slicing, int p) {
  const auto power = [&](int q) { return test::power_of_two_exact(-slicing.encoding.radix_bits() * q); };
  const auto kind = slicing.encoding.kind;
  if (p > 0 && kind == Encoding::Kind::balanced)
    return Exact(256.0) * (power(p) - power(slicing.slices)) + Exact(255.0) * power(slicing.slices);
  const bool doubled = kind == Encoding::Kind::ozimmu || kind == Encoding::Kind::unsigned8;
  return Exact(p > 0 && doubled ? 510.0 : 255.0) * power(p);
}

/// The a-priori bound is k [sum_p a_p t_c(p) + t_sA] rounded up. No double attains the factor 256/255, so only the formula
/// shows that it is included. Each of the at most 7 s_A + 6 operations is within two steps, 2^-51 relative, of the exact one.
TEST(TruncationBound, APrioriIsItsFormulaRoundedUp) {
  const Index k = 1000;
  for (const auto& encoding : common_ratio_encodings())
    for (int a = 1; a <= max_slices; a += 3)
      for (int b = 1; b <= max_slices; b += 4)
        for (int cut = 2; cut <= a + b; ++cut) {
          const SplitPlan plan{{encoding, a}, {encoding, b}, cut, Accumulation::exact};
          Exact sum = tail_magnitude_255(plan.a, a);
          for (int p = 1; p <= a; ++p)
            sum = sum + slice_magnitude(encoding, p) * tail_magnitude_255(plan.b, std::clamp(cut - p, 0, b));
          const auto exact = Exact(static_cast<double>(k)) * sum;
          const auto bound = Exact(255.0) * Exact(truncation_a_priori_upper(plan, k));
          const auto slack = Exact(7.0 * a + 6).times_power_of_two(-51);
          ASSERT_GE(bound, exact) << to_string(plan);
          ASSERT_LE(bound, exact + slack * exact) << to_string(plan);
        }
}

/// A significand x in [1, 2) whose random bits were flipped as long as that brought the plan's error nearer to its bound.
double attained(const SplitPlan& plan) {
  test::RandomBits random(9);
  const double radix = std::ldexp(1.0, plan.a.encoding.radix_bits());
  const auto evaluate = [&](const std::pair<double, double>& x) {
    const std::vector<double> a{x.first};
    const std::vector<double> b{x.second};
    const Pair pair(row_view(a), column_view(b), plan);
    return ratio(pair.error(0, 0, pair.sum(0, 0)), Exact(truncation_a_priori_upper(plan, 1)));
  };
  const auto flip = [&](double x) { return double_from_bits(bits_of(x) ^ std::uint64_t{1} << random.below(52)); };
  double best = 0;
  // All digits largest; tails of half a unit, with equal and with alternating signs; a first digit as large as the scale
  // allows.
  const double starts[] = {0x1.fffffffffffffp0, 2 - 2 / (radix - 1), 2 / (1 + 1 / radix),
                           2 - 2 / radix,       0x1.fcfdfdfdfdfdfp0, 0x1.fcfefdfefdfefp0};
  for (const double start : starts) {
    std::pair<double, double> x{start, start};
    double reached = evaluate(x);
    for (int t = 0; t < 250 && best < 0.9; ++t) {
      auto next = x;
      if (!random.once_in(3)) next.first = flip(next.first);
      if (!random.once_in(3)) next.second = flip(next.second);
      const double value = evaluate(next);
      if (value >= reached) reached = value, x = next;
    }
    best = std::max(best, reached);
  }
  return best;
}

/// docs/derivations/general_bound.md (G2a): adversarial rows attain at least half of the a-priori bound, for every encoding and
/// product set.
TEST(TruncationBound, APrioriIsAttainedToAHalf) {
  for (const auto& encoding : common_ratio_encodings())
    for (const int s : {1, 2, 3, 5, 6})
      for (const auto& [b_slices, cut] : {std::pair{s, s + 1}, {s, 2 * s}, {s + 1, s + 2}, {s, std::max(2, s)}}) {
        if (encoding.beta * b_slices > 48) continue;  // a double holds no more digits
        const SplitPlan plan{{encoding, s}, {encoding, b_slices}, cut, Accumulation::exact};
        const double reached = attained(plan);
        EXPECT_LE(reached, 1) << to_string(plan);
        EXPECT_GE(reached, 0.5) << to_string(plan);
      }
}

TEST(TruncationBound, HasTheSameBitsInAnyEnvironment) {
  for (int t = 0; t < 300; ++t) {
    test::RandomBits random(static_cast<std::uint64_t>(t));
    const auto plan = test::sample_plan(random);
    const auto a = test::sample_row(test::RowClass::spread, 4, random);
    const auto b = test::sample_row(test::RowClass::spread, 4, random);
    const Pair pair(row_view(a.values), column_view(b.values), plan);
    const auto bits = [&] {
      const auto total = plan_error_upper(pair.rows(), pair.columns(), plan, 1000);
      std::vector<std::uint64_t> all{bits_of(truncation_a_priori_upper(plan, 1000)), bits_of(total.uniform)};
      for (const auto& bound :
           {total, truncation_a_posteriori_upper(pair.rows(), pair.columns(), plan),
            accumulation_upper(pair.rows(), pair.columns(), plan, 1000), summation_upper(pair.rows(), pair.columns(), 1.1)})
        for (const auto& term : bound.terms)
          for (const auto& outer : term.alternatives)
            all.insert(all.end(), {bits_of(outer.rows[0]), bits_of(outer.columns[0])});
      return all;
    };
    const auto expected = bits();
    const test::HostileEnvironment hostile;
    ASSERT_EQ(bits(), expected) << to_string(plan);
  }
}

/// The bound holds and is attained for any k: rows without a stride can have any length.
TEST(TruncationBound, HoldsAndIsAttainedForALongInnerDimension) {
  const Index k = Index{1} << 20;
  const std::pair<Encoding, double> worst[] = {{Encoding::balanced(), 0x1.fa01fffffffffp0},
                                               {Encoding::truncated(7), 0x1.fffffffffffffp0},
                                               {Encoding::truncated(1), 0x1.fffffffffffffp0},
                                               {Encoding::nearest(7), 0x1.fc08p0}};
  for (const auto& [encoding, x] : worst) {
    const SplitPlan plan{{encoding, 2}, {encoding, 2}, 3, Accumulation::exact};
    const Pair one(row_major(&x, 1, 1, 1), row_major(&x, 1, 1, 1), plan);
    const auto error = one.error(0, 0, one.sum(0, 0)) * Exact(static_cast<double>(k));
    const MatrixView<const double> row(&x, 1, k, 0, 0);
    const auto rows = engine().measure(row, Side::rows_of_a, plan.a).vectors;
    const auto columns = engine().measure(row.transposed(), Side::columns_of_b, plan.b).vectors;
    EXPECT_FALSE(exceeds(error, truncation_a_priori_upper(plan, k)));
    EXPECT_FALSE(exceeds(error, truncation_a_posteriori_upper(rows, columns, plan).upper(0, 0)));
    EXPECT_GE(ratio(error, Exact(truncation_a_priori_upper(plan, k))), 0.9) << to_string(plan);
    EXPECT_GE(ratio(error, Exact(truncation_a_posteriori_upper(rows, columns, plan).upper(0, 0))), 0.5) << to_string(plan);
    EXPECT_EQ(entry_error_upper(rows[0], columns[0], plan, k), plan_error_upper(rows, columns, plan, k).upper(0, 0));
  }
}

/// If the sum of squares exceeds 64 bits, the other two norms replace the 2-norm: it never wraps to a smaller number.
TEST(TruncationBound, ASaturatedNormIsLeftOut) {
  VectorFacts facts;
  facts.slices.resize(1), facts.tails.resize(1);
  facts.vector = {std::uint64_t{1} << 56, std::numeric_limits<std::uint64_t>::max(), 1u << 16};
  facts.slices[0] = {std::uint64_t{1} << 48, std::numeric_limits<std::uint64_t>::max(), 1u << 7};
  facts.tails[0] = facts.vector;
  const std::vector<VectorFacts> one{facts};
  const SplitPlan plan = SplitPlan::balanced(1, 1, 2);
  const double bound = truncation_a_posteriori_upper(one, one, plan).upper(0, 0);
  // ||x||_1 ||y||_inf = 2^(56 - 16 - 7) for A's residual and B, and (2^40 + 2^33) 2^-7 for A's slice and B's residual.
  EXPECT_GE(bound, 0x1p34);
  EXPECT_LE(bound, 0x1.02p34);
}

TEST(TruncationBound, VanishesWithTheResiduals) {
  test::RandomBits random(10);
  for (const auto& encoding : common_ratio_encodings())
    for (int s = encoding == Encoding::ozimmu(1) ? 2 : 1; s <= 6; ++s) {  // the first digit of ozimmu(1) has no bits
      // A and B are multiples of the last digit's weight: no residual is left, whatever is multiplied in full.
      const SplitPlan full{{encoding, s}, {encoding, s}, 2 * s, Accumulation::exact};
      const int bits = std::min(52, encoding.beta * s - 2);
      const auto element = [&] { return bits <= 0 ? 1.0 : static_cast<double>(random() >> (64 - bits)); };
      const std::vector<double> a{std::ldexp(1.0, std::max(bits, 0)), element(), -element()};
      const std::vector<double> b{std::ldexp(1.0, std::max(bits, 0)), -element(), element()};
      const Pair pair(row_view(a), column_view(b), full);
      EXPECT_TRUE(pair.error(0, 0, pair.sum(0, 0)).is_zero()) << to_string(full);
      EXPECT_EQ(truncation_a_posteriori_upper(pair.rows(), pair.columns(), full).upper(0, 0), 0) << to_string(full);
      EXPECT_EQ(plan_error_upper(pair.rows(), pair.columns(), full, 3).upper(0, 0), 0) << to_string(full);
    }
}

TEST(TruncationBound, SeesAnExactOperandInFewSlices) {
  // A holds integers of one digit: it has one slice, and only B's residual counts.
  const std::vector<double> a{5, -7, 15};
  const std::vector<double> exact_b{0.25, 3, -2};
  const std::vector<double> b{1.0 / 3, 3, -2};
  const auto plan = SplitPlan::balanced(1, 3, 4);
  const Pair exact(row_view(a), column_view(exact_b), plan);
  EXPECT_EQ(plan_error_upper(exact.rows(), exact.columns(), plan, 3).upper(0, 0), 0);
  const Pair rest(row_view(a), column_view(b), plan);
  const double bound = plan_error_upper(rest.rows(), rest.columns(), plan, 3).upper(0, 0);
  EXPECT_GT(bound, 0);
  EXPECT_LT(bound, 0.5 * truncation_a_priori_upper(plan, 3));
}

TEST(TruncationBound, ZeroVectorsHaveNoError) {
  const std::vector<double> zeros{0.0, -0.0};
  const std::vector<double> b{1.0 / 3, 3};
  for (const auto& plan : {SplitPlan::balanced(1, 1, 2), SplitPlan::balanced(3, 4, 2), SplitPlan::balanced(20, 20, 21)}) {
    const Pair pair(row_view(zeros), column_view(b), plan);
    EXPECT_EQ(plan_error_upper(pair.rows(), pair.columns(), plan, 2).upper(0, 0), 0);
  }
  EXPECT_EQ(truncation_a_priori_upper(SplitPlan::balanced(1, 1, 2), 0), 0);
}

/// More slices or a later cut never loosen the a-priori bound.
TEST(TruncationBound, APrioriFallsWithMoreProducts) {
  for (const auto& encoding : common_ratio_encodings())
    for (int a = 1; a < 8; ++a)
      for (int b = 1; b < 8; ++b)
        for (int cut = 2; cut <= a + b; ++cut) {
          const auto bound = [&](int s, int t, int g) {
            return truncation_a_priori_upper(SplitPlan{{encoding, s}, {encoding, t}, g, Accumulation::exact}, 100);
          };
          if (cut < a + b) {
            EXPECT_LE(bound(a, b, cut + 1), bound(a, b, cut));
          }
          EXPECT_LE(bound(a + 1, b, cut + 1), bound(a, b, cut) * (1 + 0x1p-40));
        }
}

/// The fewest products for E <= target if |A||B| >= k g f 2^-K and rho = 2 ufp: E / k <= target 2^-K / 4 relative to rho sigma;
/// docs/derivations/targets.md (T11).
int fewest_products(const Encoding& encoding, double target) {
  int fewest = 1 << 20;
  for (int a = 1; a <= 14; ++a)
    for (int b = 1; b <= 14; ++b)
      for (int cut = 2; cut <= a + b; ++cut) {
        const SplitPlan plan{{encoding, a}, {encoding, b}, cut, Accumulation::exact};
        if (truncation_a_priori_upper(plan, 1) <= target / 4) fewest = std::min(fewest, plan.products());
      }
  return fewest;
}

TEST(TruncationBound, GivesTheTableOfFewestProducts) {
  constexpr double u = 0x1p-53;
  const auto balanced = Encoding::balanced();
  const auto truncated = Encoding::truncated(7);
  EXPECT_EQ(fewest_products(balanced, 1024 * u), 21);
  EXPECT_EQ(fewest_products(balanced, 64 * u), 28);
  EXPECT_EQ(fewest_products(balanced, u), 35);
  EXPECT_EQ(fewest_products(balanced, u * 0x1p-10), 45);
  EXPECT_EQ(fewest_products(balanced, u * 0x1p-20), 55);
  EXPECT_EQ(fewest_products(truncated, 1024 * u), 28);
  EXPECT_EQ(fewest_products(truncated, 64 * u), 36);
  EXPECT_EQ(fewest_products(truncated, u), 44);
  EXPECT_EQ(fewest_products(truncated, u * 0x1p-10), 55);
  EXPECT_EQ(fewest_products(truncated, u * 0x1p-20), 76);
}

/// docs/adr/0012 compares forms of complex products under these plans. 36 products of 7-bit digits have the bound of 28 of
/// 8-bit ones except for one diagonal more. 45 of 6-bit digits have five times that bound, so 55 take their place.
TEST(TruncationBound, OfThePlansOfThreeProducts) {
  const auto units = [](const char* plan) { return truncation_a_priori_upper(parse_plan(plan), 1) * 0x1p56; };
  EXPECT_NEAR(units("balanced:7x7:cut=8:exact"), 8, 0.06);  // 256/255, and the residual of seven slices
  EXPECT_NEAR(units("nearest7:8x8:cut=9:exact"), 9, 1e-9);
  EXPECT_NEAR(units("nearest6:9x9:cut=10:exact"), 40, 1e-9);
  EXPECT_NEAR(units("nearest6:10x10:cut=11:exact"), 11.0 / 16, 1e-9);
}

/// On random data the norms ignore cancellation. With t terms of like size, bound and error are about t k r and sqrt(t k) r, so
/// their ratio is about sqrt(t k). Signs that are not random (truncated digits have the sign of their number) give less. The
/// factor 3/2 allows for terms of unlike size and for the distribution of the digits.
TEST(TruncationBound, SlackOnRandomDataIsAboutTheSquareRootOfTheTerms) {
  const Index k = 1024;
  const auto problem = generate({Family::uniform, 4, 4, k, 0, 3});
  for (const auto& encoding : {Encoding::balanced(), Encoding::truncated(7), Encoding::nearest(7), Encoding::nearest(4)})
    for (const int s : {2, 4, 6}) {
      const SplitPlan plan{{encoding, s}, {encoding, s}, s + 1, Accumulation::exact};
      const Pair pair(problem.a, problem.b, plan);
      const auto bound = plan_error_upper(pair.rows(), pair.columns(), plan, k);
      double squares = 0;
      double largest_bound = 0;
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 4; ++j) {
          const double error = ratio(pair.error(i, j, pair.sum(i, j)), Exact(bound.upper(i, j))) * bound.upper(i, j);
          squares += error * error;
          largest_bound = std::max(largest_bound, bound.upper(i, j));
        }
      const double slack = largest_bound / std::sqrt(squares / 16);
      const double terms = s + 1;
      RecordProperty(to_string(plan), std::to_string(slack / std::sqrt(double(k))));
      EXPECT_LE(slack, 1.5 * std::sqrt(terms * static_cast<double>(k))) << to_string(plan);
      EXPECT_GE(slack, 1) << to_string(plan);
    }
}

}  // namespace
}  // namespace ozbound::truncation_bound_test
