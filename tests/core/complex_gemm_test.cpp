// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/complex_gemm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ozbound/core/real_representation.hpp"
#include "support/gemm_calls.hpp"
#include "support/residue_reference.hpp"
#include "support/stored_complex.hpp"

// Complex products, judged component by component against the definition in exact arithmetic.

namespace ozbound::complex_gemm_test {
namespace {

using test::Exact;
using test::PlanReference;
using test::RandomBits;
using test::StoredComplex;
using test::StoredMatrix;
using Number = std::complex<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double least = 0x1p-1074;
const SplitPlan plain = SplitPlan::balanced(7, 7, 8);

enum class Op { none, transpose, conjugate, adjoint };

ComplexInputView apply(Op op, const ComplexInputView& view) {
  switch (op) {
    case Op::none: return view;
    case Op::transpose: return view.transposed();
    case Op::conjugate: return view.conjugate();
    case Op::adjoint: return view.adjoint();
  }
  return view;
}

bool transposes(Op op) { return op == Op::transpose || op == Op::adjoint; }
bool conjugates(Op op) { return op == Op::conjugate || op == Op::adjoint; }

/// A call that owns everything it refers to.
struct OwnedComplexCall {
  StoredComplex a, b, c, c0;
  Op op_a = Op::none, op_b = Op::none;
  Number alpha = 1, beta = 0;
  bool in_place = false;

  [[nodiscard]] ComplexProduct product() {
    return {apply(op_a, a.input()), apply(op_b, b.input()), c.output(), alpha, beta, in_place ? c.input() : c0.input()};
  }
  [[nodiscard]] Index k() const { return transposes(op_a) ? a.rows() : a.cols(); }

  [[nodiscard]] double a_part(Index i, Index l, Part of) const { return part(a, op_a, i, l, of); }
  [[nodiscard]] double b_part(Index l, Index j, Part of) const { return part(b, op_b, l, j, of); }
  [[nodiscard]] double c0_part(Index i, Index j, Part of) const { return (in_place ? c : c0).value(i, j, of); }

