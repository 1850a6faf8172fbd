// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "properties/case_product.hpp"
#include "properties/exact_number.hpp"

// The results of a plan from an engine's digits, by definition and in plain loops. Scales and weights follow
// docs/derivations/slicing.md.

namespace ozbound::properties {

using exact_arithmetic::Exact;

/// The exponent e of rho = 2^e for a vector whose largest magnitude is `top`.
inline int scale_exponent(const Encoding& encoding, const Exact& top) {
  if (top.is_zero()) return 0;
  const int ufp = top.top_exponent();
  switch (encoding.kind) {
    case Encoding::Kind::truncated:
    case Encoding::Kind::ozimmu:
    case Encoding::Kind::unsigned8: return ufp + 1;
    case Encoding::Kind::nearest:
    case Encoding::Kind::nearest_adaptive: return top == exact_arithmetic::power_of_two_exact(ufp) ? ufp : ufp + 1;
    case Encoding::Kind::balanced: return top < Exact{0x1FD, ufp - 8} ? ufp + 1 : ufp + 2;
  }
  return 0;
}

/// True if digits are bits of the magnitude and the rest is cut off.
inline bool cuts_bits(const Encoding& encoding) {
  return encoding.kind == Encoding::Kind::truncated || encoding.kind == Encoding::Kind::ozimmu;
}

/// Exponent of the weight of digit p, relative to rho; for nearest_adaptive the largest possible one.
inline int weight_exponent(const Encoding& encoding, int p) {
  return (encoding.kind == Encoding::Kind::truncated ? 0 : 1) - encoding.beta * p;
}

/// The digits of x at a scale: bits of the magnitude; or the rest, rounded digit by digit, to nearest or down; or the digits
/// from -128 to 127 of x rounded once to units of the last digit (docs/derivations/slicing.md, S1 to S3, S8).
inline std::vector<int> digits_by_definition(const Exact& x, const Slicing& slicing, int scale,
                                             const std::vector<int>* weights = nullptr) {
  const auto weight = [&](int p) {
    return scale + (weights == nullptr ? weight_exponent(slicing.encoding, p) : (*weights)[static_cast<std::size_t>(p - 1)]);
  };
  std::vector<int> digits(static_cast<std::size_t>(slicing.slices));
  if (slicing.encoding.kind == Encoding::Kind::balanced) {
    auto n = exact_arithmetic::nearest_in_units(x, weight(slicing.slices));
    for (auto p = digits.size() - 1; p > 0; --p) {
      digits[p] = static_cast<int>(exact_arithmetic::cpp_int((n % 256 + 256 + 128) % 256)) - 128;
      n = (n - digits[p]) / 256;
    }
    digits[0] = static_cast<int>(n);
    return digits;
  }
  auto rest = x;
  for (int p = 1; p <= slicing.slices; ++p) {
    const bool floors = slicing.encoding.kind == Encoding::Kind::unsigned8;
    const auto digit = floors                        ? exact_arithmetic::floor_in_units(rest, weight(p))
                       : cuts_bits(slicing.encoding) ? exact_arithmetic::truncate_in_units(rest, weight(p))
                                                     : exact_arithmetic::nearest_in_units(rest, weight(p));
    digits[static_cast<std::size_t>(p - 1)] = static_cast<int>(digit);
    rest = rest - Exact{digit, weight(p)};
  }
  return digits;
}

/// Exponents of the weights of a vector's digits, relative to rho. For nearest_adaptive they follow the largest tail, which is
/// at most 2^(beta - 1) weights and above half of that. If all tails are zero, the exponent is beta below the previous one.
inline std::vector<int> weights_by_definition(const std::vector<Exact>& vector, const Slicing& slicing, int scale) {
  std::vector<int> weights;
  auto tails = vector;
  for (int p = 1; p <= slicing.slices; ++p) {
    int weight = weight_exponent(slicing.encoding, p);
    if (!slicing.encoding.common_ratio()) {
      Exact top;
      for (const auto& x : tails) top = std::max(top, x.magnitude());
      weight = scale_exponent(Encoding::nearest(1), top) - scale + 1 - slicing.encoding.beta;
      if (top.is_zero()) weight = (p == 1 ? 1 : weights.back()) - slicing.encoding.beta;
      for (auto& x : tails) x = x - Exact{exact_arithmetic::nearest_in_units(x, scale + weight), scale + weight};
    }
    weights.push_back(weight);
  }
  return weights;
}

struct SlicePair {
  int p, q;
};

/// Largest |digit|.
inline Index largest_digit(const Encoding& encoding) {
  const bool all_bits = cuts_bits(encoding) || encoding.kind == Encoding::Kind::unsigned8;
  return all_bits ? (Index{1} << encoding.beta) - 1 : Index{1} << (encoding.beta - 1);
}

/// The pairs of every integer product at inner dimension k, in the order of accumulation. For per_diagonal, groups have as many
/// pairs as INT32 sums without error, but at least one.
inline std::vector<std::vector<SlicePair>> groups_by_definition(const SplitPlan& plan, Index k) {
  std::vector<std::vector<SlicePair>> groups;
  if (plan.accumulation == Accumulation::per_product) {
    for (int p = 1; p <= plan.a.slices; ++p)
      for (int q = 1; q <= plan.b.slices && p + q <= plan.cut; ++q) groups.push_back({{p, q}});
    return groups;
  }
  const auto largest = exact_arithmetic::cpp_int(k) * largest_digit(plan.a.encoding) * largest_digit(plan.b.encoding);
  for (int g = 2; g <= plan.cut; ++g) {
    groups.emplace_back();
    for (int p = 1; p <= plan.a.slices; ++p) {
      if (g - p < 1 || g - p > plan.b.slices) continue;
      const bool full = !groups.back().empty() && largest * (groups.back().size() + 1) > 0x7fffffff;
      if (plan.accumulation == Accumulation::per_diagonal && full) groups.emplace_back();
      groups.back().push_back({p, g - p});
    }
  }
  return groups;
}

/// Both operands of a case, sliced by an engine.
class SlicedPair {
 public:
  SlicedPair(const CaseMemory& memory, const SplitPlan& plan, const Engine& engine)
      : SlicedPair(memory.a.input(), memory.b.input(), plan, engine) {}
  SlicedPair(InputView a, InputView b, const SplitPlan& plan, const Engine& engine)
      : plan_(plan), a_(engine.slice(a, Side::rows_of_a, plan.a)), b_(engine.slice(b, Side::columns_of_b, plan.b)) {}

