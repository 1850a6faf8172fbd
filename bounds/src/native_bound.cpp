// SPDX-License-Identifier: BSD-3-Clause
#include "native_bound.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "allowance.hpp"
#include "gamma.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {
namespace {

bool finite(double x) { return is_finite(bits_of(x), binary64); }

constexpr int least_normal(const Format& format) { return format.least_exponent + format.precision - 1; }

/// Results stay below this exponent. The largest finite one is 1 - least_normal; the margin covers two roundings and a carry.
constexpr int safe_exponent(const Format& format) { return 1 - least_normal(format) - 3; }

/// True if |alpha||A||B|, |A||B|, |C0| or |beta||C0| comes near the largest number. If false, their sum stays finite.
bool may_overflow(const ExponentRange& a, const ExponentRange& b, const ExponentRange& c0, Index k,
                  const RealProduct& product) {
  const int alpha_top = to_dyadic(product.alpha).top_exponent();
  const int beta_top = product.beta == 0 ? 0 : to_dyadic(product.beta).top_exponent();
  const int most = safe_exponent(product.c.format());
  if (!c0.empty() && c0.top + std::max(beta_top, 0) + 2 > most) return true;
  return !a.empty() && !b.empty() &&
         a.top + b.top + 2 + bit_length(static_cast<std::uint64_t>(k)) + std::max(alpha_top + 1, 0) > most;
}

/// Exponent of the last bit of numbers of a format with at least the given exponent.
int last_bit(int least_exponent, const Format& format) {
  return std::max(least_exponent - (format.precision - 1), format.least_exponent);
}

/// True if x times y is normal or exact for every y of a format that is a multiple of 2^last and at least 2^least (G7d).
bool scales_without_underflow(double x, int least, int last, const Format& format) {
  if (is_zero(x) || !finite(x)) return is_zero(x);
  const auto factor = to_dyadic(x);
  return factor.top_exponent() + least >= least_normal(format) ||
         factor.exponent + std::countr_zero(factor.magnitude) + last >= format.least_exponent;
}

/// True if a product a_il b_lj, a sum of such products times alpha, or beta C0 may be subnormal and inexact.
bool may_underflow(const ExponentRange& a, const ExponentRange& b, const ExponentRange& c0, const RealProduct& product) {
  const auto& format = product.c.format();
  if (!c0.empty() && !scales_without_underflow(product.beta, c0.least, last_bit(c0.least, format), format)) return true;
  if (a.empty() || b.empty()) return false;
  const int last_of_sums = std::max(last_bit(a.least, format) + last_bit(b.least, format), format.least_exponent);
  return a.least + b.least < least_normal(format) ||
         !scales_without_underflow(product.alpha, last_of_sums, last_of_sums, format);
}

/// True if alpha times an element of A or of B, which some libraries compute, may overflow, or be subnormal and inexact; or if
/// this number times an element of the other matrix may.
bool may_leave_range(const ExponentRange& a, const ExponentRange& b, const RealProduct& product) {
  if (a.empty() || b.empty() || is_zero(product.alpha) || !has_scalars(product.alpha, 0)) return false;
  const auto& format = product.c.format();
  const int alpha_top = to_dyadic(product.alpha).top_exponent(), most = safe_exponent(format);
  const auto leaves = [&](const ExponentRange& x) {
    return alpha_top + x.top + 2 > most || !scales_without_underflow(product.alpha, x.least, last_bit(x.least, format), format);
  };
  return leaves(a) || leaves(b) || alpha_top < least_normal(format) - a.least - b.least;
}

/// Up to this k, products that underflow add at most k eta/2 to k u |A||B|: k^2 u <= 1 (docs/derivations/general_bound.md,
/// G7b).
constexpr Index longest_with_underflow(const Format& format) { return Index{1} << (format.precision / 2); }

/// The loss by underflow of k products, as many scalings and that of C0, each at most eta/2; the products' share is times
/// |alpha|. Counting eta instead of eta/2 leaves room for the later roundings (G7c).
double underflow_upper(Index k, double alpha, const Format& format) {
  const double half_eta_terms = to_double_upper(static_cast<std::uint64_t>(k + 1));
  const double magnitude = double_from_bits(bits_of(alpha) & ~binary64.sign);
  const double eta = format.precision == binary64.precision ? 0x1p-1074 : 0x1p-149;
  return multiply_upper(multiply_upper(half_eta_terms, add_upper(magnitude, 1)), eta);
}

bool is_binary32(double x) { return !finite(x) || static_cast<double>(static_cast<float>(x)) == x; }

/// True if all matrices that have elements are in C's format.
bool of_one_format(const RealProduct& product) {
  const auto fits = [&](const InputView& x) { return x.empty() || x.is_double() == product.c.is_double(); };
  return fits(product.a) && fits(product.b) && (is_zero(product.beta) || fits(product.c0));
}

/// The factor of |alpha||A||B| + |beta||C0|.
double factor_upper(const RealProduct& product) {
  const double u = unit_roundoff(product.c.format());
  if (has_scalars(product.alpha, product.beta)) return gamma_upper(product.k() + 3, u);
  return to_double_upper(static_cast<std::uint64_t>(product.k())) * u;
}

std::string obstacle(const ExponentRange& a, const ExponentRange& b, const ExponentRange& c0, Index k,
                     const RealProduct& product) {
  if (!finite(product.alpha) || !finite(product.beta)) return "alpha or beta is not finite";
  if (may_overflow(a, b, c0, k, product)) return "an intermediate result may overflow";
  if (may_leave_range(a, b, product)) return "alpha times an element may overflow or underflow";
  return factor_upper(product) > 1 ? "the inner dimension is so long that k u is above 1" : "";
}

std::string decimal(double x) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr};
}

