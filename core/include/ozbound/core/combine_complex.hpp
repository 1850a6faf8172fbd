#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ozbound/core/combine.hpp"
#include "ozbound/core/complex_views.hpp"

namespace ozbound {

/// alpha and beta by component, all finite, and C's format. [0] is the real part.
struct ComplexScalars {
  Dyadic alpha[2];
  Dyadic beta[2];
  Format format;
};

/// Four numbers that are added: of two products by alpha's parts and of C0's parts by beta's.
template <int ProductLimbs>
struct ComplexTerms {
  WideDyadic<ProductLimbs> product[2];
  WideDyadic<2> c0[2];
};

/// The terms of a component of C, from the exact parts of A B and of C0.
template <int Limbs>
constexpr ComplexTerms<Limbs + 1> complex_terms(const WideDyadic<Limbs> (&product)[2], const std::array<Dyadic, 2>& c0,
                                                const ComplexScalars& scalars, Part of) {
  const std::size_t own = of == Part::real ? 0 : 1, other = 1 - own;
  ComplexTerms<Limbs + 1> terms{{scaled(product[own], scalars.alpha[0]), scaled(product[other], scalars.alpha[1])},
                                {scaled(widen(c0[own]), scalars.beta[0]), scaled(widen(c0[other]), scalars.beta[1])}};
  if (of == Part::real) {
    terms.product[1].negative = !terms.product[1].negative;
    terms.c0[1].negative = !terms.c0[1].negative;
  }
  return terms;
}

/// Exponents of the last bit and of the bit above the first, of some non-zero numbers.
struct BitRange {
  int low = 0, high = 0;

  template <int Limbs>
  constexpr void take(const WideDyadic<Limbs>& x) {
    const int bits = x.magnitude.bits();
    if (bits == 0) return;
    const bool first = low == high;
    low = first || x.exponent < low ? x.exponent : low;
    high = first || x.exponent + bits > high ? x.exponent + bits : high;
  }
};

/// The exact sum of the terms. @pre Limbs hold it and 64 bits below, with 4 to spare.
template <int Limbs, int ProductLimbs>
constexpr GridSum<Limbs> grid_sum(const ComplexTerms<ProductLimbs>& terms, int low) {
  WideInteger<Limbs> sums[2];  // of positive and of negative terms
  const int base = low - 64;   // where an error bound is rounded up to
  const auto add = [&](const auto& term) {
    sums[term.negative ? 1 : 0].add(shifted<Limbs>(term.magnitude, term.exponent - base));
  };
  for (const auto& term : terms.product) add(term);
  for (const auto& term : terms.c0) add(term);
  const bool negative = sums[0].less_than(sums[1]);
  auto magnitude = sums[negative ? 1 : 0];
  magnitude.subtract(sums[negative ? 0 : 1]);
  return {magnitude, base, negative, false};
}

/// The sum of the terms rounded once, under an error bound >= 0 relative to 2^scale; decided as by `combine`.
template <int Limbs, int ProductLimbs>
constexpr Rounded round_terms(const ComplexTerms<ProductLimbs>& terms, int low, double error, int scale, Format format) {
  const auto sum = grid_sum<Limbs>(terms, low);
  if (!is_finite(bits_of(error), binary64)) return {sum.round(format), false};
  const auto radius = to_dyadic(error);
  return sum.round_enclosed(WideDyadic<1>{{{radius.magnitude}}, radius.exponent + scale, false}, format);
}

/// Limbs for terms of any exponents: from 2^(-2 * 1074 - 1074 - 320), the last bit of a product's last digits by alpha, to
/// 2^(2 * 1024 + 63 + 1024), and 64 bits below.
inline constexpr int most_complex_limbs = 108;
inline constexpr int usual_complex_limbs = 16;

template <int ProductLimbs>
constexpr Rounded round_terms(const ComplexTerms<ProductLimbs>& terms, double error, int scale, Format format) {
  BitRange range;
  for (const auto& term : terms.product) range.take(term);
  for (const auto& term : terms.c0) range.take(term);
  if (range.high - range.low <= 64 * (usual_complex_limbs - 1) - 4)
    return round_terms<usual_complex_limbs>(terms, range.low, error, scale, format);
  return round_terms<most_complex_limbs>(terms, range.low, error, scale, format);
}

/// A component of C from its integer sums: those of the real and of the imaginary part of A B, as `combine` takes them.
/// `error` bounds the terms of A B, alpha included, relative to 2^scale; +Inf: never decided.
constexpr Rounded combine_complex(const std::int64_t* real_sums, const std::int64_t* imaginary_sums, Index stride,
                                  const SumLayout& layout, int scale, const ComplexScalars& scalars,
                                  const std::array<Dyadic, 2>& c0, double error, Part of) {
  const std::int64_t* const sums[] = {real_sums, imaginary_sums};
  WideDyadic<diagonal_limbs> product[2];
  for (int part = 0; part < 2; ++part) product[part] = sum_groups<diagonal_limbs>(sums[part], stride, layout, scale);
  return round_terms(complex_terms(product, c0, scalars, of), error, scale, scalars.format);
}

}  // namespace ozbound