 private:
  static double part(const StoredComplex& matrix, Op op, Index i, Index j, Part of) {
    const double x = transposes(op) ? matrix.value(j, i, of) : matrix.value(i, j, of);
    return conjugates(op) && of == Part::imaginary ? -x : x;
  }
};

/// Rows or columns of every class, with real and imaginary parts drawn separately: one part may be far larger than the other.
void fill(StoredComplex& matrix, Side side, bool near, RandomBits& random) {
  const bool single = matrix.storage().single;
  for (const auto of : both_parts)
    test::sample_operand(matrix.rows(), matrix.cols(), single, side, near, random,
                         [&](Index i, Index j, double x) { matrix.set(i, j, of, x); });
}

Number sample_complex_scalar(RandomBits& random) {
  const double zero = random.once_in(2) ? 0.0 : -0.0;
  switch (random.below(4)) {
    case 0: return {test::sample_scalar(random), zero};
    case 1: return {zero, test::sample_scalar(random)};
    default: return {test::sample_scalar(random), test::sample_scalar(random)};
  }
}

OwnedComplexCall sample_complex_call(Index m, Index n, Index k, bool near, RandomBits& random) {
  constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate, Op::adjoint};
  const auto storage = [&] { return test::sample_storage(random.once_in(3), random); };
  const auto op_a = random.pick(ops), op_b = random.pick(ops);
  const auto stored = [&](Op op, Index rows, Index cols) {
    return transposes(op) ? StoredComplex(cols, rows, storage()) : StoredComplex(rows, cols, storage());
  };
  OwnedComplexCall call{
      stored(op_a, m, k), stored(op_b, k, n), StoredComplex(m, n, storage()), StoredComplex(m, n, storage()), op_a, op_b};
  fill(call.a, transposes(op_a) ? Side::columns_of_b : Side::rows_of_a, near, random);
  fill(call.b, transposes(op_b) ? Side::rows_of_a : Side::columns_of_b, near, random);
  call.alpha = sample_complex_scalar(random);
  if (random.once_in(3)) return call;
  call.beta = sample_complex_scalar(random), call.in_place = random.once_in(2);
  fill(call.in_place ? call.c : call.c0, Side::rows_of_a, near, random);
  return call;
}

/// The factors of every term of a component of C.
std::vector<std::vector<double>> terms_of(const OwnedComplexCall& call, Index i, Index j, Part of) {
  std::vector<std::vector<double>> terms;
  const bool re = of == Part::real;
  const auto product = [&](double alpha, bool real_part) {
    for (Index l = 0; alpha != 0 && l < call.k(); ++l) {
      const double ar = call.a_part(i, l, Part::real), ai = call.a_part(i, l, Part::imaginary);
      const double br = call.b_part(l, j, Part::real), bi = call.b_part(l, j, Part::imaginary);
      terms.push_back({alpha, ar, real_part ? br : bi});
      terms.push_back({real_part ? -alpha : alpha, ai, real_part ? bi : br});
    }
  };
  product(call.alpha.real(), re), product(re ? -call.alpha.imag() : call.alpha.imag(), !re);
  const double beta_r = call.beta.real(), beta_i = call.beta.imag();
  if (beta_r != 0) terms.push_back({beta_r, call.c0_part(i, j, of)});
  if (beta_i != 0) terms.push_back({re ? -beta_i : beta_i, call.c0_part(i, j, re ? Part::imaginary : Part::real)});
  return terms;
}

/// alpha P + beta C0 by component, P given by its parts.
Exact component(const OwnedComplexCall& call, const Exact& p_re, const Exact& p_im, Index i, Index j, Part of) {
  const bool re = of == Part::real;
  const auto times = [&](Number scalar, const Exact& x_re, const Exact& x_im) {
    const Exact s_re(scalar.real()), s_im(scalar.imag());
    return re ? s_re * x_re - s_im * x_im : s_re * x_im + s_im * x_re;
  };
  Exact value = times(call.alpha, p_re, p_im);
  if (call.beta != Number(0))
    value = value + times(call.beta, Exact(call.c0_part(i, j, Part::real)), Exact(call.c0_part(i, j, Part::imaginary)));
  return value;
}

/// Computes the components of P for entry (i, j), in one of several ways.
using ProductOf = std::function<std::array<Exact, 2>(Index i, Index j)>;

/// The bits of every component: [2 (i n + j) + part].
std::vector<std::uint64_t> expected_bits(const OwnedComplexCall& call, const ProductOf& product) {
  std::vector<std::uint64_t> expected;
  const bool single = call.c.storage().single;
  for (Index i = 0; i < call.c.rows(); ++i)
    for (Index j = 0; j < call.c.cols(); ++j)
      for (const auto of : both_parts) {
        const auto special = test::special_bits(terms_of(call, i, j, of), single);
        if (special != 0) {
          expected.push_back(special);
          continue;
        }
        // A finite component may stand beside a part of C0 that is not finite; only parts of C0 with a non-zero factor count.
        auto finite = call;
        for (const auto part : both_parts)
          if (!std::isfinite(call.c0_part(i, j, part))) (finite.in_place ? finite.c : finite.c0).set(i, j, part, 0);
        const auto p = call.alpha == Number(0) || call.k() == 0 ? std::array<Exact, 2>{} : product(i, j);
        expected.push_back(test::rounded_bits(component(finite, p[0], p[1], i, j, of), single));
      }
  return expected;
}

testing::AssertionResult same_bits(const StoredComplex& c, const std::vector<std::uint64_t>& expected) {
  std::size_t t = 0;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      for (const auto of : both_parts)
        if (const auto bits = expected[t++]; c.bits(i, j, of) != bits)
          return testing::AssertionFailure() << (of == Part::real ? "Re" : "Im") << " C(" << i << ", " << j << ") is "
                                             << test::hex(c.bits(i, j, of)) << ", not " << test::hex(bits);
  return testing::AssertionSuccess();
}

std::string describe(const OwnedComplexCall& call) {
  std::ostringstream text;
  text << "m " << call.c.rows() << ", n " << call.c.cols() << ", k " << call.k() << ", op " << static_cast<int>(call.op_a)
       << static_cast<int>(call.op_b) << ", alpha " << call.alpha << ", beta " << call.beta << ", in place " << call.in_place
       << ", column-major C " << call.c.storage().column_major;
  return text.str();
}

/// The real matrices that represent A and B by definition.
std::pair<StoredMatrix, StoredMatrix> real_factors_of(const OwnedComplexCall& call) {
  const Index m = call.c.rows(), n = call.c.cols(), k = call.k();
  StoredMatrix a(2 * m, 2 * k), b(2 * k, n);
  for (Index l = 0; l < k; ++l) {
    for (Index i = 0; i < m; ++i) {
      a.set(2 * i, 2 * l, call.a_part(i, l, Part::real)), a.set(2 * i, 2 * l + 1, -call.a_part(i, l, Part::imaginary));
      a.set(2 * i + 1, 2 * l, call.a_part(i, l, Part::imaginary)), a.set(2 * i + 1, 2 * l + 1, call.a_part(i, l, Part::real));
    }
    for (Index j = 0; j < n; ++j)
      for (const auto of : both_parts) b.set(2 * l + static_cast<Index>(of), j, call.b_part(l, j, of));
  }
  return {std::move(a), std::move(b)};
}

/// P from a plan's rounded integers, for finite operands.
ProductOf planned(const OwnedComplexCall& call, const ResiduePlan& plan) {
  const auto factors = std::make_shared<const std::pair<StoredMatrix, StoredMatrix>>(real_factors_of(call));
  return [factors, plan](Index i, Index j) {
    const auto& [a, b] = *factors;
    std::vector<double> rows[2], column;
    for (Index l = 0; l < b.rows(); ++l) {
      for (const auto of : {0, 1}) rows[of].push_back(double_from_bits(a.input().bits(2 * i + of, l)));
      column.push_back(double_from_bits(b.input().bits(l, j)));
    }
    const residue_reference::ResidueEntry re(rows[0], column, plan), im(rows[1], column, plan);
    return std::array{Exact(re.sum, re.unit), Exact(im.sum, im.unit)};
  };
}

/// P of the plan, from the digits of these matrices.
ProductOf planned(const OwnedComplexCall& call, const SplitPlan& plan) {
  const auto [a, b] = real_factors_of(call);
  const auto reference = std::make_shared<PlanReference>(a.input(), b.input(), plan);
  return [reference](Index i, Index j) { return std::array{reference->sum(2 * i, j), reference->sum(2 * i + 1, j)}; };
}

/// The exact P.
ProductOf exactly(const OwnedComplexCall& call) {
  return [&call](Index i, Index j) {
    std::array<Exact, 2> p;
    for (Index l = 0; l < call.k(); ++l) {
      const Exact ar(call.a_part(i, l, Part::real)), ai(call.a_part(i, l, Part::imaginary));
      const Exact br(call.b_part(l, j, Part::real)), bi(call.b_part(l, j, Part::imaginary));
      p = {p[0] + ar * br - ai * bi, p[1] + ar * bi + ai * br};
    }
    return p;
  };
}

testing::AssertionResult becomes(OwnedComplexCall& call, const std::vector<std::uint64_t>& expected) {
  auto result = same_bits(call.c, expected);
  if (result && !(call.a.intact() && call.b.intact() && call.c.intact() && call.c0.intact()))
    result = testing::AssertionFailure() << "an element outside the matrices was written";
  if (!result) result << "; " << describe(call);
  return result;
}

void strew_specials(StoredComplex& matrix, int odds, RandomBits& random) {
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      for (const auto of : both_parts)
        if (random.once_in(odds)) matrix.set(i, j, of, test::sample_special(random));
}

/// Any transposition, conjugation, storage, scalars and sizes, with NaN and infinities among the elements.
OwnedComplexCall sample_any_call(RandomBits& random) {
  auto call = sample_complex_call(random.below(6), random.below(6), random.below(9), random.once_in(2), random);
  if (!random.once_in(3)) return call;
  strew_specials(call.a, 12, random), strew_specials(call.b, 12, random);
  if (call.beta != Number(0)) strew_specials(call.in_place ? call.c : call.c0, 6, random);
  const double scalars[] = {0, 1, -2, inf, nan};
  if (random.once_in(4)) call.alpha = {random.pick(scalars), random.pick(scalars)};
  if (random.once_in(4) && call.beta != Number(0)) call.beta = {1, random.pick(scalars)};
  return call;
}

RC_GTEST_PROP(ComplexGemmTest, EveryComponentIsTheDefinitions, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 8; ++repetition) {
    auto call = sample_any_call(random);
    const auto plan = test::sample_plan(random);
    const auto expected = expected_bits(call, planned(call, plan));
    multiply_unproven(call.product(), plan, CpuEngine(test::sample_options(random)));
    RC_ASSERT(becomes(call, expected));
  }
}

