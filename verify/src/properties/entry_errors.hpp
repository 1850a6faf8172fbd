// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "ozbound/bounds/published/named_bound.hpp"
#include "properties/sliced_pair.hpp"

// The exact errors that bounds are about.

namespace ozbound::properties {

/// The errors of entry (i, j) under a plan, and the quantities that some bounds are multiples of. All are relative to rho_i
/// sigma_j.
struct EntryErrors {
  Exact truncation, accumulation, total;
  Exact magnitudes;  ///< |A||B|

  /// @param product (AB)_ij. @param all (|A||B|)_ij.
  EntryErrors(const Exact& product, const Exact& all, const SlicedPair& pair, Index i, Index j) {
    const int scale = -pair.scale(i, j);
    const auto exact = product.times_power_of_two(scale);
    const auto sum = pair.exact_sum(i, j);
    const auto accumulated = pair.accumulated(i, j);
    truncation = (exact - sum).magnitude();
    accumulation = (accumulated - sum).magnitude();
    total = (exact - accumulated).magnitude();
    magnitudes = all.times_power_of_two(scale);
  }

  /// The error of this kind; null if it does not concern engines.
  [[nodiscard]] const Exact* of(Bounded bounded) const {
    switch (bounded) {
      case Bounded::truncation: return &truncation;
      case Bounded::accumulation: return &accumulation;
      case Bounded::total: return &total;
      case Bounded::native: return nullptr;
    }
    return nullptr;
  }

  [[nodiscard]] bool exceed(const NamedBound& bound, const BoundValue& value, Index i, Index j) const {
    const auto* error = of(bound.bounded);
    return error != nullptr && bounds_anything(value, i, j) && bound_of(value, i, j) < *error;
  }

  static bool bounds_anything(const BoundValue& value, Index i, Index j) {
    return std::isfinite(value.relative.upper(i, j)) && std::isfinite(value.multiple);
  }

  /// @pre bounds_anything.
  [[nodiscard]] Exact bound_of(const BoundValue& value, Index i, Index j) const {
    return Exact(value.relative.upper(i, j)) + Exact(value.multiple) * magnitudes;
  }
};

}  // namespace ozbound::properties
