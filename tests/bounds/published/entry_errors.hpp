// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "properties/entry_errors.hpp"
#include "support/exact.hpp"

namespace ozbound::test {

using properties::EntryErrors;

/// The exact sum_l |a_il||b_lj|, or the sum with the signs.
inline Exact product_of(const Matrix<double>& a, const Matrix<double>& b, Index i, Index j, bool magnitudes) {
  Exact sum;
  for (Index l = 0; l < a.cols(); ++l) {
    const auto term = Exact(a(i, l)) * Exact(b(l, j));
    sum = sum + (magnitudes ? term.magnitude() : term);
  }
  return sum;
}

/// The quotient x / y to about 2^-50, with 0 / 0 = 0.
inline double quotient(const Exact& x, const Exact& y) {
  if (x.is_zero()) return 0;
  if (y.is_zero()) return std::numeric_limits<double>::infinity();
  const auto leading = [](const Exact& z) {
    return static_cast<double>(static_cast<std::int64_t>(floor_in_units(z, z.top_exponent() - 60)));
  };
  return std::ldexp(leading(x) / leading(y), x.top_exponent() - y.top_exponent());
}

/// A and B multiplied under a plan: the exact error of every entry, and the bounds to compare it with.
class PlannedProduct {
 public:
  PlannedProduct(const Matrix<double>& a, const Matrix<double>& b, const SplitPlan& plan)
      : a_(a), b_(b), inputs(a, b, plan, engine_), pair_(a, b, plan, engine_) {}

  [[nodiscard]] EntryErrors errors(Index i, Index j) const {
    return {product_of(a_, b_, i, j, false), product_of(a_, b_, i, j, true), pair_, i, j};
  }

  /// The largest ratio of error to bound over all entries; above 1 only where the bound fails.
  [[nodiscard]] double worst_ratio(const NamedBound& bound) const {
    const auto value = bound.value(inputs);
    double worst = 0;
    for (Index i = 0; i < a_.rows(); ++i)
      for (Index j = 0; j < b_.cols(); ++j) {
        const auto entry = errors(i, j);
        if (!EntryErrors::bounds_anything(value, i, j)) continue;
        worst = std::max(worst, quotient(*entry.of(bound.bounded), entry.bound_of(value, i, j)));
      }
    return worst;
  }

 private:
  CpuEngine engine_{{.threads = 1}};
  const Matrix<double>& a_;
  const Matrix<double>& b_;

 public:
  BoundInputs inputs;

 private:
  properties::SlicedPair pair_;
};

/// A 1 x 1 matrix.
inline Matrix<double> single(double x) {
  Matrix<double> one(1, 1);
  one(0, 0) = x;
  return one;
}

}  // namespace ozbound::test