/// Every component by residues is its definition: C' times alpha's parts plus C0 times beta's parts, rounded once.
RC_GTEST_PROP(ComplexGemmTest, EveryComponentByResiduesIsTheDefinitions, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 8; ++repetition) {
    auto call = sample_any_call(random);
    const int moduli = random.between(5, max_moduli);
    const ResiduePlan plan{moduli, random.between(7, 3 * moduli - 4), random.between(7, 3 * moduli - 4)};
    const auto expected = expected_bits(call, planned(call, plan));
    multiply_unproven(call.product(), plan, CpuEngine(test::sample_options(random)));
    RC_ASSERT(becomes(call, expected));
  }
}

RC_GTEST_PROP(ComplexGemmTest, TheSuperaccumulatorRoundsCorrectly, ()) {
  RandomBits random(*test::gen::seed());
  for (int repetition = 0; repetition < 8; ++repetition) {
    auto call = sample_complex_call(random.below(5), random.below(5), random.below(7), random.once_in(3), random);
    if (random.once_in(4)) strew_specials(call.a, 12, random), strew_specials(call.b, 12, random);
    const auto expected = expected_bits(call, exactly(call));
    multiply_exactly(call.product(), random.between(1, 2));
    RC_ASSERT(becomes(call, expected));
  }
}

