// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// What a selector chose for C = A B.
struct Selection {
  std::optional<Plan> plan;  ///< none: it would leave the product to a native DGEMM, or to the superaccumulator
  bool certified = false;    ///< a bound proves that the plan meets the target; never where the selector is an estimate
};

/// A rule that looks at the operands and chooses a plan, so that the product meets a target. Ours, by slices and by residues,
/// and the published ones: to be compared, each with the scheme that its authors use it for, on INT8 slices.
struct Selector {
  std::string name;       ///< kebab-case
  std::string source;     ///< publication or program, with the equation's number
  std::string statement;  ///< the rule, in mathematics
  bool rigorous;          ///< what it chooses is certified: its bound never fails
  std::string caution;    ///< what is known to go wrong, or to be lost, in sentences

  /// @throws std::invalid_argument where selectors do not take the target, the shapes do not fit, or A or B holds a NaN or an
  /// infinity.
  Selection (*select)(InputView a, InputView b, const Target& target, const Engine& engine);

  bool by_residues = false;  ///< its plans are; else they are by slices
};

/// Whether the target is one that selectors choose for, entry by entry against |A||B|: `componentwise`, `dgemm` and
/// `dgemm-typical`.
bool selectors_take(const Target& target);

/// All of them, ours first.
std::span<const Selector> all_selectors();

/// @throws std::invalid_argument listing the names.
const Selector& find_selector(std::string_view name);

/// ESC of A and B: max over i, j of max_l exp(a_il) + max_l exp(b_lj) - max_l (exp(a_il) + exp(b_lj)), exp(x) = floor(log2 |x|)
/// and -infinity for 0. Entries without a non-zero product have none. `block` > 1 is the coarse form, which looks at the
/// largest and the smallest exponent of every `block` elements of the inner dimension only: it is the same or more.
/// Nothing where it has no limit: a block without products that are known to be non-zero.
/// @pre the elements are finite. @throws std::invalid_argument unless block >= 1.
std::optional<int> exponent_span(InputView a, InputView b, Index block, int threads);

}  // namespace ozbound
