// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "properties/case_product.hpp"
#include "properties/properties.hpp"
#include "properties/sliced_pair.hpp"

// Changes of a problem that must change C in a known way, bit by bit.

namespace ozbound::properties {
namespace {

using sampling::RandomBits;

// Order and place.

Finding judge_permutation(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  auto permuted = gemm_case;
  RandomBits random(gemm_case.seed);
  auto& a = permuted.a.values;
  auto& b = permuted.b.values;
  for (Index l = a.cols() - 1; l > 0; --l) {
    const Index other = random.below(static_cast<int>(l + 1));
    for (Index i = 0; i < a.rows(); ++i) std::swap(a(i, l), a(i, other));
    for (Index j = 0; j < b.cols(); ++j) std::swap(b(l, j), b(other, j));
  }
  return differing(multiplied(permuted, engine), multiplied(gemm_case, engine), "before the permutation it is");
}

CaseMatrix transposed(const CaseMatrix& matrix) {
  CaseMatrix result{Matrix<double>(matrix.values.cols(), matrix.values.rows()), matrix.storage};
  for (Index i = 0; i < matrix.values.rows(); ++i)
    for (Index j = 0; j < matrix.values.cols(); ++j) result.values(j, i) = matrix.values(i, j);
  return result;
}

Finding judge_transposition(const GemmCase& any, const Engine& engine) {
  auto gemm_case = finite(any);
  auto plan = gemm_case.plan.split();
  if (!plan.common_ratio()) return {};  // no order of summation is symmetric
  if (plan.accumulation == Accumulation::per_product) plan.accumulation = Accumulation::per_diagonal;
  const auto groups = groups_by_definition(plan, gemm_case.k());
  if (groups.size() > static_cast<std::size_t>(plan.cut - 1)) plan.accumulation = Accumulation::exact;  // not symmetric either
  gemm_case.plan = plan;
  auto other = gemm_case;
  other.a = transposed(gemm_case.b), other.b = transposed(gemm_case.a), other.c0 = transposed(gemm_case.c0);
  other.plan = SplitPlan{plan.b, plan.a, plan.cut, plan.accumulation};
  const auto c = values_of(multiplied(gemm_case, engine));
  const auto expected = transposed({c, gemm_case.c});
  return differing(multiplied(other, engine), stored_values(expected.values, gemm_case.c), "of B^T A^T; of A B it is");
}

Finding judge_blocks(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  RandomBits random(gemm_case.seed);
  const Index m = gemm_case.m(), n = gemm_case.n(), k = gemm_case.k();
  const Index row = random.below(static_cast<int>(m) + 1), column = random.below(static_cast<int>(n) + 1);
  CaseMemory memory(gemm_case);
  const auto all = memory.product();
  for (const auto& [i, rows] : {std::pair<Index, Index>{0, row}, {row, m - row}})
    for (const auto& [j, cols] : {std::pair<Index, Index>{0, column}, {column, n - column}})
      multiply_unproven({all.a.block(i, 0, rows, k), all.b.block(0, j, k, cols), all.c.block(i, j, rows, cols), all.alpha,
                         all.beta, all.c0.block(i, j, rows, cols)},
                        gemm_case.plan, engine);
  return differing(memory.c, multiplied(gemm_case, engine),
                   fmt::format("cut at row {} and column {}; in one piece it is", row, column));
}

/// Inserts zeros at inner index `place`.
void widen(GemmCase& gemm_case, Index place, Index zeros) {
  const auto& a = gemm_case.a.values;
  const auto& b = gemm_case.b.values;
  Matrix<double> wider(a.rows(), a.cols() + zeros), taller(b.rows() + zeros, b.cols());
  for (Index l = 0; l < a.cols(); ++l) {
    const Index to = l < place ? l : l + zeros;
    for (Index i = 0; i < a.rows(); ++i) wider(i, to) = a(i, l);
    for (Index j = 0; j < b.cols(); ++j) taller(to, j) = b(l, j);
  }
  gemm_case.a.values = std::move(wider);
  gemm_case.b.values = std::move(taller);
}

Finding judge_inner_zeros(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  auto widened = gemm_case;
  RandomBits random(gemm_case.seed);
  const Index place = random.below(static_cast<int>(gemm_case.a.values.cols()) + 1);
  widen(widened, place, random.between(1, 5));
  return differing(multiplied(widened, engine), multiplied(gemm_case, engine), "without zeros it is");
}

// Powers of two.

/// The exponents e for which x 2^e is representable in the element type for every x seen.
struct ExponentRange {
  int least = -2000, largest = 2000;