/// True if the library takes a complex product as it is: all matrices have one format, and C0 is finite or not read. (A library
/// multiplies both parts of an entry of C0 by both parts of beta: 0 times an infinity would be NaN.)
bool as_stated(const NativeGemm& native, const Product& stated, bool specials) {
  if (!stated.is_complex() || !native.has_complex() || (specials && stated.complex().reads_c0())) return false;
  const auto& p = stated.complex();
  const auto fits = [&](const ComplexInputView& x) { return x.is_double() == p.c.is_double(); };
  return fits(p.a) && fits(p.b) && (!p.reads_c0() || fits(p.c0));
}

}  // namespace

std::string gemm_name(const Format& format, bool complex) {
  const bool wide = format.precision == binary64.precision;
  return std::string(complex ? wide ? "Z" : "C" : wide ? "D" : "S") + "GEMM";
}

std::string native_lack(const NativeGemm& native, const Product& stated, const RealProduct& real) {
  if (!of_one_format(real)) return "native GEMMs take matrices of one format";
  if (!real.c.is_double() && !(is_binary32(real.alpha) && is_binary32(real.beta)))
    return "native GEMMs of binary32 matrices take binary32 scalars";
  const bool has = real.c.is_double() || native.has_sgemm();
  return has ? "" : "this native library has no " + gemm_name(real.c.format(), stated.is_complex());
}

void multiply_native(const NativeGemm& native, const Product& stated, const RealProduct& real, bool specials, int threads) {
  if (!as_stated(native, stated, specials)) return real.c.is_double() ? native.dgemm(real) : native.sgemm(real);
  const auto& complex = stated.complex();
  native.complex_gemm(complex);
  if (stacked_memory(complex.c)) return;
  const auto parts = stacked_parts(complex.c.as_input(), threads);
  for (Index i = 0; i < real.m(); ++i)
    for (Index j = 0; j < real.n(); ++j)
      real.c.set_bits(i, j,
                      real.c.is_double() ? parts.view().bits(i, j)
                                         : bits_of(static_cast<float>(double_from_bits(parts.view().bits(i, j)))));
}

NativeGuarantee native_guarantee(const RealProduct& product, const Matrices& matrices,
                                 const std::optional<OuterRanges>& outer) {
  if (!of_one_format(product)) return {factor_upper(product), 0, "native GEMMs take matrices of one format"};
  const auto c0 = product.beta == 0 ? ExponentRange{} : matrices.exponent_range(product.c0);
  if (outer) {  // wider ranges find more that may go wrong; if they find nothing, nor do the ranges themselves
    auto guarantee = native_guarantee(product, outer->a, outer->b, c0);
    if (guarantee.obstacle.empty() && guarantee.underflow == 0) return guarantee;
  }
  return native_guarantee(product, matrices.exponent_range(product.a, Side::rows_of_a),
                          matrices.exponent_range(product.b, Side::columns_of_b), c0);
}

NativeGuarantee native_guarantee(const NativeGemm& native, const RealProduct& product, const Matrices& matrices,
                                 const std::optional<OuterRanges>& outer) {
  auto guarantee = native_guarantee(product, matrices, outer);
  if (!native.is_conventional()) guarantee.obstacle = "the native library is not known to sum conventionally";
  return guarantee;
}

NativeGuarantee native_guarantee(const RealProduct& product, const ExponentRange& rows, const ExponentRange& columns,
                                 const ExponentRange& c0) {
  NativeGuarantee guarantee;
  const Index k = product.k();
  guarantee.factor = factor_upper(product);
  guarantee.obstacle = obstacle(rows, columns, c0, k, product);
  if (may_underflow(rows, columns, c0, product)) guarantee.underflow = underflow_upper(k, product.alpha, product.c.format());
  return guarantee;
}

