// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/detail/combine.hpp"

namespace ozbound {

/// The components of alpha and beta, all finite, and C's format. [0] is the real part.
struct ComplexScalars {
  Dyadic alpha[2];
  Dyadic beta[2];
  Format format;
};

/// The four terms of a component of C: two products times alpha's parts, and C0's parts times beta's.
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
  ComplexTerms<Limbs + 1> terms{{times(product[own], scalars.alpha[0]), times(product[other], scalars.alpha[1])},
                                {times(widen(c0[own]), scalars.beta[0]), times(widen(c0[other]), scalars.beta[1])}};
  if (of == Part::real) {
    terms.product[1].negative = !terms.product[1].negative;
    terms.c0[1].negative = !terms.c0[1].negative;
  }
  return terms;
}

/// Exponents of the lowest bit and of the bit above the highest one of some non-zero numbers.
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

/// The exact sum of the terms. @pre Limbs limbs hold each term and 64 bits below it, with 6 bits to spare: the sum is below
/// 2^(64 Limbs - 4).
template <int Limbs, int ProductLimbs>
constexpr GridSum<Limbs> grid_sum(const ComplexTerms<ProductLimbs>& terms, int low) {
  WideInteger<Limbs> sums[2];  // of the positive and of the negative terms
  const int base = low - 64;   // unit to which an error bound is rounded up
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

/// A number in units of 2^base, rounded up. Larger numbers become 2^(64 Limbs - 4), which no sum reaches.
template <int Limbs, int From>
constexpr WideInteger<Limbs> units_upper(const WideDyadic<From>& x, int base) {
  const int shift = x.exponent - base, bits = x.magnitude.bits();
  if (bits == 0) return {};
  auto units = shifted<Limbs>(shift + bits > 64 * Limbs - 4 ? WideInteger<From>{} : x.magnitude, shift);
  if (shift + bits > 64 * Limbs - 4) units.add(1, 64 * Limbs - 4);
  if (x.magnitude.any_below(-shift)) units.add(1, 0);
  return units;
}

/// Upper bounds of the errors of the two products' terms; zero: exact.
using ComplexErrors = std::array<WideDyadic<2>, 2>;

/// The sum of the terms, rounded once. Decided if every number within the errors rounds to the same bits.
template <int Limbs, int ProductLimbs>
constexpr Rounded round_terms(const ComplexTerms<ProductLimbs>& terms, int low, const ComplexErrors& errors, Format format) {
  const auto sum = grid_sum<Limbs>(terms, low);
  WideDyadic<Limbs> radius{{}, sum.exponent, false};
  for (const auto& error : errors) radius.magnitude.add(units_upper<Limbs>(error, sum.exponent));
  return sum.round_enclosed(radius, format);
}

/// Limbs for terms of any exponents. Both products of an entry have one scale 2^S, -2148 <= S <= 2048. An FP64 total reaches
/// down to 2^(S - 1074), further than digits do. Times alpha the products lie in 2^(S - 2148) ... 2^(S + 1088), C0's terms in
/// 2^-2148 ... 2^2048: together at most 6344 bits. Superaccumulators times alpha take 6354 bits, from 2^-3222 to 2^3132.
inline constexpr int most_complex_limbs = 108;
inline constexpr int usual_complex_limbs = 16;

template <int ProductLimbs>
constexpr Rounded round_terms(const ComplexTerms<ProductLimbs>& terms, const ComplexErrors& errors, Format format) {
  BitRange range;
  for (const auto& term : terms.product) range.take(term);
  for (const auto& term : terms.c0) range.take(term);
  if (range.high - range.low <= 64 * (usual_complex_limbs - 1) - 6)
    return round_terms<usual_complex_limbs>(terms, range.low, errors, format);
  return round_terms<most_complex_limbs>(terms, range.low, errors, format);
}

/// The integer sums of the parts of an entry of A B, as `combine` reads them, and bounds of their errors relative to 2^scale.
struct ComplexSums {
  const std::int64_t* parts[2];
  Index stride;
  double errors[2] = {0, 0};  ///< >= 0; +Inf: unknown
};

/// A component of C from its integer sums: rounded once, and decided as by `combine`.
constexpr Rounded combine_complex(const ComplexSums& sums, const SumLayout& layout, int scale, const ComplexScalars& scalars,
                                  const std::array<Dyadic, 2>& c0, Part of) {
  const std::size_t own = of == Part::real ? 0 : 1, met[] = {own, 1 - own};
  WideDyadic<diagonal_limbs> product[2];
  ComplexErrors errors{};
  bool known = true;
  for (std::size_t t = 0; t < 2; ++t) {
    product[t] = sum_groups<diagonal_limbs>(sums.parts[t], sums.stride, layout, scale);
    const double error = sums.errors[met[t]];
    const bool counts = scalars.alpha[t].magnitude != 0;
    known = known && (!counts || is_finite(bits_of(error), binary64));
    if (!counts || !known) continue;
    errors[t] = times(widen(to_dyadic(error)), scalars.alpha[t]);
    errors[t].exponent += scale;
  }
  const auto rounded = round_terms(complex_terms(product, c0, scalars, of), errors, scalars.format);
  return {rounded.bits, known && rounded.decided};
}

}  // namespace ozbound
