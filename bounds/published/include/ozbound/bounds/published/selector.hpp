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

/// The choice of a selector for C = A B.
struct Selection {
  std::optional<Plan> plan;  ///< empty: leave the product to a native DGEMM, or to the superaccumulator
  bool certified = false;    ///< a bound proves that the plan meets the target; always false if the selector is an estimate
};

/// A rule that examines the operands and chooses a plan for a target. There are ours, by slices and by residues, and the
/// published ones. They are made for comparison: each is used with its authors' scheme, on INT8 slices.
struct Selector {
  std::string name;       ///< kebab-case
  std::string source;     ///< publication or program, with the equation's number
  std::string statement;  ///< the rule, in mathematics
  bool rigorous;          ///< its choices are certified: its bound never fails
  std::string caution;    ///< known failures or losses, in sentences

  /// @throws std::invalid_argument if selectors do not take the target, the shapes do not fit, or A or B holds a NaN or an
  /// infinity.
  Selection (*select)(InputView a, InputView b, const Target& target, const Engine& engine);

  bool by_residues = false;  ///< true if its plans are by residues, otherwise by slices
};

/// True if selectors take the target. They take those that compare entry by entry with |A||B|: `componentwise`, `dgemm` and
/// `dgemm-typical`.
bool selectors_take(const Target& target);

/// All selectors, ours first.
std::span<const Selector> all_selectors();

/// @throws std::invalid_argument listing the names.
const Selector& find_selector(std::string_view name);

/// ESC of A and B: max over i, j of max_l exp(a_il) + max_l exp(b_lj) - max_l (exp(a_il) + exp(b_lj)), exp(x) = floor(log2 |x|)
/// and -infinity for 0. Entries without a non-zero product do not count. `block` > 1 gives the coarse form, which uses only the
/// largest and the smallest exponent of every `block` elements of the inner dimension; it is at least as large. Returns nothing
/// if there is no finite value: a block has no products that are known to be non-zero.
/// @pre the elements are finite. @throws std::invalid_argument unless block >= 1.
std::optional<int> exponent_span(InputView a, InputView b, Index block, int threads);

}  // namespace ozbound
