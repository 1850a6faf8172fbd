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

/// The form of an operand under a plan: slices or residues.
using OperandForm = std::variant<Slicing, ResidueForm>;

/// The rule that fixes every bit of a product: how elements become integers, which integer products are made, and how they are
/// summed. A plan is by slices (SplitPlan) or by residues (ResiduePlan). Engines, bounds, costs, records and spellings take a
/// Plan. Code that concerns only slices takes a SplitPlan, from `visit` or `split`.
class Plan {
 public:
  Plan(const SplitPlan& plan) : kind_(plan) {}    // NOLINT(google-explicit-constructor): every SplitPlan is a Plan
  Plan(const ResiduePlan& plan) : kind_(plan) {}  // NOLINT(google-explicit-constructor): so is every ResiduePlan

  /// Calls the function in `cases` that takes the plan's kind, and returns its result. Every kind needs a case; otherwise the
  /// call does not compile. Do not pass [](const auto& plan) { … } as a case, unless it is right for any future kind.
  template <class... Cases>
  decltype(auto) visit(Cases&&... cases) const {
    return std::visit(CasesOf<std::decay_t<Cases>...>{std::forward<Cases>(cases)...}, kind_);
  }

  /// True if the plan is a ResiduePlan. Its moduli and bits are read through `visit`.
  [[nodiscard]] bool by_residues() const { return std::holds_alternative<ResiduePlan>(kind_); }

  /// The form of the rows of A, or of the columns of B.
  [[nodiscard]] OperandForm form(Side side) const;

  /// The plan by slices, for code that handles no other kind.
  /// @throws std::invalid_argument naming the plan if it is by residues.
  [[nodiscard]] const SplitPlan& split() const;

  /// Number of integer matrix products, each over the whole inner dimension.
  [[nodiscard]] int products() const;

  /// Bytes of the digits or residues of A (m x k) and B (k x n), one byte each: k (s_A m + s_B n), or N k (m + n).
  [[nodiscard]] double operand_bytes(Index m, Index n, Index k) const;

  /// @throws std::invalid_argument naming the part that no engine supports.
  void validate() const;

  bool operator==(const Plan&) const = default;

 private:
  template <class... Cases>
  struct CasesOf : Cases... {
    using Cases::operator()...;
  };

  std::variant<SplitPlan, ResiduePlan> kind_;
};

/// The only spelling. By slices: `ENCODING[,ENCODING_B]:SAxSB:cut=G|full:ACCUMULATION`, for example `balanced:7x7:cut=8:exact`.
/// By residues: `residues:N:AxB`, the moduli and the bits of A and B, for example `residues:13:46x47`.
std::string to_string(const Plan& plan);

/// Reads the spelling of to_string and validates the plan. Accepts both names of a full cut, and a repeated ENCODING_B.
///
/// Do not write `balanced8:7x7:cut=8:exact`: balanced and unsigned8 imply their bits, other names state them, `truncated7`. Do
/// not write `ozimmu-ef:8x8`: a scheme's plan depends on the inner dimension; use parse_plan(text, k) of scheme.hpp.
/// @throws std::invalid_argument naming the part that is wrong.
Plan parse_plan(std::string_view text);

}  // namespace ozbound
