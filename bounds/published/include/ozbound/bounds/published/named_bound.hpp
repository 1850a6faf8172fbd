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

/// The error that a bound is about. S is the exact sum of a plan's slice products, S^ what the plan's accumulation makes of it
/// before C^ is rounded.
enum class Bounded : std::uint8_t {
  truncation,    ///< |AB - S|
  accumulation,  ///< |S^ - S|
  total,         ///< |S^ - AB|
  native,        ///< |fl(AB) - AB|, AB summed in binary64, each product rounded, in any order; whatever the plan
};

/// "truncation |AB - S|", …
std::string to_string(Bounded bounded);

/// What bounds look at: finite or not, A and B, and what slicing them by a plan leaves. The views must outlive it.
struct BoundInputs {
  InputView a;  ///< m x k
  InputView b;  ///< k x n
  SplitPlan plan;
  std::vector<VectorFacts> rows;     ///< of A, under plan.a
  std::vector<VectorFacts> columns;  ///< of B, under plan.b

  /// @throws std::invalid_argument for a plan that is none, or b.rows() != a.cols().
  BoundInputs(InputView a, InputView b, const SplitPlan& plan, const Engine& engine);

  [[nodiscard]] Index k() const { return a.cols(); }
};

/// scaled(i, j) rho_i sigma_j + multiple (|A||B|)_ij, for every entry without NaN or infinities.
struct BoundValue {
  EntryBound scaled;       ///< relative to rho_i sigma_j; 0 where it has no terms
  double multiple = 0;     ///< of |A||B|; may be +Inf
  double probability = 1;  ///< with which it holds for all entries at once, at least; below 1 for estimates alone
};

/// A bound of the literature, or ours, under a name. docs/bounds.md tells when each is of use.
struct NamedBound {
  std::string name;        ///< kebab-case
  std::string source;      ///< paper and equation, or a derivation of docs/
  std::string conditions;  ///< of the plans that it covers, in words
  Bounded bounded = Bounded::truncation;
  bool rigorous = true;  ///< proven, so that the property `bounds-hold` judges it; false for estimates

  /// The conditions that its proof needs of a plan.
  bool (*covers)(const SplitPlan& plan);

  /// @pre covers(inputs.plan).
  BoundValue (*evaluate)(const BoundInputs& inputs);

  /// Its value, rounded up unless it is an estimate.
  /// @throws std::invalid_argument for a plan that it does not cover, or, of native DGEMM, where operands are not of binary64,
  /// or their ranges let a product underflow or a sum overflow.
  [[nodiscard]] BoundValue value(const BoundInputs& inputs) const;

  /// The same for what must be proven, as certificates need it. @throws std::invalid_argument for an estimate, too.
  [[nodiscard]] BoundValue upper(const BoundInputs& inputs) const;
};

/// All of them, ours first.
std::span<const NamedBound> all_bounds();

/// @throws std::invalid_argument listing the names.
const NamedBound& find_bound(std::string_view name);

}  // namespace ozbound
