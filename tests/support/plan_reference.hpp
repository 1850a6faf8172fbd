// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/digits.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/split_plan.hpp"
#include "ozbound/core/views.hpp"
#include "properties/reference.hpp"
#include "properties/sliced_pair.hpp"
#include "support/exact.hpp"

namespace ozbound::test {

/// The digits of every element of an operand, computed one by one. Rows with special values have no digits.
class ReferenceSlices {
 public:
  ReferenceSlices(InputView operand, Side side, Slicing slicing) : vectors_(vectors_of(operand, side)), slicing_(slicing) {
    for (Index i = 0; i < vectors_.rows(); ++i) {
      Dyadic top{};
      bool finite = true;
      for (Index l = 0; l < vectors_.cols(); ++l) {
        finite = finite && is_finite(vectors_.bits(i, l), binary64);
        if (finite && Exact(double_from_bits(vectors_.bits(i, l))).magnitude() > value(top)) top = vectors_.element(i, l);
      }
      scales_.push_back(finite ? slicing.encoding.scale_exponent(top) : 0);
      weights_.push_back(
          properties::weights_by_definition(finite ? elements(i) : std::vector<Exact>{}, slicing, scales_.back()));
      for (Index l = 0; l < vectors_.cols(); ++l) {
        std::vector<std::int8_t> digits(max_slices);
        if (finite && slicing.encoding.common_ratio()) split(vectors_.element(i, l), slicing, scales_.back(), digits.data());
        if (finite && !slicing.encoding.common_ratio()) {
          const std::vector<std::int16_t> weights(weights_.back().begin(), weights_.back().end());
          split(vectors_.element(i, l), slicing.slices, scales_.back(), weights.data(), digits.data());
        }
        digits_.push_back(std::move(digits));
      }
    }
  }

  [[nodiscard]] int scale(Index i) const { return scales_[static_cast<std::size_t>(i)]; }
  /// The exponent of the weight of digit p (1-based) of vector i, relative to the vector's scale.
  [[nodiscard]] int weight(Index i, int p) const {
    return weights_[static_cast<std::size_t>(i)][static_cast<std::size_t>(p - 1)];
  }
  /// Digit p (1-based) of element l of vector i.
  [[nodiscard]] int digit(Index i, Index l, int p) const {
    return slicing_.encoding.digit(p,
                                   digits_[static_cast<std::size_t>(i * vectors_.cols() + l)][static_cast<std::size_t>(p - 1)]);
  }
  [[nodiscard]] Index inner_dimension() const { return vectors_.cols(); }
  [[nodiscard]] const Slicing& slicing() const { return slicing_; }

 private:
  [[nodiscard]] std::vector<Exact> elements(Index i) const {
    std::vector<Exact> all;
    for (Index l = 0; l < vectors_.cols(); ++l) all.emplace_back(double_from_bits(vectors_.bits(i, l)));
    return all;
  }
  static Exact value(Dyadic x) { return {cpp_int(x.magnitude), x.exponent}; }

  InputView vectors_;
  Slicing slicing_;
  std::vector<int> scales_;
  std::vector<std::vector<int>> weights_;
  std::vector<std::vector<std::int8_t>> digits_;
};

/// The result of a plan for A and B, by its definition and in plain loops: the digits of split(), every pair (p, q) with p + q
/// <= cut, the published orders of addition in double, everything else in exact arithmetic.
class PlanReference {
 public:
  PlanReference(InputView a, InputView b, const SplitPlan& plan)
      : plan_(plan), a_(a, Side::rows_of_a, plan.a), b_(b, Side::columns_of_b, plan.b) {}

  /// The integer sum of the products of slices p and q.
  [[nodiscard]] std::int64_t pair_sum(Index i, Index j, int p, int q) const {
    std::int64_t sum = 0;
    for (Index l = 0; l < a_.inner_dimension(); ++l) sum += a_.digit(i, l, p) * b_.digit(j, l, q);
    return sum;
  }

  /// The integer sum of all pairs of the plan on diagonal g.
  [[nodiscard]] std::int64_t diagonal_sum(Index i, Index j, int g) const {
    std::int64_t sum = 0;
    for (int p = 1; p <= plan_.a.slices; ++p)
      if (g - p >= 1 && g - p <= plan_.b.slices) sum += pair_sum(i, j, p, g - p);
    return sum;
  }

  /// S: the plan's value of entry (i, j) of A B, before alpha, beta and the rounding to C's format.
  [[nodiscard]] Exact sum(Index i, Index j) const {
    Exact total;
    double rounded = 0;
    if (plan_.accumulation == Accumulation::per_product) {
      for (int p = 1; p <= plan_.a.slices; ++p)
        for (int q = 1; q <= plan_.b.slices && p + q <= plan_.cut; ++q)
          rounded += std::ldexp(static_cast<double>(pair_sum(i, j, p, q)), a_.weight(i, p) + b_.weight(j, q));
    } else {
      for (int g = 2; g <= plan_.cut; ++g) {
        const auto diagonal = diagonal_sum(i, j, g);
        rounded += term(diagonal, g);
        total = total + Exact{diagonal, weight(g)};
      }
    }
    return (plan_.accumulation == Accumulation::exact ? total : Exact(rounded)).times_power_of_two(a_.scale(i) + b_.scale(j));
  }

 private:
  [[nodiscard]] int weight(int g) const {
    const auto lead = [](const Encoding& encoding) { return encoding.kind == Encoding::Kind::truncated ? 0 : 1; };
    return lead(plan_.a.encoding) + lead(plan_.b.encoding) - plan_.a.encoding.beta * g;
  }
  [[nodiscard]] double term(std::int64_t sum, int g) const { return std::ldexp(static_cast<double>(sum), weight(g)); }

  SplitPlan plan_;
  ReferenceSlices a_, b_;
};

}  // namespace ozbound::test
