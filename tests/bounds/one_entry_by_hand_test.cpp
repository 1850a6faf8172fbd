// SPDX-License-Identifier: BSD-3-Clause
// Each text block of docs/one_entry_by_hand.md is recomputed from its two matrices by the engine and the bounds.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/plan.hpp"
#include "support/residue_reference.hpp"

namespace ozbound::one_entry_by_hand_test {
namespace {

using residue_reference::Fraction;
using residue_reference::Integer;

__attribute__((format(printf, 1, 2))) std::string format(const char* form, ...) {
  char text[256];
  va_list values;
  va_start(values, form);
  std::vsnprintf(text, sizeof text, form, values);
  va_end(values);
  return text;
}

/// The contents of the page's blocks that are fenced as text.
std::vector<std::string> blocks_of_the_page() {
  std::ifstream page(OZBOUND_DOCS "/one_entry_by_hand.md");
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    const bool fence = line.starts_with("```");
    if (fence && !inside && line == "```text") blocks.emplace_back();
    if (!fence && inside) blocks.back() += line + "\n";
    if (fence) inside = !inside && line == "```text";
  }
  return blocks;
}

/// The product C = A B + C0, whose entry (1, 1) the page follows.
struct Example {
  Matrix<double> a{2, 2}, b{2, 2}, c0{2, 2};
  CpuEngine engine{{.threads = 1}};
  SplitPlan slices = parse_plan("balanced:2x2:cut=3:exact").split();
  ResiduePlan residues{4, 15, 15};

  Example() {
    a(0, 0) = 0.7, a(0, 1) = -0.3, a(1, 0) = 0.25, a(1, 1) = 3;
    b(0, 0) = 0.2, b(0, 1) = 1, b(1, 0) = 0.9, b(1, 1) = -5;
    c0(0, 0) = c0(0, 1) = c0(1, 0) = c0(1, 1) = 0.01;
  }

  /// Entry (1, 1) as the engine writes it.
  [[nodiscard]] double entry(const Plan& plan) const {
    Matrix<double> c(2, 2);
    multiply_unproven(Product(a, b, c, 1, 1, c0), plan, engine);
    return c(0, 0);
  }

