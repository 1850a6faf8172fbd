// SPDX-License-Identifier: BSD-3-Clause
#include "native_bound.hpp"

#include <algorithm>
#include <limits>

#include "allowance.hpp"
#include "gamma.hpp"
#include "ozbound/bounds/jeannerod_rump_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {
namespace {

bool finite(double x) { return is_finite(bits_of(x), binary64); }

bool plus_minus_one(double x) { return x == 1 || x == -1; }

/// Whether |alpha||A||B|, |A||B|, |C0| or |beta||C0| comes near 2^1022: their sum stays finite where it does not.
bool may_overflow(const ExponentRange& a, const ExponentRange& b, const ExponentRange& c0, Index k,
                  const RealProduct& product) {
  const int alpha_top = to_dyadic(product.alpha).top_exponent();
  const int beta_top = product.beta == 0 ? 0 : to_dyadic(product.beta).top_exponent();
  if (!c0.empty() && c0.top + std::max(beta_top, 0) + 2 > 1020) return true;
  return !a.empty() && !b.empty() &&
         a.top + b.top + 2 + bit_length(static_cast<std::uint64_t>(k)) + std::max(alpha_top + 1, 0) > 1020;
}

bool may_underflow(const ExponentRange& a, const ExponentRange& b, const RealProduct& product) {
  const bool scaling_exact = plus_minus_one(product.alpha) && (product.beta == 0 || plus_minus_one(product.beta));
  return !scaling_exact || (!a.empty() && !b.empty() && a.least + b.least < -1022);
}

/// Up to this k, products that underflow add k eta/2 to k u |A||B| and no more (docs/derivations/general_bound.md, G7b).
constexpr Index longest_with_underflow = Index{1} << 26;

/// What k products, as many scalings and that of C0 lose, each at most eta/2, the products' share scaled by alpha. A unit of
/// eta for half of it leaves room for the roundings that follow (G7c).
double underflow_upper(Index k, double alpha) {
  const double half_eta_terms = to_double_upper(static_cast<std::uint64_t>(k + 1));
  const double magnitude = double_from_bits(bits_of(alpha) & ~binary64.sign);
  return multiply_upper(multiply_upper(half_eta_terms, add_upper(magnitude, 1)), 0x1p-1074);
}

std::string obstacle(const ExponentRange& a, const ExponentRange& b, const ExponentRange& c0, Index k,
                     const RealProduct& product) {
  if (!finite(product.alpha) || !finite(product.beta)) return "alpha or beta is not finite";
  return may_overflow(a, b, c0, k, product) ? "an intermediate result of native DGEMM may overflow" : "";
}

/// Of |alpha||A||B| + |beta||C0|.
double factor_upper(const RealProduct& product) {
  const bool plain = plus_minus_one(product.alpha) && product.beta == 0;
  return plain ? jeannerod_rump_upper(product.k()) : gamma_upper(product.k() + 3);
}

}  // namespace

NativeGuarantee native_guarantee(const RealProduct& product, const Matrices& matrices) {
  if (!product.a.is_double() || !product.b.is_double() || !product.c.is_double())
    return {factor_upper(product), 0, "native DGEMM takes binary64 operands"};
  return native_guarantee(product, matrices.exponent_range(product.a, Side::rows_of_a),
                          matrices.exponent_range(product.b, Side::columns_of_b),
                          product.beta == 0 ? ExponentRange{} : matrices.exponent_range(product.c0));
}

NativeGuarantee native_guarantee(const RealProduct& product, const ExponentRange& rows, const ExponentRange& columns,
                                 const ExponentRange& c0) {
  NativeGuarantee guarantee;
  const Index k = product.k();
  guarantee.factor = factor_upper(product);
  guarantee.obstacle = obstacle(rows, columns, c0, k, product);
  if (may_underflow(rows, columns, product)) guarantee.underflow = underflow_upper(k, product.alpha);
  return guarantee;
}

bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product) {
  using Kind = Target::Kind;
  if (!guarantee.obstacle.empty() || target.kind == Kind::correctly_rounded || target.kind == Kind::relative) return false;
  // `dgemm` allows k eta/2 of underflow, which is what the k products of +-AB may lose.
  const bool plain = plus_minus_one(product.alpha) && product.beta == 0;
  const bool allowed = target.kind == Kind::dgemm && plain && k <= longest_with_underflow;
  if (guarantee.underflow > 0 && !allowed) return false;
  return guarantee.factor <= target_tau(target, k, product.c.format());
}

ErrorBound native_error_bound(const RealProduct& product, const NativeGuarantee& guarantee, const Engine& engine) {
  const Slicing one{Encoding::balanced(), 1};
  const auto rows = engine.measure(product.a, Side::rows_of_a, one).vectors;
  const auto columns = engine.measure(product.b, Side::columns_of_b, one).vectors;
  const bool with_c0 = product.beta != 0;
  ErrorBound bound;
  bound.source = with_c0                         ? "gamma_{k+3} (|alpha||A||B| + |beta||C0|), |beta||C0| <= |C| + |alpha||A||B|"
                 : plus_minus_one(product.alpha) ? "k u |A||B| (Jeannerod, Rump)"
                                                 : "gamma_{k+3} |alpha||A||B|";
  bound.assumptions = {
      "the native DGEMM sums conventionally: each entry is a sum of its k products in some order, each product and each "
      "addition rounded once, or the two at once (FMA)",
      "the native DGEMM rounds to nearest, and underflow is gradual", "the native DGEMM multiplies sums by alpha, not operands",
      "the native DGEMM uses neither Strassen's algorithm, nor another with fewer multiplications, nor an emulation of FP64"};
  const double share = divide_upper(guarantee.factor, subtract_lower(1, guarantee.factor));
  bound.product = summation_upper(rows, columns, with_c0 ? 2 * share : guarantee.factor);
  for (const auto& facts : rows) bound.row_exponents.push_back(facts.scale.exponent);
  for (const auto& facts : columns) bound.column_exponents.push_back(facts.scale.exponent);
  bound.alpha = product.alpha;
  bound.result_factor = with_c0 ? share : 0;
  // A bound on |C^ - C| that holds |C^| in place of |C|: the underflow grows by the same share.
  bound.underflow = with_c0 ? 2 * guarantee.underflow : guarantee.underflow;
  if (!guarantee.obstacle.empty()) bound.underflow = std::numeric_limits<double>::infinity();
  bound.rounded_once = false;
  return bound;
}

}  // namespace ozbound
