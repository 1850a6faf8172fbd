// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/core/split_plan.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The error that a bound is about. S is the exact sum of a plan's slice products. S^ is the result of the plan's accumulation
/// before it is rounded to C^.
enum class Bounded : std::uint8_t {
  truncation,    ///< |AB - S|
  accumulation,  ///< |S^ - S|
  total,         ///< |S^ - AB|
  native,        ///< |fl(AB) - AB|, AB summed in binary64, each product rounded, in any order; for any plan
};

/// "truncation |AB - S|", …
std::string to_string(Bounded bounded);

/// The inputs of bounds: A and B, finite or not, and the facts about their slices under a plan. The views must outlive it.
struct BoundInputs {
  InputView a;  ///< m x k
  InputView b;  ///< k x n
  SplitPlan plan;
  std::vector<VectorFacts> rows;     ///< of A, under plan.a
  std::vector<VectorFacts> columns;  ///< of B, under plan.b

  /// @throws std::invalid_argument for an invalid plan, or b.rows() != a.cols().
  BoundInputs(InputView a, InputView b, const SplitPlan& plan, const Engine& engine);

  [[nodiscard]] Index k() const { return a.cols(); }
};

/// scaled(i, j) rho_i sigma_j + multiple (|A||B|)_ij, for every entry without NaN or infinities.
struct BoundValue {
  EntryBound relative;     ///< relative to rho_i sigma_j; 0 if it has no terms
  double multiple = 0;     ///< of |A||B|; may be +Inf
  double probability = 1;  ///< least probability that it holds for all entries at once; below 1 only for estimates
};

/// A bound from the literature, or one of ours, with a name. docs/bounds.md explains when each is useful.
struct NamedBound {
  std::string name;        ///< kebab-case
  std::string source;      ///< paper and equation, or a derivation of docs/
  std::string conditions;  ///< the plans that it covers, in words
  Bounded bounded = Bounded::truncation;
  bool rigorous = true;  ///< true: proven, and tested by the property `bounds-hold`; false for estimates

  /// True if a plan meets the conditions of the proof.
  bool (*covers)(const SplitPlan& plan);

  /// @pre covers(inputs.plan).
  BoundValue (*evaluate)(const BoundInputs& inputs);

  /// Its value, rounded up unless it is an estimate.
  /// @throws std::invalid_argument for a plan that it does not cover; for native DGEMM, also if operands are not binary64, or
  /// their ranges let a product underflow or a sum overflow.
  [[nodiscard]] BoundValue value(const BoundInputs& inputs) const;

  /// The value of a proven bound, as certificates need it. @throws std::invalid_argument also for an estimate.
  [[nodiscard]] BoundValue upper(const BoundInputs& inputs) const;
};

/// All bounds, ours first.
std::span<const NamedBound> all_bounds();

/// @throws std::invalid_argument listing the names.
const NamedBound& find_bound(std::string_view name);

}  // namespace ozbound