  /// The exact value of a_11 b_11 + a_12 b_21.
  [[nodiscard]] Fraction exact_product() const {
    using residue_reference::exact_fraction;
    return sum(product(exact_fraction(a(0, 0)), exact_fraction(b(0, 0))),
               product(exact_fraction(a(0, 1)), exact_fraction(b(1, 0))));
  }
};

/// The four elements that entry (1, 1) depends on.
struct Element {
  const char* name;
  Side side;
  Index place;  ///< along the inner dimension
};
constexpr Element elements[] = {{"a_11", Side::rows_of_a, 0},
                                {"a_12", Side::rows_of_a, 1},
                                {"b_11", Side::columns_of_b, 0},
                                {"b_21", Side::columns_of_b, 1}};

double value(const Example& example, const Element& x) {
  return x.side == Side::rows_of_a ? example.a(0, x.place) : example.b(x.place, 0);
}

/// The digits of the elements: [element][place].
Matrix<int> digits(const Example& example) {
  const auto a = example.engine.slice(example.a, Side::rows_of_a, example.slices.a);
  const auto b = example.engine.slice(example.b, Side::columns_of_b, example.slices.b);
  EXPECT_EQ(a.exponent(0), 0);
  EXPECT_EQ(b.exponent(0), 0);
  Matrix<int> result(4, 2);
  for (int x = 0; x < 4; ++x)
    for (int p = 0; p < 2; ++p) result(x, p) = (elements[x].side == Side::rows_of_a ? a : b).digit(0, p + 1, elements[x].place);
  return result;
}

std::string digits_block(const Example& example) {
  const auto of = digits(example);
  std::string text = "          x      x 2^15   integer    digits\n";
  for (int x = 0; x < 4; ++x) {
    const double element = value(example, elements[x]);
    const int integer = 256 * of(x, 0) + of(x, 1);
    EXPECT_EQ(integer, std::nearbyint(element * 0x1p15));
    text += format("%s   %4.1f   %9.1f   %7d   %3d %4d\n", elements[x].name, element, element * 0x1p15, integer, of(x, 0),
                   of(x, 1));
  }
  return text;
}

std::string products_block(const Example& example, int& total) {
  const auto d = digits(example);
  std::string text = "slices                               sum   weight\n";
  total = 0;
  for (int p = 0; p < 2; ++p)
    for (int q = 0; p + q < 2; ++q) {
      const int sum = d(0, p) * d(2, q) + d(1, p) * d(3, q);
      const auto terms = format("%d * %d + %d * %d", d(0, p), d(2, q), d(1, p), d(3, q));
      text += format("(%d, %d)   %-23s %7d   2^-%d\n", p + 1, q + 1, terms.c_str(), sum, p + q == 0 ? 14 : 22);
      total += p + q == 0 ? 256 * sum : sum;
    }
  return text + format("together, in units of 2^-22      %d\n", total);
}

/// The block that shows S + C0, its one rounding, and the entry that the engine writes.
std::string rounding_block(const Example& example, const Fraction& product, const Plan& plan) {
  const auto sum = residue_reference::sum(product, residue_reference::exact_fraction(example.c0(0, 0)));
  const double c = residue_reference::rounded(sum);
  EXPECT_EQ(c, example.entry(plan));
  const auto significand = residue_reference::exact_fraction(c);
  return "S + C0     " + sum.numerator.str() + format(" * 2^%d, exactly\n", sum.exponent) + "rounded    " +
         significand.numerator.str() + format(" * 2^%d = %.17g\n", significand.exponent, c);
}

/// The terms of a bound, the bound and the error, in units of 2^-15.
std::string terms_of(const EntryBound& bound, const Example& example, const Fraction& product) {
  std::string text;
  for (const auto& term : bound.terms) {
    double least = INFINITY;
    for (const auto& outer : term.alternatives) least = std::fmin(least, outer.rows[0] * outer.columns[0]);
    text += format("%-24s %.3f\n", term.name.c_str(), least * 0x1p15);
  }
  const double error =
      std::abs(residue_reference::rounded(sum(example.exact_product(), Fraction{-product.numerator, product.exponent})));
  EXPECT_LE(error, bound.upper(0, 0));
  if (std::isfinite(bound.uniform)) text += format("%-24s %.3f\n", "bound by scales alone", bound.uniform * 0x1p15);
  return text + format("%-24s %.3f\n%-24s %.3f\n", "bound by these", bound.upper(0, 0) * 0x1p15, "error", error * 0x1p15);
}

std::string slice_bound_block(const Example& example, const Fraction& product) {
  const auto a = example.engine.measure(example.a, Side::rows_of_a, example.slices.a);
  const auto b = example.engine.measure(example.b, Side::columns_of_b, example.slices.b);
  return terms_of(plan_error_upper(a.vectors, b.vectors, example.slices, 2), example, product);
}

/// The residues of the elements and of their sum of products, modulo the first four moduli.
std::string residues_block(const Example& example, std::vector<Integer>& sums) {
  const auto a = example.engine.prepare(example.a, Side::rows_of_a, example.residues.a());
  const auto b = example.engine.prepare(example.b, Side::columns_of_b, example.residues.b());
  std::string text = "modulus   a_11   a_12   b_11   b_21      sum   its residue\n";
  for (int t = 0; t < example.residues.moduli; ++t) {
    const int modulus = residue_moduli[t];
    Matrix<int> r(1, 4);
    for (int x = 0; x < 4; ++x)
      r(0, x) = (elements[x].side == Side::rows_of_a ? a : b).residues().residues().residue(0, t, elements[x].place);
    const int sum = r(0, 0) * r(0, 2) + r(0, 1) * r(0, 3);
    const int residue = sum - modulus * static_cast<int>(std::floor((sum + modulus / 2) / static_cast<double>(modulus)));
    text += format("    %d   %4d   %4d   %4d   %4d   %6d   %11d\n", modulus, r(0, 0), r(0, 1), r(0, 2), r(0, 3), sum, residue);
    sums.emplace_back(residue);
  }
  return text;
}

/// C' from its residues, by the Chinese remainder theorem.
std::string recovery_block(const Example& example, const std::vector<Integer>& residues, Integer& recovered) {
  const auto p = residue_reference::product_of_moduli(example.residues.moduli);
  Integer x = 0;
  std::string text = "P          " + p.str() + "\nX          ";
  for (int t = 0; t < example.residues.moduli; ++t) {
    const Integer modulus = residue_moduli[t], rest = p / modulus;
    int multiplier = -residue_moduli[t] / 2;
    while ((multiplier * rest - residues[static_cast<std::size_t>(t)]) % modulus != 0) ++multiplier;
    text += format(t == 0           ? "%d"
                   : multiplier < 0 ? " - %d"
                                    : " + %d",
                   t == 0 ? multiplier : std::abs(multiplier)) +
            format(" P/%d", residue_moduli[t]);
    x += multiplier * rest;
  }
  const Integer quotient = residue_reference::to_nearest((x << 64) / p, 64);
  recovered = x - quotient * p;
  return text + " = " + x.str() + "\nC' = X - " + quotient.str() + " P   " + recovered.str() + "\n";
}

std::string residue_bound_block(const Example& example, const Fraction& product) {
  const auto bound = residue_error_upper(example.engine.norms(example.a, Side::rows_of_a),
                                         example.engine.norms(example.b, Side::columns_of_b), example.residues, 2);
  return terms_of(bound, example, product);
}

TEST(OneEntryByHand, IsWhatTheEngineMakes) {
  const Example example;
  int total = 0;
  std::vector<std::string> made{digits_block(example), products_block(example, total)};
  const Fraction by_slices{total, -22};
  made.push_back(rounding_block(example, by_slices, example.slices));
  made.push_back(slice_bound_block(example, by_slices));

  std::vector<Integer> residues;
  Integer recovered;
  made.push_back(residues_block(example, residues));
  made.push_back(recovery_block(example, residues, recovered));
  const Fraction by_residues{recovered, -30};
  made.push_back(rounding_block(example, by_residues, example.residues));
  made.push_back(residue_bound_block(example, by_residues));

  EXPECT_EQ(blocks_of_the_page(), made);
}

}  // namespace
}  // namespace ozbound::one_entry_by_hand_test
