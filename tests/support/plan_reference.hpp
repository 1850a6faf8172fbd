#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/digits.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"
#include "support/exact.hpp"

namespace ozbound::test {

/// The digits of every element of an operand, one by one. Rows with specials have none.
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
      for (Index l = 0; l < vectors_.cols(); ++l) {
        std::vector<std::int8_t> digits(max_slices);
        if (finite) split(vectors_.element(i, l), slicing, scales_.back(), digits.data());
        digits_.push_back(std::move(digits));
      }
    }
  }

  [[nodiscard]] int scale(Index i) const { return scales_[static_cast<std::size_t>(i)]; }
  /// Digit p (1-based) of element l of vector i.
  [[nodiscard]] int digit(Index i, Index l, int p) const {
    return digits_[static_cast<std::size_t>(i * vectors_.cols() + l)][static_cast<std::size_t>(p - 1)];
  }
  [[nodiscard]] Index inner_dimension() const { return vectors_.cols(); }
  [[nodiscard]] const Slicing& slicing() const { return slicing_; }

 private:
  static Exact value(Dyadic x) { return {cpp_int(x.magnitude), x.exponent}; }

  InputView vectors_;
  Slicing slicing_;
  std::vector<int> scales_;
  std::vector<std::vector<std::int8_t>> digits_;
};

/// What a plan makes of A and B, by its definition and in plain loops: the digits of split(), every pair (p, q) with
/// p + q <= cut, the published orders of addition in double, everything else in exact arithmetic.
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

  /// S: what the plan makes of entry (i, j) of A B, before alpha, beta and the rounding to C's format.
  [[nodiscard]] Exact sum(Index i, Index j) const {
    Exact total;
    double rounded = 0;
    if (plan_.accumulation == Accumulation::per_product) {
      for (int p = 1; p <= plan_.a.slices; ++p)
        for (int q = 1; q <= plan_.b.slices && p + q <= plan_.cut; ++q) rounded += term(pair_sum(i, j, p, q), p + q);
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

/// A B, entry (i, j), of finite matrices.
inline Exact exact_product(const InputView& a, const InputView& b, Index i, Index j) {
  Exact sum;
  for (Index l = 0; l < a.cols(); ++l)
    sum = sum + Exact(double_from_bits(a.bits(i, l))) * Exact(double_from_bits(b.bits(l, j)));
  return sum;
}

/// An exact number in C's format, as bits.
inline std::uint64_t rounded_bits(const Exact& x, bool single) {
  return single ? rounded_bits<float>(x) : rounded_bits<double>(x);
}

/// The IEEE class of a sum of products over the extended reals, by definition: 0 if it is finite, else the bits in a format.
/// Each term is a list of factors.
inline std::uint64_t special_bits(const std::vector<std::vector<double>>& terms, bool single) {
  bool nan = false, plus = false, minus = false;
  for (const auto& factors : terms) {
    bool zero = false, infinite = false, negative = false;
    for (const double x : factors) {
      nan = nan || std::isnan(x);
      zero = zero || x == 0;
      infinite = infinite || std::isinf(x);
      negative = negative != std::signbit(x);
    }
    nan = nan || (zero && infinite);
    if (infinite) (negative ? minus : plus) = true;
  }
  if (nan || (plus && minus)) return single ? 0x7fc00000u : 0x7ff8000000000000u;
  if (plus) return single ? 0x7f800000u : 0x7ff0000000000000u;
  if (minus) return single ? 0xff800000u : 0xfff0000000000000u;
  return 0;
}

}  // namespace ozbound::test