/// Under a bound that decides nothing no entry is written, C0 in place is kept, and finishing exactly gives the right result.
RC_GTEST_PROP(ComplexGemmTest, WhatIsLeftOpenIsFinished, ()) {
  RandomBits random(*test::gen::seed());
  auto call = sample_complex_call(random.between(1, 5), random.between(1, 5), random.between(1, 7), true, random);
  const auto expected = expected_bits(call, exactly(call));
  const Index m = call.c.rows(), n = call.c.cols();
  const auto size = [](Index count) { return static_cast<std::size_t>(count); };
  const EntryBound bound{{{"all", {{std::vector<double>(size(2 * m), inf), std::vector<double>(size(n), 1)}}}}};
  const auto before = call;
  const CpuEngine engine({.threads = 1});
  const auto open = multiply_with_complex_scalars(call.product(), test::sample_plan(random), engine, &bound);
  if (call.alpha != Number(0)) RC_ASSERT(open.size() == static_cast<std::size_t>(m * n));
  for (const auto& entry : open)
    for (const auto of : both_parts) RC_ASSERT(call.c.bits(entry.i, entry.j, of) == before.c.bits(entry.i, entry.j, of));
  finish_exactly(call.product(), open, 2);
  RC_ASSERT(becomes(call, expected));
}

/// An entry is open if either component is open: with alpha = i the real part of C has the error of the imaginary part of A B.
TEST(ComplexGemmTest, BothComponentsAreDecidedOrNeitherIsWritten) {
  Matrix<Number> a(1, 1), b(1, 1), c(1, 1);
  a(0, 0) = {3, 5}, b(0, 0) = {7, 11};
  const auto open = [&](Number alpha, double real_error, double imaginary_error) {
    c(0, 0) = {-1, -1};
    const EntryBound bound{{{"of both parts", {{{real_error, imaginary_error}, {1}}}}}};
    const auto left = multiply_with_complex_scalars({a, b, c, alpha}, plain, CpuEngine({.threads = 1}), &bound);
    EXPECT_EQ(left.empty(), c(0, 0) != Number(-1, -1)) << alpha;
    return !left.empty();
  };
  for (const Number alpha : {Number(1, 0), Number(0, 1), Number(1, 1)}) {
    EXPECT_FALSE(open(alpha, 0, 0));
    EXPECT_TRUE(open(alpha, inf, 0)) << alpha;
    EXPECT_TRUE(open(alpha, 0, inf)) << alpha;
    EXPECT_FALSE(open(alpha, 0x1p-80, 0x1p-80)) << alpha << ": integers are far from any midpoint";
    EXPECT_TRUE(open(alpha, 0x1p-3, 0)) << alpha;
    EXPECT_TRUE(open(alpha, 0, 0x1p-3)) << alpha;
  }
}

