// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/abdelfattah_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "covered.hpp"
#include "gamma.hpp"
#include "ozbound/bounds/detail/scaled.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using Kind = Encoding::Kind;

bool truncated(const Encoding& encoding) { return encoding.kind == Kind::truncated; }
bool nearest(const Encoding& encoding) { return encoding.kind == Kind::nearest || encoding.kind == Kind::nearest_adaptive; }

/// sum |A_p| over |A|, at most.
double magnitude_factor(const Encoding& encoding) { return nearest(encoding) ? 3 : 1; }

/// Bits of the least and the largest non-zero magnitude of a vector; none where it has none, or a special.
struct Extremes {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t largest = 0;
};

Extremes extremes_of(InputView vectors, Index i) {
  Extremes extremes;
  for (Index l = 0; l < vectors.cols(); ++l) {
    const auto bits = vectors.bits(i, l) & ~binary64.sign;  // ordered as magnitudes are
    if (!is_finite(bits, binary64)) return {};
    if (bits == 0) continue;
    extremes.least = std::min(extremes.least, bits);
    extremes.largest = std::max(extremes.largest, bits);
  }
  return extremes;
}

/// Significand in [1/2, 1), or 0.
Scaled normalized(Scaled x) {
  int shift = 0;
  const double significand = std::frexp(x.significand, &shift);
  return {significand, significand == 0 ? std::numeric_limits<std::int64_t>::min() : x.exponent + shift};
}

/// largest / least, from above.
Scaled ratio_upper(const Extremes& extremes) {
  if (extremes.largest == 0) return {};
  const auto largest = Scaled::magnitude(double_from_bits(extremes.largest));
  const auto least = Scaled::magnitude(double_from_bits(extremes.least));
  if (extremes.largest == extremes.least) return {1, 0};
  return {divide_upper(largest.significand, least.significand), largest.exponent - least.exponent};
}

/// kappa 2^(-beta s) of one operand.
Scaled times_residual(Scaled kappa, const Slicing& slicing) {
  return kappa.times_power_of_two(-std::int64_t{slicing.encoding.beta} * slicing.slices);
}

}  // namespace

Scaled kappa_upper(InputView operand, Side side) {
  const FloatEnvironment environment;
  const auto vectors = vectors_of(operand, side);
  Scaled largest;
  const auto key = [](Scaled x) { return std::pair(normalized(x).exponent, normalized(x).significand); };
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

double abdelfattah_truncation_upper(const SplitPlan& plan, Scaled kappa_a, Scaled kappa_b) {
  require_covered(abdelfattah_covers(plan), "abdelfattah-truncation", plan);
  const FloatEnvironment environment;
  const auto a = times_residual(kappa_a, plan.a);
  const auto b = times_residual(kappa_b, plan.b);
  return add_upper(add_upper(a.upper(), b.upper()), Scaled::product_upper(a, b).upper());
}

double abdelfattah_upper(const SplitPlan& plan, Scaled kappa_a, Scaled kappa_b) {
  require_covered(abdelfattah_covers(plan), "abdelfattah", plan);
  const FloatEnvironment environment;
  const double truncation = abdelfattah_truncation_upper(plan, kappa_a, kappa_b);
  const double gamma = gamma_upper(Index{plan.a.slices} * plan.b.slices - 1);
  const double factor = magnitude_factor(plan.a.encoding) * magnitude_factor(plan.b.encoding);
  return add_upper(truncation, multiply_upper(multiply_upper(factor, gamma), add_upper(1, truncation)));
}

}  // namespace ozbound
