// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "properties/case_product.hpp"
#include "properties/exact_number.hpp"
#include "properties/properties.hpp"
#include "properties/reference.hpp"

// Integers, their residues, the recovery from residues, and the rounding error: docs/derivations/residues.md, stated without
// the judged code.

namespace ozbound::properties {
namespace {

using exact_arithmetic::cpp_int;
using exact_arithmetic::Exact;

const ResiduePlan& plan_of(const GemmCase& gemm_case) {
  return gemm_case.plan.visit([](const SplitPlan&) -> const ResiduePlan& { throw std::logic_error("a plan by slices"); },
                              [](const ResiduePlan& plan) -> const ResiduePlan& { return plan; });
}

/// P of the first N moduli.
cpp_int product_of_moduli(int moduli) {
  cpp_int product = 1;
  for (int t = 0; t < moduli; ++t) product *= residue_moduli[t];
  return product;
}

int remainder(const cpp_int& x, int p) {
  const auto rest = static_cast<int>(cpp_int(x % p));
  return rest < 0 ? rest + p : rest;
}

/// One copy of a row of A or a column of B, and its integers.
struct IntegerVector {
  IntegerVector(std::vector<Exact> x, int bits) : elements(std::move(x)) {
    Exact top;
    for (const auto& e : elements) top = std::max(top, e.magnitude());
    scale = top.is_zero() ? 0 : top.top_exponent() + 1;
    for (const auto& e : elements) {
      integers.push_back(exact_arithmetic::nearest_in_units(e, scale - bits));
      exact = exact && Exact{integers.back(), scale - bits} == e;
    }
  }

  std::vector<Exact> elements;
  std::vector<cpp_int> integers;
  int scale = 0;
  bool exact = true;
};

std::vector<IntegerVector> integer_vectors(const Matrix<double>& values, Side side, int bits) {
  const bool rows = side == Side::rows_of_a;
  std::vector<IntegerVector> all;
  for (Index i = 0; i < (rows ? values.rows() : values.cols()); ++i) {
    std::vector<Exact> x;
    for (Index l = 0; l < (rows ? values.cols() : values.rows()); ++l) x.emplace_back(rows ? values(i, l) : values(l, i));
    all.emplace_back(std::move(x), bits);
  }
  return all;
}

/// The integers of a case, and their sums.
struct IntegerCase {
  explicit IntegerCase(const GemmCase& gemm_case)
      : plan(plan_of(gemm_case)),
        repeat(gemm_case.inner_repeat),
        a(integer_vectors(gemm_case.a.values, Side::rows_of_a, plan.bits_a)),
        b(integer_vectors(gemm_case.b.values, Side::columns_of_b, plan.bits_b)) {}

