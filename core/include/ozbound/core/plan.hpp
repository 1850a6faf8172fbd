// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "ozbound/core/residue_plan.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound {

/// The form that an operand has under a plan: slices, or residues.
using OperandForm = std::variant<Slicing, ResidueForm>;

/// How the bits of a whole product come about, whatever becomes of the elements: by slices (SplitPlan) or by residues
/// (ResiduePlan). Engines, bounds, costs, records and spellings take a Plan; what is about slices alone takes a SplitPlan,
/// which `visit` or `split` hands out.
class Plan {
 public:
  Plan(const SplitPlan& plan) : kind_(plan) {}    // NOLINT(google-explicit-constructor): every SplitPlan is a Plan
  Plan(const ResiduePlan& plan) : kind_(plan) {}  // NOLINT(google-explicit-constructor): so is every ResiduePlan

  /// Calls the one of `cases` that takes the plan's kind, and returns what it does. Every kind needs its case: without, this
  /// does not compile. Not [](const auto& plan) { … } as a case, unless that is right for any kind to come.
  template <class... Cases>
  decltype(auto) visit(Cases&&... cases) const {
    return std::visit(CasesOf<std::decay_t<Cases>...>{std::forward<Cases>(cases)...}, kind_);
  }

  /// Whether it is a ResiduePlan. Its moduli and bits are read through `visit`.
  [[nodiscard]] bool by_residues() const { return std::holds_alternative<ResiduePlan>(kind_); }

  /// The form of the rows of A, or of the columns of B.
  [[nodiscard]] OperandForm form(Side side) const;

  /// The plan by slices, for those who can do with no other.
  /// @throws std::invalid_argument naming the plan where it is by residues.
  [[nodiscard]] const SplitPlan& split() const;

  /// Number of integer matrix products, each of the whole inner dimension.
  [[nodiscard]] int products() const;

  /// Bytes of the digits or residues of A (m x k) and B (k x n), one a digit: k (s_A m + s_B n), or N k (m + n).
  [[nodiscard]] double operand_bytes(Index m, Index n, Index k) const;

  /// @throws std::invalid_argument naming the part that no engine multiplies under.
  void validate() const;

  bool operator==(const Plan&) const = default;

 private:
  template <class... Cases>
  struct CasesOf : Cases... {
    using Cases::operator()...;
  };

  std::variant<SplitPlan, ResiduePlan> kind_;
};

/// The only spelling: of slices `ENCODING[,ENCODING_B]:SAxSB:cut=G|full:ACCUMULATION`, `balanced:7x7:cut=8:exact`; of residues
/// `residues:N:AxB`, moduli and bits of A and B, `residues:13:46x47`.
std::string to_string(const Plan& plan);

/// Reads that spelling (either way of naming a full cut, ENCODING_B repeated or not) and validates the plan.
///
/// Not `balanced8:7x7:cut=8:exact`: balanced and unsigned8 have their bits in the name that they have, others state them,
/// `truncated7`. Not `ozimmu-ef:8x8`: a scheme's plan depends on the inner dimension, parse_plan(text, k) of scheme.hpp.
/// @throws std::invalid_argument naming the part that is wrong.
Plan parse_plan(std::string_view text);

}  // namespace ozbound
