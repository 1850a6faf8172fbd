// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/detail/exact_sum.hpp"
#include "ozbound/core/detail/wide_integer.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/host_device.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound {

/// The integer sums of one entry as combine reads them: their number, order and weights. An encoding without a common ratio has
/// weights of its own for each entry.
struct SumLayout {
  static constexpr int max_groups = max_slices * max_slices;

  Accumulation accumulation;
  int count;
  int radix_bits;
  std::int16_t weight_exponent[max_groups];  ///< of group t, relative to rho_i sigma_j
};

/// The layout of plan.groups(k). @pre plan is valid.
SumLayout sum_layout(const SplitPlan& plan, Index k);

/// Largest |sum| of a group for which combine is exact: 2^62, or 2^53 if the sum becomes an FP64 term.
constexpr std::int64_t max_group_sum(Accumulation accumulation) {
  return std::int64_t{1} << (accumulation == Accumulation::exact ? 62 : 53);
}

/// Limbs of an exact sum of diagonals. diagonal_limbs hold any sum: 8 * 38 bits of tail and 63 of head, below 6 * 64.
/// few_diagonal_limbs suffice for most plans, whose tail has at most 64 bits.
inline constexpr int diagonal_limbs = 6, few_diagonal_limbs = 2;
OZB_HD constexpr bool few_limbs_hold(int count, int radix_bits) { return radix_bits * (count - 1) <= 64; }

/// head * 2^shift + tail, in units of 1. @pre tail < 2^shift, and Limbs limbs hold the sum.
template <int Limbs>
OZB_HD constexpr WideDyadic<Limbs> head_and_tail(std::int64_t head, int shift, const WideInteger<Limbs>& tail) {
  const bool negative = head < 0;
  WideInteger<Limbs> magnitude;
  magnitude.add(negative ? -static_cast<std::uint64_t>(head) : static_cast<std::uint64_t>(head), shift);
  if (negative)
    magnitude.subtract(tail);
  else
    magnitude.add(tail);
  return {magnitude, 0, negative};
}

/// sum_g D_g 2^(radix (G - g)) by the carry chain, docs/derivations/slicing.md (S6). From the least significant diagonal up,
/// the low bits of the running sum are final and the rest is carried into the next diagonal. sums[t * stride] is diagonal 2 +
/// t.
/// @pre Limbs limbs hold the result.
template <int Limbs = diagonal_limbs>
OZB_HD constexpr WideDyadic<Limbs> chain_diagonals(const std::int64_t* sums, Index stride, int count, int radix_bits) {
  WideInteger<Limbs> tail;
  const auto mask = (std::uint64_t{1} << radix_bits) - 1;
  std::int64_t carry = 0;
  for (int t = count - 1; t > 0; --t) {
    carry += sums[t * stride];
    tail.add(static_cast<std::uint64_t>(carry) & mask, radix_bits * (count - 1 - t));
    carry >>= radix_bits;
  }
  return head_and_tail(carry + sums[0], radix_bits * (count - 1), tail);
}