  [[nodiscard]] const SlicedMatrix& a() const { return a_; }
  [[nodiscard]] const SlicedMatrix& b() const { return b_; }

  /// e of rho_i sigma_j = 2^e.
  [[nodiscard]] int scale(Index i, Index j) const { return a_.exponent(i) + b_.exponent(j); }

  /// The sum of the products of two slices: below 2^16 k in magnitude.
  [[nodiscard]] std::int64_t pair_sum(Index i, Index j, SlicePair pair) const {
    std::int64_t sum = 0;
    for (Index l = 0; l < a_.inner_dimension(); ++l) sum += a_.digit(i, pair.p, l) * b_.digit(j, pair.q, l);
    return sum;
  }

  [[nodiscard]] std::int64_t group_sum(Index i, Index j, const std::vector<SlicePair>& group) const {
    std::int64_t sum = 0;
    for (const auto& pair : group) sum += pair_sum(i, j, pair);
    return sum;
  }

  /// The exact sum of the plan's slice products, relative to rho_i sigma_j.
  [[nodiscard]] Exact exact_sum(Index i, Index j) const {
    Exact total;
    for (const auto& group : groups_by_definition(plan_, a_.inner_dimension()))
      for (const auto& pair : group) total = total + Exact{pair_sum(i, j, pair), weight(i, j, pair)};
    return total;
  }

  /// The sum by the plan's accumulation: the exact sum, or the published order of FP64 additions.
  [[nodiscard]] Exact accumulated(Index i, Index j) const {
    if (plan_.accumulation == Accumulation::exact) return exact_sum(i, j);
    const FloatEnvironment environment;
    double total = 0;
    for (const auto& group : groups_by_definition(plan_, a_.inner_dimension()))
      if (!group.empty()) total += std::ldexp(static_cast<double>(group_sum(i, j, group)), weight(i, j, group.front()));
    return Exact(total);
  }

  /// S: the accumulated sum, at its scale.
  [[nodiscard]] Exact sum(Index i, Index j) const { return accumulated(i, j).times_power_of_two(scale(i, j)); }

 private:
  [[nodiscard]] int weight(Index i, Index j, SlicePair pair) const {
    const auto of = [](const SlicedMatrix& x, Index vector, int p) {  // the engine's own weights, which are judged with its
                                                                      // digits
      const auto& encoding = x.slicing().encoding;
      return encoding.common_ratio() ? weight_exponent(encoding, p) : x.weight_exponent(vector, p);
    };
    return of(a_, i, pair.p) + of(b_, j, pair.q);
  }

  SplitPlan plan_;
  SlicedMatrix a_, b_;
};

}  // namespace ozbound::properties