/// 1x1 products of numbers.
Number product(Number a, Number b, Number alpha = 1, Number beta = 0, Number c0 = 0, const SplitPlan& plan = plain) {
  const auto matrix = [](Number x) {
    Matrix<Number> result(1, 1);
    result(0, 0) = x;
    return result;
  };
  const auto x = matrix(a), y = matrix(b), z = matrix(c0);
  Matrix<Number> c(1, 1);
  multiply_unproven({x, y, c, alpha, beta, z}, plan, CpuEngine({.threads = 1}));
  return c(0, 0);
}

TEST(ComplexGemmTest, NumbersThatAnyoneCanCheck) {
  EXPECT_EQ(product({1, 2}, {3, 4}), Number(-5, 10));
  EXPECT_EQ(product({1, 2}, {3, 4}, {0, 1}), Number(-10, -5));
  EXPECT_EQ(product({1, 2}, {3, 4}, {2, 1}, {1, -1}, {5, 7}), Number(-20 + 12, 15 + 2));
  EXPECT_EQ(product({1, 2}, {3, 4}, 0, {0, 1}, {5, 7}), Number(-7, 5));
  EXPECT_EQ(product({0x1p500, 0x1p-500}, {0x1p500, 0x1p-500}, 1, 0, 0, SplitPlan::balanced(20, 20, 40)), Number(0x1p1000, 0));
}

/// Both parts of a row share a scale: the digits of a far smaller part are zero, and exact multiplication uses this.
TEST(ComplexGemmTest, PartsShareAScale) {
  EXPECT_EQ(product({1, 0x1p-200}, {1, 0}).imag(), 0);
  Matrix<Number> a(1, 1), b(1, 1), c(1, 1);
  a(0, 0) = {1, 0x1p-200}, b(0, 0) = 1;
  multiply_exactly({a, b, c}, 1);
  EXPECT_EQ(c(0, 0), Number(1, 0x1p-200));
}

/// A zero part of a scalar hides the special values that it would multiply: no 0 * Inf.
TEST(ComplexGemmTest, SpecialsByComponent) {
  const auto is_nan = [](double x) { return x != x; };
  const auto infinite = product({inf, 0}, {1, 0});
  EXPECT_EQ(infinite.real(), inf);
  EXPECT_TRUE(is_nan(infinite.imag())) << "Inf * 0";
  const auto both = product({inf, 1}, {2, 3});
  EXPECT_EQ(both.real(), inf);
  EXPECT_EQ(both.imag(), inf);
  EXPECT_TRUE(is_nan(product({inf, inf}, {1, 1}).real()));
  EXPECT_EQ(product({inf, inf}, {1, 1}).imag(), inf);
  const auto c0 = product({1, 1}, {1, 1}, 1, 1, {inf, 4});
  EXPECT_EQ(c0, Number(inf, 6));
  const auto turned = product({1, 1}, {1, 1}, 1, {0, 1}, {inf, 4});
  EXPECT_EQ(turned, Number(-4, inf));
  EXPECT_TRUE(is_nan(product({1, 1}, {1, 1}, {0, inf}).imag())) << "Inf * 0, the real part of the product";
  EXPECT_EQ(product({1, 1}, {1, 1}, {0, inf}).real(), -inf);
  EXPECT_EQ(product({nan, nan}, {nan, 1}, 0, 1, {2, 3}), Number(2, 3));
}