  void add(double x, bool single) {
    const auto value = to_dyadic(x);
    if (value.magnitude == 0) return;
    const int last = value.exponent + __builtin_ctzll(value.magnitude);
    least = std::max(least, (single ? -149 : -1074) - last);
    largest = std::min(largest, (single ? 127 : 1023) - value.top_exponent());
  }

  [[nodiscard]] ExponentRange negated() const { return {-largest, -least}; }
  [[nodiscard]] ExponentRange with(const ExponentRange& other) const {
    return {std::max(least, other.least), std::min(largest, other.largest)};
  }
  [[nodiscard]] int draw(RandomBits& random) const { return random.between(least, largest); }
};

/// Row (or column) i of a matrix.
class Line {
 public:
  Line(CaseMatrix& matrix, bool row, Index i) : matrix_(matrix), row_(row), i_(i) {}

  [[nodiscard]] ExponentRange exponents() const {
    ExponentRange range;
    for (Index l = 0; l < length(); ++l) range.add(at(l), matrix_.storage.single);
    return range;
  }
  void scale(int e) {
    for (Index l = 0; l < length(); ++l) at(l) = std::ldexp(at(l), e);
  }

 private:
  [[nodiscard]] Index length() const { return row_ ? matrix_.values.cols() : matrix_.values.rows(); }
  [[nodiscard]] double& at(Index l) const { return row_ ? matrix_.values(i_, l) : matrix_.values(l, i_); }

  CaseMatrix& matrix_;
  bool row_;
  Index i_;
};

/// Checks C(i, j) 2^e if rounding does not depend on e: c and the scaled c are at least twice the least normal number.
Finding judge_scaled(const StoredMatrix& scaled, const StoredMatrix& c, Index i, Index j, int e) {
  const bool single = c.storage().single;
  const double interior = single ? 0x1p-125 : 0x1p-1021;
  const double before = c.value(i, j), expected = std::ldexp(before, e);
  if (!(std::abs(before) >= interior && std::isfinite(before) && std::abs(expected) >= interior)) return {};
  const auto bits = single ? bits_of(static_cast<float>(expected)) : bits_of(expected);
  if (scaled.bits(i, j) == bits) return {};
  return wrong_entry(scaled, i, j, bits, fmt::format("2^{} times what it was is", e));
}

Finding judge_row_column_scaling(const GemmCase& any, const Engine& engine) {
  const FloatEnvironment environment;
  const auto gemm_case = without_c0(finite(any));
  auto scaled_case = gemm_case;
  RandomBits random(gemm_case.seed);
  std::vector<int> rows, columns;
  const auto scale = [&](CaseMatrix& matrix, bool row, Index i) {
    Line line(matrix, row, i);
    const int e = line.exponents().draw(random);
    line.scale(e);
    return e;
  };
  for (Index i = 0; i < gemm_case.m(); ++i) rows.push_back(scale(scaled_case.a, true, i));
  for (Index j = 0; j < gemm_case.n(); ++j) columns.push_back(scale(scaled_case.b, false, j));
  const auto c = multiplied(gemm_case, engine), scaled = multiplied(scaled_case, engine);
  for (Index i = 0; i < gemm_case.m(); ++i)
    for (Index j = 0; j < gemm_case.n(); ++j)
      if (auto wrong = judge_scaled(scaled, c, i, j, rows[static_cast<std::size_t>(i)] + columns[static_cast<std::size_t>(j)]))
        return wrong;
  return {};
}

Finding judge_inner_scaling(const GemmCase& any, const Engine& engine) {
  const FloatEnvironment environment;
  const auto gemm_case = finite(any);
  auto scaled = gemm_case;
  RandomBits random(gemm_case.seed);
  for (Index l = 0; l < gemm_case.a.values.cols(); ++l) {
    Line column(scaled.a, false, l), row(scaled.b, true, l);
    const int e = column.exponents().with(row.exponents().negated()).draw(random);
    column.scale(e);
    row.scale(-e);
  }
  return differing(multiplied_by_cr(scaled, engine).c, multiplied_by_cr(gemm_case, engine).c, "without D it is");
}

// Sign.

void negate(Matrix<double>& values) {
  for (Index t = 0; t < values.rows() * values.cols(); ++t) values.data()[t] = -values.data()[t];
}

/// Checks for -C. A zero of C may be exact, and must then be +0.
Finding not_negated(const StoredMatrix& c, const StoredMatrix& of, const std::string& what) {
  const auto sign = c.storage().single ? binary32.sign : binary64.sign;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const bool both_zero = of.bits(i, j) == 0 && (c.bits(i, j) & ~sign) == 0;
      const auto expected = of.bits(i, j) ^ sign;
      if (!both_zero && c.bits(i, j) != expected) return wrong_entry(c, i, j, expected, what);
    }
  return {};
}

Finding judge_sign(const GemmCase& any, const Engine& engine) {
  auto gemm_case = finite(any);
  auto plan = gemm_case.plan.split();
  if (plan.a.encoding.beta == 8) {  // digits of -x differ; sums of balanced digits are opposite, of digits rounded down never
    plan.a.encoding = plan.b.encoding = Encoding::balanced();
    plan = {plan.a, plan.b, plan.a.slices + plan.b.slices, Accumulation::exact};
  }
  gemm_case.plan = plan;
  auto opposite = gemm_case;
  negate(opposite.c0.values);
  auto minus_a = opposite, minus_b = opposite, minus_alpha = opposite, both = gemm_case;
  negate(minus_a.a.values), negate(both.a.values);
  negate(minus_b.b.values), negate(both.b.values);
  minus_alpha.alpha = -minus_alpha.alpha;
  const auto c = multiplied(gemm_case, engine);
  if (auto wrong = not_negated(multiplied(minus_a, engine), c, "of -A; the opposite of A's is")) return wrong;
  if (auto wrong = not_negated(multiplied(minus_b, engine), c, "of -B; the opposite of B's is")) return wrong;
  if (auto wrong = not_negated(multiplied(minus_alpha, engine), c, "of -alpha; the opposite of alpha's is")) return wrong;
  return differing(multiplied(both, engine), c, "of -A and -B; of A and B it is");
}

}  // namespace

