// SPDX-License-Identifier: BSD-3-Clause
#include "native_bound.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "allowance.hpp"
#include "gamma.hpp"
#include "ozbound/bounds/jeannerod_rump_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {
namespace {

bool finite(double x) { return is_finite(bits_of(x), binary64); }

constexpr int least_normal = binary64.least_exponent + binary64.precision - 1;  ///< exponent of the smallest normal number

/// Whether |alpha||A||B|, |A||B|, |C0| or |beta||C0| comes near 2^1022: their sum stays finite where it does not.
bool may_overflow(const ExponentRange& a, const ExponentRange& b, const ExponentRange& c0, Index k,
                  const RealProduct& product) {
  const int alpha_top = to_dyadic(product.alpha).top_exponent();
  const int beta_top = product.beta == 0 ? 0 : to_dyadic(product.beta).top_exponent();
  if (!c0.empty() && c0.top + std::max(beta_top, 0) + 2 > 1020) return true;
  return !a.empty() && !b.empty() &&
         a.top + b.top + 2 + bit_length(static_cast<std::uint64_t>(k)) + std::max(alpha_top + 1, 0) > 1020;
}

/// The last bit of every number whose exponent is at least this.
int last_bit(int least_exponent) { return std::max(least_exponent - (binary64.precision - 1), binary64.least_exponent); }

/// Whether x times any floating-point number that is a multiple of 2^last, and at least 2^least, is normal or exact (G7d).
bool scales_without_underflow(double x, int least, int last) {
  if (is_zero(x) || !finite(x)) return is_zero(x);
  const auto factor = to_dyadic(x);
  return factor.top_exponent() + least >= least_normal ||
         factor.exponent + std::countr_zero(factor.magnitude) + last >= binary64.least_exponent;
}

/// Whether a product a_il b_lj, a sum of those times alpha, or beta C0 may be subnormal and not exact.
bool may_underflow(const ExponentRange& a, const ExponentRange& b, const ExponentRange& c0, const RealProduct& product) {
  if (!c0.empty() && !scales_without_underflow(product.beta, c0.least, last_bit(c0.least))) return true;
  if (a.empty() || b.empty()) return false;
  const int last_of_sums = std::max(last_bit(a.least) + last_bit(b.least), binary64.least_exponent);
  return a.least + b.least < least_normal || !scales_without_underflow(product.alpha, last_of_sums, last_of_sums);
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

std::string decimal(double x) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr};
}

/// Of |alpha||A||B| + |beta||C0|.
double factor_upper(const RealProduct& product) {
  return is_scaled(product.alpha, product.beta) ? gamma_upper(product.k() + 3) : jeannerod_rump_upper(product.k());
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
  if (may_underflow(rows, columns, c0, product)) guarantee.underflow = underflow_upper(k, product.alpha);
  return guarantee;
}

bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product) {
  using Kind = Target::Kind;
  if (!guarantee.obstacle.empty() || target.kind == Kind::correctly_rounded || target.kind == Kind::relative) return false;
  const auto& format = product.c.format();
  const bool scaled = is_scaled(product.alpha, product.beta);
  // `dgemm` allows k eta/2 of underflow, which is what the k products of +-AB may lose.
  const bool allowed = target.kind == Kind::dgemm && !scaled && k <= longest_with_underflow;
  if (guarantee.underflow > 0 && !allowed) return false;
  // The factor is rounded up, the target's tau down; the errors of k + 2 roundings, which there are, lie below both.
  if (target.kind == Kind::dgemm && scaled) return static_cast<double>(k + 3) * unit_roundoff(format) <= 0.5;
  return guarantee.factor <= target_tau(target, k, format, scaled);
}

std::string native_refusal(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product) {
  using Kind = Target::Kind;
  if (!guarantee.obstacle.empty()) return guarantee.obstacle;
  if (target.kind == Kind::correctly_rounded || target.kind == Kind::relative) return "it guarantees nothing relative to |C|";
  const bool scaled = is_scaled(product.alpha, product.beta);
  const double tau = target_tau(target, k, product.c.format(), scaled);
  const char* const measure = scaled ? " (|alpha||A||B| + |beta||C0|)" : " |A||B|";
  if (guarantee.factor > tau)
    return "it may be wrong by " + decimal(guarantee.factor) + measure + ", and the target allows " + decimal(tau);
  return "underflow may cost " + decimal(guarantee.underflow) + ", and the target allows " +
         (target.kind == Kind::dgemm ? "k 2^-1075" : "2^-1075");
}

ErrorBound native_error_bound(const RealProduct& product, const NativeGuarantee& guarantee, const Engine& engine) {
  const Slicing one{Encoding::balanced(), 1};
  const auto rows = engine.measure(product.a, Side::rows_of_a, one).vectors;
  const auto columns = engine.measure(product.b, Side::columns_of_b, one).vectors;
  const bool with_c0 = product.beta != 0;
  ErrorBound bound;
  bound.source = with_c0                       ? "gamma_{k+3} (|alpha||A||B| + |beta||C0|), |beta||C0| <= |C| + |alpha||A||B|"
                 : is_scaled(product.alpha, 0) ? "gamma_{k+3} |alpha||A||B|"
                                               : "k u |A||B| (Jeannerod, Rump)";
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