/// A component is rounded once, whatever the exponents of its four terms: a bit far below decides a tie.
TEST(ComplexGemmTest, FarAwayOnTheGrid) {
  const auto fine = SplitPlan::balanced(20, 20, 40);
  // Re = alpha_r 1 - alpha_i 1 + beta_r c0_r: 1 + 2^-53 -+ least, a tie without the last term.
  EXPECT_EQ(product({1, 1}, {1, 0}, {1, -0x1p-53}, 1, {least, 0}, fine).real(), 1 + 0x1p-52);
  EXPECT_EQ(product({1, 1}, {1, 0}, {1, -0x1p-53}, 1, {-least, 0}, fine).real(), 1);
  EXPECT_EQ(product({1, 1}, {1, 0}, {1, -0x1p-53}, 1, {0, 0}, fine).real(), 1);
  EXPECT_EQ(product({1, 1}, {1, 0}, {1, -0x1p-53}, {0, -1}, {0, least}, fine).real(), 1 + 0x1p-52);
  EXPECT_EQ(product({1, 1}, {1, 0}, {1, -0x1p-53}, {0, 1}, {0, -least}, fine).real(), 1 + 0x1p-52);
  // No intermediate overflow occurs, nor one between terms of opposite signs.
  EXPECT_EQ(product({largest, largest}, {largest, -largest}, {least, least}, 0, 0, fine).real(),
            2 * (largest * least) * largest);
  EXPECT_EQ(product({largest, largest}, {1, 0}, {2, 1}, -1, {largest, largest}, fine), Number(0, inf));
  // The last bits of digits times the least scalar, beside the largest numbers.
  EXPECT_EQ(product({least, least}, {least, 0}, {least, least}, {largest, 0}, {2, 0}, fine).real(), inf);
  EXPECT_EQ(product({least, 0}, {least, 0}, {least, -least}, {0.5, 0}, {2, -2}, fine), Number(1, -1));
}

/// Under a plan C depends only on the elements, not on their storage or on whether Ozbound or the caller conjugated them.
TEST(ComplexGemmTest, BitsDoNotDependOnStorageOrWhoConjugates) {
  RandomBits random(7);
  const auto plan = parse_plan("balanced:2x3:cut=4:exact");
  for (int repetition = 0; repetition < 50; ++repetition) {
    auto call = sample_complex_call(5, 4, 6, true, random);
    call.beta = 0, call.alpha = repetition % 2 == 0 ? Number(1) : Number(1, 2);
    OwnedComplexCall plainly{StoredComplex(5, 6), StoredComplex(6, 4), StoredComplex(5, 4), StoredComplex(5, 4)};
    plainly.alpha = call.alpha;
    for (const auto of : both_parts)
      for (Index l = 0; l < 6; ++l) {
        for (Index i = 0; i < 5; ++i) plainly.a.set(i, l, of, call.a_part(i, l, of));
        for (Index j = 0; j < 4; ++j) plainly.b.set(l, j, of, call.b_part(l, j, of));
      }
    if (call.c.storage().single) continue;
    const CpuEngine engine({.threads = 1});
    multiply_unproven(call.product(), plan, engine), multiply_unproven(plainly.product(), plan, engine);
    std::vector<std::uint64_t> bits;
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 4; ++j)
        for (const auto of : both_parts) bits.push_back(plainly.c.bits(i, j, of));
    EXPECT_TRUE(same_bits(call.c, bits)) << describe(call);
  }
}

