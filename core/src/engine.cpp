// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ozbound/core/detail/combine.hpp"

namespace ozbound {

bool Engine::start(const RealProduct&, const Plan&, KeptSlices) const { return false; }

void check_operands(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan) {
  plan.validate();
  if (a.side() != Side::rows_of_a) throw std::invalid_argument("a must be sliced by rows");
  if (b.side() != Side::columns_of_b) throw std::invalid_argument("b must be sliced by columns");
  if (a.slicing() != plan.a) throw std::invalid_argument("a is not sliced as the plan says");
  if (b.slicing() != plan.b) throw std::invalid_argument("b is not sliced as the plan says");
  if (a.inner_dimension() != b.inner_dimension())
    throw std::invalid_argument("a and b have different inner dimensions: " + std::to_string(a.inner_dimension()) + ", " +
                                std::to_string(b.inner_dimension()));
  check_inner_dimension(plan, a.inner_dimension());
}

void check_inner_dimension(const SplitPlan& plan, Index k) {
  Index pairs = 1;
  for (const auto& group : plan.groups(k)) pairs = std::max<Index>(pairs, group.pairs());
  const Index largest = pairs * plan.a.encoding.digit_magnitude() * plan.b.encoding.digit_magnitude();
  if (k > max_group_sum(plan.accumulation) / largest)
    throw std::invalid_argument("the inner dimension is too long for the integer sums: " + std::to_string(k));
}

void check_epilogue(const Epilogue& epilogue, const OutputView& c, Index m, Index n) {
  const auto fits = [m, n](const auto& view) { return view.rows() == m && view.cols() == n; };
  if (!fits(c)) throw std::invalid_argument("c must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_zero(epilogue.beta) && !fits(epilogue.c0))
    throw std::invalid_argument("c0 must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_finite(bits_of(epilogue.alpha), binary64)) throw std::invalid_argument("alpha must be finite");
  if (!is_finite(bits_of(epilogue.beta), binary64)) throw std::invalid_argument("beta must be finite");
}

}  // namespace ozbound
