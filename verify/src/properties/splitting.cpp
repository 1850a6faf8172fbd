// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "properties/case_product.hpp"
#include "properties/exact_number.hpp"
#include "properties/properties.hpp"
#include "properties/reference.hpp"
#include "properties/sliced_pair.hpp"

// Digits, their products, and the one rounding: docs/derivations/slicing.md, stated without the judged code.

namespace ozbound::properties {
namespace {

using exact_arithmetic::cpp_int;
using exact_arithmetic::Exact;

/// The norms in facts, for integers that are given exactly.
struct ExactNorms {
  cpp_int sum = 0, sum_squares = 0, max = 0;

  void add(const cpp_int& x) {
    sum += x;
    sum_squares += x * x;
    max = std::max(max, x);
  }

  /// True if `norms` are those of `repeat` copies. Sums of squares saturate at 2^64 - 1.
  [[nodiscard]] bool are(const IntegerNorms& norms, Index repeat) const {
    const cpp_int squares = std::min<cpp_int>(sum_squares * repeat, (cpp_int(1) << 64) - 1);
    return norms.sum == sum * repeat && norms.sum_squares == squares && norms.max == max;
  }
};

cpp_int ceiling_in_units(const Exact& x, int e) { return -exact_arithmetic::floor_in_units(-x, e); }

/// A vector of an operand, element by element, and an engine's facts and digits of it.
class SplitVector {
 public:
  SplitVector(const SlicedMatrix& sliced, const VectorFacts& facts, InputView vectors, Index i, Index repeat)
      : sliced_(sliced), facts_(facts), slicing_(sliced.slicing()), i_(i), length_(vectors.cols() / repeat), repeat_(repeat) {
    for (Index l = 0; l < length_; ++l) vector_.emplace_back(double_from_bits(vectors.bits(i, l)));
  }

  [[nodiscard]] Finding judge() const {
    const int scale = scale_exponent(slicing_.encoding, top());
    if (sliced_.special(i_) || facts_.scale.special) return "is finite and called special";
    if (sliced_.exponent(i_) != scale || facts_.scale.exponent != scale)
      return fmt::format("has the scale 2^{}, not 2^{}", sliced_.exponent(i_), scale);
    if (!copies_agree()) return "has other digits where its elements repeat";
    return judge_elements(scale);
  }

 private:
  [[nodiscard]] Exact top() const {
    Exact top;
    for (const auto& x : vector_) top = std::max(top, x.magnitude());
    return top;
  }

  [[nodiscard]] bool copies_agree() const {
    for (int p = 1; p <= slicing_.slices; ++p)
      for (Index l = length_; l < length_ * repeat_; ++l)
        if (sliced_.digit(i_, p, l) != sliced_.digit(i_, p, l % length_)) return false;
    return true;
  }

  [[nodiscard]] Finding judge_elements(int scale) const {
    const auto weights = weights_by_definition(vector_, slicing_, scale);
    for (int p = 1; p <= slicing_.slices; ++p) {
      const int weight = weights[static_cast<std::size_t>(p - 1)], measured = facts_.weight_exponent(slicing_.encoding, p);
      if (sliced_.weight_exponent(i_, p) != weight || measured != weight)
        return fmt::format("has the weight 2^{} rho for digit {}, measured 2^{} rho, not 2^{} rho",
                           sliced_.weight_exponent(i_, p), p, measured, weight);
    }
    ExactNorms whole;
    std::vector<ExactNorms> slices(static_cast<std::size_t>(slicing_.slices)), tails = slices;
    for (Index l = 0; l < length_; ++l) {
      const auto& x = vector_[static_cast<std::size_t>(l)];
      const auto digits = digits_by_definition(x, slicing_, scale, &weights);
      auto tail = x;
      for (int p = 1; p <= slicing_.slices; ++p) {
        const int d = sliced_.digit(i_, p, l), expected = digits[static_cast<std::size_t>(p - 1)];
        if (d != expected) return fmt::format("has {} for digit {} of element {}, not {}", d, p, l, expected);
        const int weight = scale + weights[static_cast<std::size_t>(p - 1)];
        tail = tail - Exact{d, weight};
        slices[static_cast<std::size_t>(p - 1)].add(std::abs(d));
        tails[static_cast<std::size_t>(p - 1)].add(ceiling_in_units(tail.magnitude(), weight - VectorFacts::fraction_bits));
      }
      whole.add(ceiling_in_units(x.magnitude(), scale - VectorFacts::fraction_bits));
    }
    return judge_facts(whole, slices, tails);
  }

  [[nodiscard]] Finding judge_facts(const ExactNorms& whole, const std::vector<ExactNorms>& slices,
                                    const std::vector<ExactNorms>& tails) const {
    if (!whole.are(facts_.vector, repeat_)) return "has other norms than measured";
    for (std::size_t p = 0; p < slices.size(); ++p) {
      if (!slices[p].are(facts_.slices.at(p), repeat_)) return fmt::format("has other norms of slice {} than measured", p + 1);
      if (!tails[p].are(facts_.tails.at(p), repeat_))
        return fmt::format("has other norms of what {} slices leave than measured", p + 1);
    }
    return {};
  }