std::optional<ExponentRange> native_range(const NativeGemm& native, Index k, const Target& target) {
  const auto c = unwritten(1, 1, binary64, {});
  const RealProduct any{unread(1, k), unread(k, 1), c};
  const auto certifies = [&](int least, int top) {  // sums of the operands' exponents
    return native.is_conventional() && native_certifies(native_guarantee(any, {least, top}, {0, 0}, {}), target, k, any);
  };
  if (!certifies(0, 0)) return std::nullopt;
  // The numbers that certify are those up to some number, and from some number on.
  const auto farthest = [](int good, int bad, const auto& holds) {
    while (bad - good > 1 || good - bad > 1) {
      const int middle = (good + bad) / 2;
      (holds(middle) ? good : bad) = middle;
    }
    return good;
  };
  constexpr int beyond = 5000;  // sums of two exponents are smaller
  const auto from_least = [&](int least) { return certifies(least, 0); };
  const auto up_to_top = [&](int top) { return certifies(0, top); };
  return ExponentRange{from_least(-beyond) ? -beyond : farthest(0, -beyond, from_least), farthest(0, beyond, up_to_top)};
}

bool native_exceeds(const NativeGuarantee& guarantee, const Target& target, double tau) {
  // The target `dgemm` equals the guarantee. Both are rounded to doubles, in different directions, so a comparison could fail
  // by one bit. The errors of the k + 2 roundings lie below either of the two.
  return target.kind != Target::Kind::dgemm && guarantee.factor > tau;
}

bool native_certifies(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product) {
  using Kind = Target::Kind;
  if (!guarantee.obstacle.empty() || target.kind == Kind::correctly_rounded || target.kind == Kind::relative) return false;
  const auto& format = product.c.format();
  const bool with_scalars = has_scalars(product.alpha, product.beta);
  // `dgemm` allows k eta/2 of underflow, the largest loss of the k products of +-AB.
  const bool allowed = target.kind == Kind::dgemm && !with_scalars && k <= longest_with_underflow(format);
  if (guarantee.underflow > 0 && !allowed) return false;
  return !native_exceeds(guarantee, target, target_tau(target, k, format, with_scalars));
}

std::string native_refusal(const NativeGuarantee& guarantee, const Target& target, Index k, const RealProduct& product) {
  using Kind = Target::Kind;
  if (!guarantee.obstacle.empty()) return guarantee.obstacle;
  if (target.kind == Kind::correctly_rounded || target.kind == Kind::relative) return "it guarantees nothing relative to |C|";
  const bool with_scalars = has_scalars(product.alpha, product.beta);
  const double tau = target_tau(target, k, product.c.format(), with_scalars);
  const char* const measure = with_scalars ? " (|alpha||A||B| + |beta||C0|)" : " |A||B|";
  if (native_exceeds(guarantee, target, tau))
    return "it may be wrong by " + decimal(guarantee.factor) + measure + ", and the target allows " + decimal(tau);
  return "underflow may cost " + decimal(guarantee.underflow) + ", and the target allows " +
         (target.kind == Kind::dgemm ? "k eta/2" : "eta/2");
}

ErrorBound native_error_bound(const RealProduct& product, bool complex, const NativeGuarantee& guarantee,
                              const Engine& engine) {
  const Slicing one{Encoding::balanced(), 1};
  const auto rows = engine.measure(product.a, Side::rows_of_a, one).vectors;
  const auto columns = engine.measure(product.b, Side::columns_of_b, one).vectors;
  const bool with_c0 = product.beta != 0;
  ErrorBound bound;
  bound.source = with_c0                         ? "gamma_{k+3} (|alpha||A||B| + |beta||C0|), |beta||C0| <= |C| + |alpha||A||B|"
                 : has_scalars(product.alpha, 0) ? "gamma_{k+3} |alpha||A||B|"
                                                 : "k u |A||B| (Jeannerod, Rump)";
  const auto name = "the native " + gemm_name(product.c.format(), complex);
  bound.assumptions = {
      name + " sums conventionally: each " + (complex ? "part of an entry is a sum of its 2k" : "entry is a sum of its k") +
          " products in some order, each product and each addition rounded once, or the two at once (FMA)",
      name + " rounds to nearest, and underflow is gradual", name + " multiplies sums by alpha, or elements of one operand",
      name + " uses neither Strassen's algorithm, nor another with fewer multiplications, nor an emulation of FP64"};
  const double share = divide_upper(guarantee.factor, subtract_lower(1, guarantee.factor));
  bound.product = summation_upper(rows, columns, with_c0 ? 2 * share : guarantee.factor);
  for (const auto& facts : rows) bound.row_exponents.push_back(facts.scale.exponent);
  for (const auto& facts : columns) bound.column_exponents.push_back(facts.scale.exponent);
  bound.alpha = product.alpha;
  bound.result_factor = with_c0 ? share : 0;
  // The bound on |C^ - C| uses |C^| in place of |C|, so that the underflow grows by the same share.
  bound.underflow = with_c0 ? 2 * guarantee.underflow : guarantee.underflow;
  if (!guarantee.obstacle.empty()) bound.underflow = std::numeric_limits<double>::infinity();
  bound.rounded_once = false;
  return bound;
}

}  // namespace ozbound