  [[nodiscard]] const IntegerVector& row(Index i) const { return a[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const IntegerVector& column(Index j) const { return b[static_cast<std::size_t>(j)]; }

  /// C', or sum |a' b'|.
  [[nodiscard]] cpp_int sum(Index i, Index j, bool magnitudes = false) const {
    cpp_int total = 0;
    for (std::size_t l = 0; l < row(i).integers.size(); ++l) {
      const cpp_int term = row(i).integers[l] * column(j).integers[l];
      total += magnitudes ? cpp_int(abs(term)) : term;
    }
    return total * repeat;
  }

  /// The exponent of the unit of C'.
  [[nodiscard]] int unit(Index i, Index j) const { return row(i).scale + column(j).scale - plan.bits_a - plan.bits_b; }

  ResiduePlan plan;
  Index repeat;
  std::vector<IntegerVector> a, b;
};

/// C' of an entry from the groups in which an engine recovers it.
cpp_int joined(const std::vector<Matrix<std::int64_t>>& groups, int radix, Index i, Index j) {
  cpp_int total = 0;
  for (const auto& group : groups) total = (total << radix) + group(i, j);
  return total;
}

std::string shown(const cpp_int& x) { return x.str(); }

// The integers and their residues.

Finding judge_residues(const Residues& residues, const std::vector<IntegerVector>& vectors, const char* name) {
  for (Index i = 0; i < residues.count(); ++i) {
    const auto& vector = vectors[static_cast<std::size_t>(i)];
    const auto length = static_cast<Index>(vector.integers.size());
    if (residues.scale(i).special) return fmt::format("{} {} is finite and called special", name, i);
    if (residues.scale(i).exponent != vector.scale)
      return fmt::format("{} {} has the scale 2^{}, not 2^{}", name, i, residues.scale(i).exponent, vector.scale);
    for (int t = 0; t < residues.form().moduli; ++t)
      for (Index l = 0; l < residues.inner_dimension(); ++l) {
        const int p = residue_moduli[t], found = residues.residue(i, t, l);
        const auto& integer = vector.integers[static_cast<std::size_t>(l % length)];
        const bool balanced = 2 * found >= -p && 2 * found < p;
        if (!balanced || remainder(integer - found, p) != 0)
          return fmt::format("element {} of {} {} is the integer {}, and {} modulo {}", l, name, i, shown(integer), found, p);
      }
  }
  return {};
}

std::int64_t residue_sum(const Residues& a, const Residues& b, int t, Index i, Index j) {
  std::int64_t sum = 0;
  for (Index l = 0; l < a.inner_dimension(); ++l) sum += a.residue(i, t, l) * b.residue(j, t, l);
  return sum;
}

Finding judge_residue_products(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  const CaseMemory memory(gemm_case);
  const IntegerCase integers(gemm_case);
  const auto a = engine.prepare(memory.a.input(), Side::rows_of_a, integers.plan.a()).residues();
  const auto b = engine.prepare(memory.b.input(), Side::columns_of_b, integers.plan.b()).residues();
  if (auto wrong = judge_residues(a.residues(), integers.a, "row of A")) return wrong;
  if (auto wrong = judge_residues(b.residues(), integers.b, "column of B")) return wrong;
  const auto groups = engine.recovered_groups(a, b, integers.plan);
  const int radix = residue_layout(integers.plan).radix_bits;
  for (int t = 0; t < integers.plan.moduli; ++t)
    for (Index i = 0; i < gemm_case.m(); ++i)
      for (Index j = 0; j < gemm_case.n(); ++j) {
        const auto sum = residue_sum(a.residues(), b.residues(), t, i, j);
        const auto found = joined(groups, radix, i, j);
        if (remainder(found - sum, residue_moduli[t]) != 0)
          return fmt::format("the products of residues modulo {} of entry ({}, {}) sum to {}, which {} is not",
                             residue_moduli[t], i, j, sum, shown(found));
      }
  return {};
}

// The range of the moduli.

/// A row and a column of exact integers with sum |a' b'| = W: powers of two by the digits of W in radix 2^52, with any signs.
GemmCase with_magnitude(const cpp_int& w, int moduli, std::uint64_t signs) {
  GemmCase gemm_case;
  std::vector<std::int64_t> digits;
  for (cpp_int rest = w; rest != 0; rest >>= 52)
    digits.push_back(static_cast<std::int64_t>(cpp_int(rest & ((std::int64_t{1} << 52) - 1))));
  const auto k = static_cast<Index>(digits.size());
  gemm_case.a.values = Matrix<double>(1, k), gemm_case.b.values = Matrix<double>(k, 1);
  gemm_case.c0.values = Matrix<double>(1, 1);
  std::int64_t top = 0;
  for (Index l = 0; l < k; ++l) {
    const auto digit = digits[static_cast<std::size_t>(l)];
    const double sign = (signs >> l & 1) != 0 ? -1 : 1;
    gemm_case.a.values(0, l) = sign * std::ldexp(1.0, static_cast<int>(52 * l));
    gemm_case.b.values(l, 0) = static_cast<double>(digit);
    top = std::max(top, digit);
  }
  const int bits_b = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(top)));
  gemm_case.plan = ResiduePlan{moduli, static_cast<int>(52 * (k - 1)) + 1, bits_b};
  return gemm_case;
}

/// True if the guard refuses the product before anything of C is written. Otherwise the product is computed.
bool is_refused(const GemmCase& gemm_case, const Engine& engine) {
  CaseMemory memory(gemm_case);
  for (Index i = 0; i < memory.c.rows(); ++i)
    for (Index j = 0; j < memory.c.cols(); ++j) memory.c.set(i, j, 3);
  const auto before = values_of(memory.c);
  try {
    multiply_unproven(memory.product(), gemm_case.plan, engine);
  } catch (const std::invalid_argument& refusal) {
    if (std::string(refusal.what()).find("is not sure to hold entry") == std::string::npos) throw;
    const auto after = values_of(memory.c);
    for (Index i = 0; i < after.rows(); ++i)
      for (Index j = 0; j < after.cols(); ++j)
        if (after(i, j) != before(i, j)) throw std::logic_error("C was written before the product was refused");
    return true;
  }
  return false;
}

/// Checks that C' is right at the largest sum that the moduli determine, with any signs, and that a sum larger by 1 is refused.
Finding judge_largest_sums(int moduli, std::uint64_t seed, const Engine& engine) {
  const cpp_int p = product_of_moduli(moduli), most = (p - 1) / 2;
  for (const auto& w : {cpp_int(most - 1), most}) {
    const auto gemm_case = with_magnitude(w, moduli, seed);
    const CaseMemory memory(gemm_case);
    const IntegerCase integers(gemm_case);
    const auto& plan = integers.plan;
    if (integers.sum(0, 0, true) != w) return "a product of another sum was made: the property is wrong";
    const auto groups =
        engine.recovered_groups(engine.prepare(memory.a.input(), Side::rows_of_a, plan.a()).residues(),
                                engine.prepare(memory.b.input(), Side::columns_of_b, plan.b()).residues(), plan);
    const auto found = joined(groups, residue_layout(plan).radix_bits, 0, 0), expected = integers.sum(0, 0);
    if (found != expected)
      return fmt::format("of {} with 2 sum |a' b'| = P - {}, C' is {}, not {}", to_string(Plan(plan)), shown(p - 2 * w),
                         shown(found), shown(expected));
  }
  const auto larger = with_magnitude(most + 1, moduli, seed);
  if (IntegerCase(larger).sum(0, 0, true) != most + 1) return "a product of another sum was made: the property is wrong";
  if (!is_refused(larger, engine)) return fmt::format("{} takes a product with 2 sum |a' b'| = P", to_string(larger.plan));
  return {};
}

/// Uses equal powers of two, for which norms of 16 bits and more are sharp. Checks that as many terms as the moduli hold are
/// accepted, and that one more is refused.
Finding judge_most_terms(int moduli, const Engine& engine) {
  const cpp_int most = (product_of_moduli(moduli) - 1) / 2;
  const int term = static_cast<int>(msb(most)) - 6;  // each term is 2^term: 64 to 127 terms
  const auto k = static_cast<Index>(static_cast<std::int64_t>(cpp_int(most >> term)));
  for (const Index terms : {k, k + 1}) {
    GemmCase gemm_case;
    gemm_case.a.values = Matrix<double>(1, terms), gemm_case.b.values = Matrix<double>(terms, 1);
    gemm_case.c0.values = Matrix<double>(1, 1);
    std::fill_n(gemm_case.a.values.data(), terms, 1.0);
    std::fill_n(gemm_case.b.values.data(), terms, -1.0);
    const int bits_a = (term + 2) / 2, bits_b = term + 2 - bits_a;
    gemm_case.plan = ResiduePlan{moduli, bits_a, bits_b};
    const bool sharp = bits_a >= 16 && bits_b >= 16, refused = is_refused(gemm_case, engine);
    if (terms > k && !refused) return fmt::format("{} takes {} terms of 2^{}", to_string(gemm_case.plan), terms, term);
    if (terms == k && sharp && refused)
      return fmt::format("{} refuses {} terms of 2^{}, which it holds", to_string(gemm_case.plan), terms, term);
  }
  return {};
}

/// Adds bits until the product is refused. Checks that the moduli hold every accepted product.
Finding judge_guard(GemmCase gemm_case, const Engine& engine) {
  const bool reads = gemm_case.alpha != 0;
  for (;;) {
    const IntegerCase integers(gemm_case);
    const cpp_int p = product_of_moduli(integers.plan.moduli);
    if (is_refused(gemm_case, engine)) return {};
    for (Index i = 0; reads && i < gemm_case.m(); ++i)
      for (Index j = 0; j < gemm_case.n(); ++j)
        if (2 * integers.sum(i, j, true) >= p)
          return fmt::format("{} takes entry ({}, {}) with 2 sum |a' b'| = P + {}", to_string(gemm_case.plan), i, j,
                             shown(2 * integers.sum(i, j, true) - p));
    auto next = integers.plan;
    ++(next.bits_a <= next.bits_b ? next.bits_a : next.bits_b);
    if (std::max(next.bits_a, next.bits_b) > most_residue_bits) return {};
    gemm_case.plan = next;
  }
}

Finding judge_no_wrap(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  if (auto wrong = judge_largest_sums(plan_of(gemm_case).moduli, gemm_case.seed, engine)) return wrong;
  if (auto wrong = judge_most_terms(plan_of(gemm_case).moduli, engine)) return wrong;
  return judge_guard(gemm_case, engine);
}

// Recovery.

Finding judge_reconstruction(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  const CaseMemory memory(gemm_case);
  const IntegerCase integers(gemm_case);
  const auto& plan = integers.plan;
  const auto groups = engine.recovered_groups(engine.prepare(memory.a.input(), Side::rows_of_a, plan.a()).residues(),
                                              engine.prepare(memory.b.input(), Side::columns_of_b, plan.b()).residues(), plan);
  const auto c = multiplied(gemm_case, engine);
  for (Index i = 0; i < gemm_case.m(); ++i)
    for (Index j = 0; j < gemm_case.n(); ++j) {
      const auto expected = integers.sum(i, j), found = joined(groups, residue_layout(plan).radix_bits, i, j);
      if (found != expected) return fmt::format("C'({}, {}) is {}, and sum a' b' is {}", i, j, shown(found), shown(expected));
      Exact value;
      if (gemm_case.alpha != 0) value = Exact(gemm_case.alpha) * Exact{expected, integers.unit(i, j)};
      if (gemm_case.beta != 0) value = value + Exact(gemm_case.beta) * Exact(gemm_case.c0.values(i, j));
      const auto rounded = exact_arithmetic::rounded_bits(value, gemm_case.c.single);
      if (c.bits(i, j) != rounded) return wrong_entry(c, i, j, rounded, "and alpha C' + beta C0 rounded once is");
    }
  return {};
}

// The rounding error.

Finding judge_residue_bound(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  const CaseMemory memory(gemm_case);
  const IntegerCase integers(gemm_case);
  const auto& plan = integers.plan;
  const auto rows = engine.norms(memory.a.input(), Side::rows_of_a),
             columns = engine.norms(memory.b.input(), Side::columns_of_b);
  const auto bound = residue_error_upper(rows, columns, plan, gemm_case.k());
  const double a_priori = truncation_a_priori_upper(plan, gemm_case.k());
  const FloatEnvironment environment;
  for (Index i = 0; i < gemm_case.m(); ++i)
    for (Index j = 0; j < gemm_case.n(); ++j) {
      const auto product =
          exact_arithmetic::exact_product(gemm_case.a.values, gemm_case.b.values, i, j) * Exact{gemm_case.inner_repeat, 0};
      const auto error = (product - Exact{integers.sum(i, j), integers.unit(i, j)}).magnitude();
      const int scale = integers.row(i).scale + integers.column(j).scale;
      const double upper = bound.upper(i, j);
      if (Exact(upper).times_power_of_two(scale) < error || Exact(a_priori).times_power_of_two(scale) < error)
        return fmt::format("|AB - A~B~| at ({}, {}) is {}, above its bound {} or {}, times 2^{}", i, j,
                           hex_text(exact_arithmetic::rounded<double>(error)), hex_text(upper), hex_text(a_priori), scale);
      if (integers.row(i).exact && integers.column(j).exact && upper != 0)
        return fmt::format("the bound at ({}, {}) is {}, and no element is rounded", i, j, hex_text(upper));
    }
  return {};
}

}  // namespace

Property residue_products() {
  return {
      "residue-products-error-free",
      "a' = RN(a 2^(p_A - e)), ties to even, 2^e = 2 ufp(max |a_i|); its residues are balanced; and for every modulus C' is "
      "sum_l r^A_t(i,l) r^B_t(l,j), at any k",
      "docs/derivations/residues.md (R2)-(R4)",
      {.largest = 5, .attacked = true, .plans = PlanKinds::residues},
      judge_residue_products};
}

Property no_wrap() {
  return {"no-wrap",
          "a product is taken only where 2 sum |a' b'| < P: C' is right at P - 4 and P - 2, of any signs, and P is refused; of "
          "equal powers of two as many are taken as P holds, of 16 bits and more, and one more is refused, nothing of C being "
          "written",
          "docs/derivations/residues.md (R5), (R8), (R9)",
          {.largest = 4, .plans = PlanKinds::residues},
          judge_no_wrap};
}

Property reconstruction_exact() {
  return {
      "reconstruction-exact",
      "C' = sum_l a'_il b'_lj, as an integer, and C = fl(alpha C' 2^(e_i + f_j - p_A - p_B) + beta C0), one rounding to C's "
      "format",
      "docs/derivations/residues.md (R5)-(R7), (R12)",
      {.attacked = true, .plans = PlanKinds::residues},
      judge_reconstruction};
}

Property residue_bound() {
  return {"residue-bound",
          "|AB - A~B~|_ij <= 2^(e_i + f_j) (s_i ||b_j||_1 / sigma_j + t_j ||a~_i||_1 / rho_i), and <= the a-priori bound; 0 "
          "where no element of row i and column j is rounded",
          "docs/derivations/residues.md (R10), (R11)",
          {.attacked = true, .plans = PlanKinds::residues},
          judge_residue_bound};
}

}  // namespace ozbound::properties