/// 2^exponent for a normal exponent, assembled from bits.
OZB_HD constexpr double power_of_two(int exponent) {
  return double_from_bits(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// sum * 2^exponent, rounded once if it falls below the normal range. @pre |sum| <= 2^53, exponent <= 1023 - 53.
OZB_HD constexpr double scaled_term(std::int64_t sum, int exponent) {
  const auto term = static_cast<double>(sum);
  if (exponent >= -1022) return term * power_of_two(exponent);
  if (exponent < -2044) return 0;
  return term * power_of_two(exponent + 1022) * power_of_two(-1022);  // the first product is exact
}

/// The published orders of accumulation: one FP64 addition per group, in the order of the layout. Terms are relative to rho_i
/// sigma_j, so that terms of a common ratio stay in the normal range and are exact. @pre the FP environment rounds to nearest
/// and keeps subnormals.
OZB_HD constexpr double accumulate_groups(const std::int64_t* sums, Index stride, const SumLayout& layout) {
  double total = 0;
  for (int t = 0; t < layout.count; ++t) total += scaled_term(sums[t * stride], layout.weight_exponent[t]);
  return total;
}

OZB_HD constexpr WideDyadic<1> widen(Dyadic x) { return {{{x.magnitude}}, x.exponent, x.negative}; }

template <int Limbs>
OZB_HD constexpr WideDyadic<Limbs + 1> times(const WideDyadic<Limbs>& x, Dyadic factor) {
  return {multiply(x.magnitude, factor.magnitude), x.exponent + factor.exponent, x.negative != factor.negative};
}

/// The scalars of C = alpha A B + beta C0, both finite, and C's format.
struct Scalars {
  Dyadic alpha;
  Dyadic beta;
  Format format;
};

/// alpha sum + beta c0, rounded once, with an error bound relative to 2^scale; see combine.
template <int Limbs>
OZB_HD constexpr Rounded round_sum(const WideDyadic<Limbs>& sum, int scale, const Scalars& scalars, Dyadic c0, double error) {
  const auto grid = GridSum<Limbs + 2>::of(times(sum, scalars.alpha), times(widen(c0), scalars.beta));
  if (!is_finite(bits_of(error), binary64)) return {grid.round(scalars.format), scalars.alpha.magnitude == 0};
  const auto radius = to_dyadic(error);  // compared as bits: a subnormal bound is no zero, even under flush-to-zero
  if (radius.magnitude == 0) return {grid.round(scalars.format), true};
  return grid.round_enclosed(times(WideDyadic<1>{{{radius.magnitude}}, radius.exponent + scale, false}, scalars.alpha),
                             scalars.format);
}

/// combine, starting from the exact sum in few_diagonal_limbs or diagonal_limbs limbs.
template <int Limbs>
OZB_HD constexpr Rounded combine_sum(const WideDyadic<Limbs>& sum, int scale, const Scalars& scalars, Dyadic c0, double error) {
  const auto rounded = round_sum(sum, scale, scalars, c0, error);
  if (Limbs == diagonal_limbs || rounded.decided) return rounded;
  // The error is rounded up to the grid. A longer grid may therefore decide an entry that a short one leaves open.
  const WideDyadic<diagonal_limbs> longer{shifted<diagonal_limbs>(sum.magnitude, 0), sum.exponent, sum.negative};
  return round_sum(longer, scale, scalars, c0, error);
}

/// S of one entry from its integer sums: exact, or rounded as the published orders round it. `scale` is the exponent of rho_i
/// sigma_j.
/// @pre Limbs limbs hold S.
template <int Limbs>
OZB_HD constexpr WideDyadic<Limbs> sum_groups(const std::int64_t* sums, Index stride, const SumLayout& layout, int scale) {
  WideDyadic<Limbs> sum;
  if (layout.accumulation == Accumulation::exact) {
    sum = chain_diagonals<Limbs>(sums, stride, layout.count, layout.radix_bits);
    sum.exponent = scale + layout.weight_exponent[layout.count - 1];
  } else {
    const auto total = to_dyadic(accumulate_groups(sums, stride, layout));
    sum = {{{total.magnitude}}, scale + total.exponent, total.negative};
  }
  return sum;
}

/// One entry of C from its integer sums: alpha S + beta c0 on one grid, rounded once; docs/derivations/slicing.md (S7).
///
/// `scale` is the exponent of rho_i sigma_j. `error` >= 0 bounds |AB - S| relative to rho_i sigma_j. Ziv's test on bits decides
/// with it whether C is known to be correctly rounded. With 0 the result is always decided; with +Inf it is decided only if
/// alpha is 0.
OZB_HD constexpr Rounded combine(const std::int64_t* sums, Index stride, const SumLayout& layout, int scale,
                                 const Scalars& scalars, Dyadic c0, double error) {
  if (layout.accumulation != Accumulation::exact || few_limbs_hold(layout.count, layout.radix_bits))
    return combine_sum(sum_groups<few_diagonal_limbs>(sums, stride, layout, scale), scale, scalars, c0, error);
  return combine_sum(sum_groups<diagonal_limbs>(sums, stride, layout, scale), scale, scalars, c0, error);
}

}  // namespace ozbound
