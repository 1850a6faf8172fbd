// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/abdelfattah_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "covered.hpp"
#include "gamma.hpp"
#include "ozbound/bounds/detail/wide_range_double.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using Kind = Encoding::Kind;

bool truncated(const Encoding& encoding) { return encoding.kind == Kind::truncated; }
bool nearest(const Encoding& encoding) { return encoding.kind == Kind::nearest || encoding.kind == Kind::nearest_adaptive; }

/// An upper limit of sum |A_p| over |A|.
double magnitude_factor(const Encoding& encoding) { return nearest(encoding) ? 3 : 1; }

/// Bits of the smallest and the largest non-zero magnitude of a vector; unset if the vector has no such magnitude, or holds a
/// special.
struct Extremes {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t largest = 0;
};

Extremes extremes_of(InputView vectors, Index i) {
  Extremes extremes;
  for (Index l = 0; l < vectors.cols(); ++l) {
    const auto bits = vectors.bits(i, l) & ~binary64.sign;  // ordered like magnitudes
    if (!is_finite(bits, binary64)) return {};
    if (bits == 0) continue;
    extremes.least = std::min(extremes.least, bits);
    extremes.largest = std::max(extremes.largest, bits);
  }
  return extremes;
}

/// x with its significand in [1/2, 1), or 0.
WideRangeDouble normalized(WideRangeDouble x) {
  int shift = 0;
  const double significand = std::frexp(x.significand, &shift);
  return {significand, significand == 0 ? std::numeric_limits<std::int64_t>::min() : x.exponent + shift};
}

/// largest / least, rounded up.
WideRangeDouble ratio_upper(const Extremes& extremes) {
  if (extremes.largest == 0) return {};
  const auto largest = WideRangeDouble::magnitude(double_from_bits(extremes.largest));
  const auto least = WideRangeDouble::magnitude(double_from_bits(extremes.least));
  if (extremes.largest == extremes.least) return {1, 0};
  return {divide_upper(largest.significand, least.significand), largest.exponent - least.exponent};
}

/// kappa 2^(-beta s) of one operand.
WideRangeDouble times_residual(WideRangeDouble kappa, const Slicing& slicing) {
  return kappa.times_power_of_two(-std::int64_t{slicing.encoding.beta} * slicing.slices);
}

}  // namespace

WideRangeDouble kappa_upper(InputView operand, Side side) {
  const FloatEnvironment environment;
  const auto vectors = vectors_of(operand, side);
  WideRangeDouble largest;
  const auto key = [](WideRangeDouble x) { return std::pair(normalized(x).exponent, normalized(x).significand); };
  for (Index i = 0; i < vectors.rows(); ++i) {
    const auto ratio = ratio_upper(extremes_of(vectors, i));
    if (key(largest) < key(ratio)) largest = ratio;
  }
  return largest.times_power_of_two(1);
}

bool abdelfattah_covers(const SplitPlan& plan) {
  const auto covered = [](const Encoding& encoding) { return truncated(encoding) || nearest(encoding); };
  return plan.cut == plan.a.slices + plan.b.slices && covered(plan.a.encoding) && covered(plan.b.encoding);
}

double abdelfattah_truncation_upper(const SplitPlan& plan, WideRangeDouble kappa_a, WideRangeDouble kappa_b) {
  require_covered(abdelfattah_covers(plan), "abdelfattah-truncation", plan);
  const FloatEnvironment environment;
  const auto a = times_residual(kappa_a, plan.a);
  const auto b = times_residual(kappa_b, plan.b);
  return add_upper(add_upper(a.upper(), b.upper()), WideRangeDouble::product_upper(a, b).upper());
}

double abdelfattah_upper(const SplitPlan& plan, WideRangeDouble kappa_a, WideRangeDouble kappa_b) {
  require_covered(abdelfattah_covers(plan), "abdelfattah", plan);
  const FloatEnvironment environment;
  const double truncation = abdelfattah_truncation_upper(plan, kappa_a, kappa_b);
  const double gamma = gamma_upper(Index{plan.a.slices} * plan.b.slices - 1);
  const double factor = magnitude_factor(plan.a.encoding) * magnitude_factor(plan.b.encoding);
  return add_upper(truncation, multiply_upper(multiply_upper(factor, gamma), add_upper(1, truncation)));
}

}  // namespace ozbound