  const SlicedMatrix& sliced_;
  const VectorFacts& facts_;
  Slicing slicing_;
  Index i_, length_, repeat_;
  std::vector<Exact> vector_;
};

Finding judge_side(const StoredMatrix& operand, Side side, Slicing slicing, Index repeat, const Engine& engine) {
  const auto sliced = engine.slice(operand.input(), side, slicing);
  const auto facts = engine.measure(operand.input(), side, slicing);
  const auto vectors = vectors_of(operand.input(), side);
  if (sliced.count() != vectors.rows() || sliced.inner_dimension() != vectors.cols()) return "the slices have another shape";
  for (Index i = 0; i < vectors.rows(); ++i)
    if (const auto wrong = SplitVector(sliced, facts.vectors.at(static_cast<std::size_t>(i)), vectors, i, repeat).judge())
      return fmt::format("{} {} {}", side == Side::rows_of_a ? "row of A" : "column of B", i, *wrong);
  return {};
}

Finding judge_splitting(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  const CaseMemory memory(gemm_case);
  const auto& plan = gemm_case.plan.split();
  if (const auto wrong = judge_side(memory.a, Side::rows_of_a, plan.a, gemm_case.inner_repeat, engine)) return wrong;
  return judge_side(memory.b, Side::columns_of_b, plan.b, gemm_case.inner_repeat, engine);
}

Finding judge_products(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  const CaseMemory memory(gemm_case);
  const auto& plan = gemm_case.plan.split();
  const SlicedPair pair(memory, plan, engine);
  const auto sums = engine.group_sums(pair.a(), pair.b(), plan);
  const auto groups = groups_by_definition(plan, gemm_case.k());
  if (sums.size() != groups.size()) return fmt::format("{} sums, not {}", sums.size(), groups.size());
  for (std::size_t t = 0; t < groups.size(); ++t)
    for (Index i = 0; i < gemm_case.m(); ++i)
      for (Index j = 0; j < gemm_case.n(); ++j) {
        const auto expected = pair.group_sum(i, j, groups[t]);
        if (sums[t](i, j) != expected)
          return fmt::format("the sum of group {} (diagonal {}) of entry ({}, {}) is {}, not {}", t,
                             groups[t].front().p + groups[t].front().q, i, j, sums[t](i, j),
                             static_cast<std::int64_t>(expected));
      }
  return {};
}

/// The bits of alpha S + beta C0 in C's format.
std::uint64_t expected_bits(const GemmCase& gemm_case, const SlicedPair& pair, Index i, Index j) {
  Exact value;
  if (gemm_case.alpha != 0 && gemm_case.k() > 0) value = Exact(gemm_case.alpha) * pair.sum(i, j);
  if (gemm_case.beta != 0) value = value + Exact(gemm_case.beta) * Exact(gemm_case.c0.values(i, j));
  return exact_arithmetic::rounded_bits(value, gemm_case.c.single);
}

Finding judge_rounding(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  const CaseMemory memory(gemm_case);
  const SlicedPair pair(memory, gemm_case.plan.split(), engine);
  const auto c = multiplied(gemm_case, engine);
  for (Index i = 0; i < gemm_case.m(); ++i)
    for (Index j = 0; j < gemm_case.n(); ++j) {
      const auto expected = expected_bits(gemm_case, pair, i, j);
      if (c.bits(i, j) != expected) return wrong_entry(c, i, j, expected, "and alpha S + beta C0 rounded once is");
    }
  return {};
}

}  // namespace

Property exact_splitting() {
  return {"exact-splitting",
          "x = sum_p d_p w_p + T_s with w_p = 2^(e + lead - beta p), rho = 2^e: d_p are the bits of x (truncated, ozimmu), "
          "RN(T_(p-1) / w_p), ties to even (nearest; nearest_adaptive, with w_p = 2^(ceil(log2 "
          "max |T_(p-1)|) + 1 - beta) over the vector), floor(T_(p-1) / w_p) (unsigned8), or the digits -128 ... 127 of RN(x / "
          "w_s) (balanced); and measured norms "
          "are those of d_p, T_p and x, exactly",
          "docs/derivations/slicing.md (S1)-(S4), (S8)",
          {},
          judge_splitting};
}

Property error_free_products() {
  return {"error-free-products",
          "every group's sum is sum_(p,q) sum_l d^A_p(i,l) d^B_q(l,j), as an integer, at any k",
          "exactness in INT32: docs/derivations/slicing.md (S5)",
          {},
          judge_products};
}

Property rounded_once() {
  return {"rounded-once",
          "C = fl(alpha S + beta C0), one rounding to C's format, S the sum of the plan's slice products: exact, or added in "
          "FP64 in the "
          "published order of per_product or per_diagonal",
          "docs/derivations/slicing.md (S6), (S7); docs/adr/0001",
          {},
          judge_rounding};
}

}  // namespace ozbound::properties
