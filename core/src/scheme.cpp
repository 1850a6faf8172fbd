// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/scheme.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace ozbound {
namespace {

/// The products with p + q <= max(s_A, s_B) + 1: the published triangle if s_A = s_B.
SplitPlan triangle(Encoding encoding, int slices_a, int slices_b, Accumulation accumulation) {
  const SplitPlan plan{{encoding, slices_a}, {encoding, slices_b}, std::max(slices_a, slices_b) + 1, accumulation};
  plan.validate();
  return plan;
}

/// The triangle of a method whose source has one slice count for both operands.
SplitPlan square_triangle(Encoding encoding, int slices_a, int slices_b, Accumulation accumulation) {
  if (slices_a != slices_b)
    throw std::invalid_argument("the scheme is defined for as many slices of A as of B: " + std::to_string(slices_a) + ", " +
                                std::to_string(slices_b));
  return triangle(encoding, slices_a, slices_b, accumulation);
}

SplitPlan full_set(Encoding encoding, int slices_a, int slices_b, Accumulation accumulation) {
  const SplitPlan plan{{encoding, slices_a}, {encoding, slices_b}, slices_a + slices_b, accumulation};
  plan.validate();
  return plan;
}

Encoding truncated_for(Index k) { return Encoding::truncated(digit_bits(Encoding::truncated, k)); }
Encoding ozimmu_for(Index k) { return Encoding::ozimmu(digit_bits(Encoding::ozimmu, k)); }
Encoding adaptive_for(Index k) { return Encoding::nearest_adaptive(digit_bits(Encoding::nearest_adaptive, k)); }
Encoding nearest_for(Index k) { return Encoding::nearest(digit_bits(Encoding::nearest, k)); }

std::vector<Scheme> make_schemes() {
  return {
      {"ozimmu", "Ootomo, Ozaki, Yokota: DGEMM on Integer Matrix Multiplication Unit; the digits of its program",
       "truncated digits, the first with one bit less; p + q <= s + 1; one FP64 addition a product",
       [](int a, int b, Index k) { return square_triangle(ozimmu_for(k), a, b, Accumulation::per_product); }},
      {"ozimmu-paper", "Ootomo, Ozaki, Yokota: DGEMM on Integer Matrix Multiplication Unit, Algorithms 3, 4 (errata 6, 13)",
       "truncated digits; p + q <= s + 1; one FP64 addition a product",
       [](int a, int b, Index k) { return square_triangle(truncated_for(k), a, b, Accumulation::per_product); }},
      {"ozimmu-rn", "Uchino, Ozaki, Imamura: Performance Enhancement of the Ozaki Scheme, Algorithms 4, 5",
       "digits rounded to nearest, the scale found anew for each slice; p + q <= s + 1; one FP64 addition a product",
       [](int a, int b, Index k) { return square_triangle(adaptive_for(k), a, b, Accumulation::per_product); }},
      {"ozimmu-ef", "Uchino, Ozaki, Imamura: Performance Enhancement of the Ozaki Scheme, Algorithms 3, 6",
       "truncated digits; p + q <= s + 1; one FP64 addition an error-free group of a diagonal",
       [](int a, int b, Index k) { return square_triangle(truncated_for(k), a, b, Accumulation::per_diagonal); }},
      {"ozimmu-h", "Uchino, Ozaki, Imamura: Performance Enhancement of the Ozaki Scheme, Algorithms 6, 8",
       "digits rounded to nearest, one scale a row; p + q <= s + 1; one FP64 addition an error-free group of a diagonal",
       [](int a, int b, Index k) { return square_triangle(nearest_for(k), a, b, Accumulation::per_diagonal); }},
      {"abdelfattah", "Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur: High-Accuracy Floating-Point Matrix Multiplication",
       "truncated digits (fixed point), s_A and s_B apart; every product; one FP64 addition a product",
       [](int a, int b, Index k) { return full_set(truncated_for(k), a, b, Accumulation::per_product); }},
      {"adp", "Schwarz, Anders, Brower et al.: Guaranteed DGEMM Accuracy, as published; cuBLAS 13.0 and 13.1 do otherwise",
       "radix-256 digits rounded down, the first signed, the rest unsigned; p + q <= s + 1; one FP64 addition a diagonal",
       [](int a, int b, Index) { return square_triangle(Encoding::unsigned8(), a, b, Accumulation::per_diagonal); }},
      {"gemmi", "gemmi (north-numerical-computing), its reduced set of products",
       "truncated digits, s_A and s_B apart; p + q <= max(s_A, s_B) + 1; one FP64 addition a product",
       [](int a, int b, Index k) { return triangle(truncated_for(k), a, b, Accumulation::per_product); }},
      {"ozbound", "docs/derivations/slicing.md (S3), rounding.md",
       "balanced radix-256 digits, s_A and s_B apart; p + q <= max(s_A, s_B) + 1; one exact integer, rounded once",
       [](int a, int b, Index) { return triangle(Encoding::balanced(), a, b, Accumulation::exact); }},
  };
}

}  // namespace

std::span<const Scheme> all_schemes() {
  static const auto& schemes = *new auto(make_schemes());  // never destroyed, as in kernels()
  return schemes;
}

std::string scheme_names() {
  std::string names;
  for (const auto& scheme : all_schemes()) names += (names.empty() ? "" : ", ") + scheme.name;
  return names;
}

const Scheme& find_scheme(std::string_view name) {
  for (const auto& scheme : all_schemes())
    if (scheme.name == name) return scheme;
  throw std::invalid_argument("scheme must be one of " + scheme_names() + ": '" + std::string(name) + "'");
}

Plan parse_plan(std::string_view text, Index k) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) return parse_plan(text);
  if (text.substr(0, colon) == "residues") return parse_plan(text);  // its message explains how residues are spelled
  const auto counts = parse_plan("balanced" + std::string(text.substr(colon)) + ":full:exact").split();  // checks them
  const auto& scheme = find_scheme(text.substr(0, colon));
  return scheme.plan(counts.a.slices, counts.b.slices, k);
}

int digit_bits(Encoding (*encoding)(int beta), Index k) {
  if (k < 0) throw std::invalid_argument("k must not be negative: " + std::to_string(k));
  for (int beta = 7; beta > 1; --beta) {
    const Index magnitude = encoding(beta).digit_magnitude();
    if (k <= 0x7fffffff / (magnitude * magnitude)) return beta;
  }
  return 1;
}

}  // namespace ozbound