Property inner_permutation() {
  return {"inner-permutation",
          "(A P)(P^T B) = A B in every bit, P any permutation",
          "sums are exact integers: docs/derivations/slicing.md (S5)",
          {},
          judge_permutation};
}

Property transposition() {
  return {
      "transposition",
      "C^T = B^T A^T in every bit, the slicings exchanged (per_product, whose order is not symmetric, as per_diagonal; that "
      "as exact where INT32 does not hold its diagonals)",
      "sums of a diagonal are exact: docs/derivations/slicing.md (S5)-(S7)",
      {},
      judge_transposition};
}

Property row_column_scaling() {
  return {"row-column-scaling",
          "(D A)(B F) = D (A B) F in every bit for diagonal powers of two D and F, where elements stay exact and entries stay "
          "above twice the "
          "least normal number; an overflow is one",
          "scales are exponents, and digits do not know them: docs/derivations/slicing.md (S1)-(S3)",
          {},
          judge_row_column_scaling};
}

Property inner_scaling() {
  return {
      "inner-scaling",
      "(A D)(D^-1 B) = A B in every bit of the correctly rounded result for diagonal powers of two D that keep elements exact",
      "cr is a function of the exact product: docs/derivations/targets.md (T5)",
      {.largest = 5},
      judge_inner_scaling};
}

Property blocks_of_c() {
  return {"blocks-of-c",
          "C cut into two by two blocks of rows and columns has the same bits",
          "scales belong to rows and columns: docs/derivations/slicing.md (S1)-(S3)",
          {},
          judge_blocks};
}

Property sign() {
  return {"sign",
          "(-A) B = A (-B) = -(A B) and (-A)(-B) = A B in every bit but those of exact zeros, which are +0 (balanced, which "
          "stands in "
          "for unsigned8: with the "
          "full cut and "
          "exact accumulation)",
          "docs/derivations/slicing.md: all digits are odd, balanced ones only as a whole, unsigned8 ones not at all",
          {},
          judge_sign};
}

Property inner_zeros() {
  return {"inner-zeros",
          "[A1 0 A2] [B1; 0; B2] = [A1 A2] [B1; B2] in every bit",
          "zeros have no digits: docs/derivations/slicing.md (S1)-(S3)",
          {},
          judge_inner_zeros};
}

}  // namespace ozbound::properties
