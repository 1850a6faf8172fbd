// SPDX-License-Identifier: BSD-3-Clause
// The bound of residues against the exact error: never exceeded, attained, and 0 where operands are exact.

#include "ozbound/bounds/residue_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "finer_plan.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "support/gemm_calls.hpp"
#include "support/residue_reference.hpp"

namespace ozbound::residue_bound_test {
namespace {

using residue_reference::column_of;
using residue_reference::Fraction;
using residue_reference::Integer;
using residue_reference::ResidueEntry;
using residue_reference::row_of;
using test::RandomBits;

EntryBound bound_of(const Matrix<double>& a, const Matrix<double>& b, const ResiduePlan& plan) {
  const CpuEngine engine({.threads = 1});
  return residue_error_upper(engine.norms(a, Side::rows_of_a), engine.norms(b, Side::columns_of_b), plan, a.cols());
}

/// Compares |exact - S' 2^unit| with a limit x given relative to 2^scale.
struct Comparison {
  bool within;
  double ratio;  ///< approximate
};
Comparison compare(const ResidueEntry& entry, int scale, double x) {
  auto error = sum(entry.exact, Fraction{-entry.sum, entry.unit});
  error.numerator = abs(error.numerator);
  const auto limit = product(residue_reference::exact_fraction(x), Fraction{1, scale});
  const auto rest = sum(limit, Fraction{-error.numerator, error.exponent});
  const double ratio = residue_reference::rounded({error.numerator, error.exponent - scale}) / x;
  return {rest.numerator >= 0, x == 0 ? 0 : ratio};
}

Matrix<double> sample(RandomBits& random, Index rows, Index cols, int spread) {
  Matrix<double> x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      x(i, j) = std::ldexp(static_cast<double>(random() >> 11) * 0x1p-52 - 1, -random.between(0, spread));
  return x;
}

/// The bound of residues.md, R10, computed from the numbers of R14, is never below the exact error.
TEST(ResidueBound, IsNeverPassed) {
  RandomBits random(1);
  for (int repetition = 0; repetition < 300; ++repetition) {
    const Index m = random.between(1, 5), n = random.between(1, 5), k = random.between(1, 40);
    const int spread = random.between(0, 1) == 0 ? 0 : 50;
    const auto a = sample(random, m, k, spread), b = sample(random, k, n, spread);
    const ResiduePlan plan{20, random.between(1, 70), random.between(1, 70)};
    const auto bound = bound_of(a, b, plan);
    const auto rows = vector_norms(a, Side::rows_of_a, 1), columns = vector_norms(b, Side::columns_of_b, 1);
    const double uniform = residue_a_priori_upper(plan, k);
    EXPECT_EQ(uniform, truncation_a_priori_upper(plan, k));
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        const auto row = row_of(a, i), column = column_of(b, j);
        const ResidueEntry entry(row, column, plan);
        const int scale = residue_reference::scale_of(row) + residue_reference::scale_of(column);
        EXPECT_TRUE(compare(entry, scale, bound.upper(i, j)).within) << to_string(Plan(plan));
        const auto& row_norms = rows[static_cast<std::size_t>(i)];
        const auto& column_norms = columns[static_cast<std::size_t>(j)];
        EXPECT_EQ(residue_entry_error_upper(row_norms, column_norms, plan, k), bound.upper(i, j));
        EXPECT_TRUE(compare(entry, scale, uniform).within) << to_string(Plan(plan));
        EXPECT_LE(bound.upper(i, j), 1.001 * uniform + std::ldexp(static_cast<double>(k), -16));
      }
  }
}

/// The bound is nearly attained if A is half a unit off everywhere, towards the side given by B's signs, and B is exact.
TEST(ResidueBound, IsAttained) {
  for (const int p : {4, 7, 20, 46}) {
    Matrix<double> a(1, 32), b(32, 1);
    for (Index l = 0; l < 32; ++l) {
      a(0, l) = 0.5 + std::ldexp(0.5, -p);  // a' = 2^(p - 1) + 1/2, a tie, to even: down for p > 1
      b(l, 0) = 1;
    }
    const ResiduePlan plan{13, p, 20};
    const ResidueEntry entry(row_of(a, 0), column_of(b, 0), plan);
    const auto [within, ratio] = compare(entry, 1, bound_of(a, b, plan).upper(0, 0));  // B's scale is 2
    EXPECT_TRUE(within);
    EXPECT_GE(ratio, 0.99) << p;
    // The same with the operands exchanged. A's norm is that of the rounded A, which equals A in this case.
    Matrix<double> exact(1, 32), rounded(32, 1);
    for (Index l = 0; l < 32; ++l) exact(0, l) = 1, rounded(l, 0) = a(0, l);
    const ResiduePlan other{13, 20, p};
    const auto of_b = compare({row_of(exact, 0), column_of(rounded, 0), other}, 1, bound_of(exact, rounded, other).upper(0, 0));
    EXPECT_TRUE(of_b.within);
    EXPECT_GE(of_b.ratio, 0.99) << p;
  }
}

/// A finer plan holds every product that the plan before it holds (residues.md, R13): its guard takes sums at least as large.
TEST(ResidueBound, FinerPlansHoldWhatTheFirstHolds) {
  for (int moduli = 2; moduli < max_moduli; ++moduli)
    for (int bits_a = 1; bits_a <= 60; bits_a += 7)
      for (int bits_b = 1; bits_b <= 60; bits_b += 7) {
        const ResiduePlan plan{moduli, bits_a, bits_b};
        const auto next = finer_residues(plan);
        ASSERT_TRUE(next) << to_string(Plan(plan));
        EXPECT_GT(next->moduli, moduli);
        EXPECT_TRUE(next->bits_a >= bits_a && next->bits_b >= bits_b);
        EXPECT_GE(guard_limit(*next), guard_limit(plan)) << to_string(Plan(plan));
      }
  EXPECT_FALSE(finer_residues({max_moduli, 10, 10}));
}

TEST(ResidueBound, IsZeroForExactOperands) {
  Matrix<double> a(3, 8), b(8, 2);
  RandomBits random(3);
  for (Index l = 0; l < 8; ++l) {
    for (Index i = 0; i < 3; ++i) a(i, l) = std::ldexp(random.between(-100, 100), 900 * (static_cast<int>(i) - 1));
    for (Index j = 0; j < 2; ++j) b(l, j) = random.between(-100, 100);
  }
  EXPECT_EQ(bound_of(a, b, {4, 7, 7}).upper(1, 1), 0);
  EXPECT_EQ(bound_of(a, b, {4, 7, 7}).upper(0, 0), 0);
  EXPECT_GT(bound_of(a, b, {4, 6, 7}).upper(1, 1), 0);
  EXPECT_GT(bound_of(a, b, {4, 7, 6}).upper(1, 1), 0);
}

TEST(ResidueBound, LastBitsAreTheLeastMultiple) {
  Matrix<double> a(5, 3);
  a(0, 0) = 6, a(0, 1) = 1.25, a(1, 2) = -0x1p-1074, a(2, 0) = NAN, a(2, 1) = 0x1p1023, a(3, 0) = 0x1.8p0, a(3, 1) = 2;
  const auto last_bits = [&a](Side side) {
    std::vector<std::int32_t> bits;
    for (const auto& vector : vector_norms(a, side, 2)) bits.push_back(vector.last_bit);
    return bits;
  };
  EXPECT_EQ(last_bits(Side::rows_of_a), (std::vector<std::int32_t>{-2, -1074, no_last_bit, -1, no_last_bit}));
  EXPECT_EQ(last_bits(Side::columns_of_b), (std::vector<std::int32_t>{no_last_bit, -2, -1074}));
  a(2, 0) = 0;
  EXPECT_EQ(last_bits(Side::rows_of_a), (std::vector<std::int32_t>{-2, -1074, 1023, -1, no_last_bit}));
  EXPECT_EQ(last_bits(Side::columns_of_b), (std::vector<std::int32_t>{-1, -2, -1074}));
}

/// Decisions by a plan of residues give certificates that hold, also under the rounding of cr. More moduli follow for entries
/// that the first leave open.
TEST(ResidueCertificates, HoldForEveryKindOfTarget) {
  RandomBits random(5);
  const auto a = sample(random, 20, 60, 3), b = sample(random, 60, 30, 3);
  const CpuEngine engine({.threads = 2});
  const auto decided = [&](const Target& target, Method method, const ResiduePlan& plan) {
    return Decision{target, method, plan, 20, 30, 60, 0, 0, {}, {}};
  };
  Matrix<double> exact(20, 30), c(20, 30);
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 30; ++j)
      exact(i, j) = residue_reference::rounded(ResidueEntry(row_of(a, i), column_of(b, j), {2, 1, 1}).exact);
  const auto dgemm = multiply({a, b, c}, decided(Target::dgemm(), Method::one_plan, {15, 52, 52}), engine);
  EXPECT_TRUE(dgemm.holds) << dgemm.ratio;
  EXPECT_EQ(dgemm.plans.front(), Plan(ResiduePlan{15, 52, 52}));
  const auto coarse = multiply({a, b, c}, decided(Target::dgemm(), Method::one_plan, {4, 12, 12}), engine);
  EXPECT_FALSE(coarse.holds);
  const auto cr = multiply({a, b, c}, decided(Target::correctly_rounded(), Method::correctly_rounded, {6, 18, 18}), engine);
  EXPECT_TRUE(cr.holds);
  EXPECT_GT(cr.plans.size(), 1u);
  for (std::size_t t = 1; t < cr.plans.size(); ++t) EXPECT_GT(cr.plans[t].products(), cr.plans[t - 1].products());
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 30; ++j) EXPECT_EQ(c(i, j), exact(i, j));
  EXPECT_TRUE(multiply({a, b, c}, decided(Target::relative(1e-10), Method::one_plan, {8, 25, 25}), engine).holds);
}

TEST(ResidueCertificates, ARefusedPlanWritesNothing) {
  Matrix<double> a(1, 100), b(100, 1), c(1, 1);
  for (Index l = 0; l < 100; ++l) a(0, l) = b(l, 0) = 1;
  c(0, 0) = 42;
  const Decision decision{Target::dgemm(), Method::one_plan, ResiduePlan{4, 46, 47}, 1, 1, 100, 0, 0, {}, {}};
  EXPECT_THROW(multiply({a, b, c}, decision, CpuEngine()), std::invalid_argument);
  EXPECT_EQ(c(0, 0), 42);
}

}  // namespace
}  // namespace ozbound::residue_bound_test