TEST(ComplexGemmTest, WhatDoesNotFitIsRefused) {
  Matrix<Number> a(3, 2), b(2, 4), c(3, 4);
  const CpuEngine engine({.threads = 1});
  const auto refusal = [&](const ComplexProduct& call, double workspace = unlimited_workspace) -> std::string {
    try {
      multiply_unproven(call, plain, engine, workspace);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({a, a, c}), "b must have a's inner dimension, 2 rows: 3 x 2");
  EXPECT_EQ(refusal({a, b, a}), "c must be 3 x 4: 3 x 2");
  EXPECT_EQ(refusal({a, b, c, 1, {0, 1}, a}), "c0 must be 3 x 4 where beta is not 0: 3 x 2");
  Matrix<Number> square(3, 3), other(3, 3);
  EXPECT_EQ(refusal({square, other, square}), "a must not overlap c");
  EXPECT_EQ(refusal({other, square, square}), "b must not overlap c");
  EXPECT_EQ(refusal({other, other, square, 1, 1, square.view().transposed()}), "c0 must be c or not overlap it");
  auto* const parts = reinterpret_cast<double*>(square.data());
  const MatrixView<Number> shifted(reinterpret_cast<Number*>(parts + 1), 2, 2, 3, 1);
  Matrix<Number> two(2, 2);
  EXPECT_EQ(refusal({shifted, two, square.view().block(0, 0, 2, 2)}), "a must not overlap c") << "half an element apart";
  EXPECT_EQ(refusal({other, other, MatrixView<Number>(square.data(), 3, 3, 1, 1)}),
            "c must not overlap itself: its strides are too small");
  constexpr Index huge = Index{1} << 62;
  const MatrixView<const Number> wide(nullptr, 0, huge, 1, 1), tall(nullptr, huge, 0, 1, 1);
  Matrix<Number> nothing(0, 0);
  EXPECT_EQ(refusal({wide, tall, nothing}), "a must have sizes and strides below 2^62, being complex: 0 x 4611686018427387904");
  for (const std::complex<double> alpha : {std::complex(1.0, 0.0), std::complex(1.0, 1.0)})
    EXPECT_THAT(refusal({a, b, c, alpha}, 1), testing::ContainsRegex("^workspace must be at least [0-9]+ bytes for k = 2$"));
}

/// Blocks of every size give the same bits, down to one entry.
TEST(ComplexGemmTest, BlocksForACap) {
  RandomBits random(3);
  const CpuEngine engine({.threads = 2});
  for (const auto& [alpha, plan] : std::vector<std::pair<Number, Plan>>{{Number(1), plain},
                                                                        {Number(2, -3), plain},
                                                                        {Number(1), ResiduePlan{12, 40, 41}},
                                                                        {Number(2, -3), ResiduePlan{12, 40, 41}}}) {
    auto call = sample_complex_call(9, 7, 40, true, random);
    call.alpha = alpha;
    auto whole = call;
    multiply_unproven(whole.product(), plan, engine);
    std::vector<std::uint64_t> bits;
    for (Index i = 0; i < 9; ++i)
      for (Index j = 0; j < 7; ++j)
        for (const auto of : both_parts) bits.push_back(whole.c.bits(i, j, of));
    const double least_cap =
        whole.product().real_scalars() ? least_workspace(engine, plan, 80) : least_complex_scalar_workspace(engine, plan, 40);
    for (const double factor : {1.0, 1.3, 2.0}) {
      auto again = call;
      multiply_unproven(again.product(), plan, engine, factor * least_cap);
      EXPECT_TRUE(becomes(again, bits)) << factor << ' ' << to_string(plan);
    }
  }
}

/// A radius far beyond the grid of the terms decides nothing, however large it is.
TEST(ComplexGemmTest, AnErrorBeyondTheGridDecidesNothing) {
  Matrix<Number> a(1, 2), b(2, 1), c(1, 1), c0(1, 1);
  a(0, 0) = 0x1p500, a(0, 1) = -0x1p400, b(0, 0) = {0, 0x1p500}, b(1, 0) = 0x1p500;
  const double x = 0x1.fffffffffffffp750;
  c0(0, 0) = {x, x};
  const EntryBound bound{{{"of both parts", {{{0x1p-9, 0x1p-9}, {1}}}}}};
  const CpuEngine engine({.threads = 1});
  const ComplexProduct call{a, b, c, {0x1p1000, 0x1p-390}, {x, -x}, c0};
  const auto open = multiply_with_complex_scalars(call, SplitPlan::balanced(1, 1, 2), engine, &bound);
  EXPECT_EQ(open.size(), 1U);
  finish_exactly(call, open, 1);
  EXPECT_EQ(c(0, 0), Number(-inf, inf));
}

/// A product with alpha = 0 slices nothing and needs no workspace for slices.
TEST(ComplexGemmTest, NothingToSliceNeedsNoWorkspace) {
  Matrix<Number> a(1, 50), b(50, 1), c(1, 1), c0(1, 1);
  c0(0, 0) = {1, 2};
  multiply_unproven({a, b, c, 0, {0, 1}, c0}, plain, CpuEngine({.threads = 1}), 1);
  EXPECT_EQ(c(0, 0), Number(-2, 1));
}

}  // namespace
}  // namespace ozbound::complex_gemm_test
