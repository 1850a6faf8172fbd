// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/integer_operand.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// A or B with the data that all its products share: its slices or residues, their norms and its fingerprint.
///
/// Products with it, by the same engine or one with the same options, have the same bits and certificate as without it.
/// Residues also serve plans of the same bits and fewer moduli, if these hold the product. It holds a view, which is used for
/// NaN and infinities and for entries that are left open: the elements must live as long, and not change. Threads may share it;
/// copies share the slices or residues.
///
/// Do not use `PreparedOperand p(load("A.npy"), …);` with a matrix that a function returns: it is gone at the semicolon.
/// Do not assign a(0, 0) = 1 between two products: integers, norms and fingerprint keep the old value. Prepare it again.
/// Do not pass A if the call has op(A) = A^T: `operand` is op(A), a view with its strides exchanged.
class PreparedOperand {
 public:
  /// `operand` is op(A), m x k, for rows_of_a, and op(B), k x n, for columns_of_b.
  /// @param form a Slicing or a ResidueForm; nothing if products need no integers of it
  /// @throws std::invalid_argument for a form that no plan has or the engine does not make, and for an operand that the engine
  /// does not reach.
  PreparedOperand(InputView operand, Side side, const std::optional<OperandForm>& form, const Engine& engine);

  /// Prepares an operand for products under this decision. A decision without a plan (native, exact) needs no integers.
  PreparedOperand(InputView operand, Side side, const Decision& decision, const Engine& engine);

  struct Parts {
    IntegerOperand integers;
    std::variant<SliceFacts, std::vector<VectorNorms>> facts;  ///< facts of slices, or norms for residues
  };

  /// Takes data that is already known. @pre the data equals the result of the other constructors.
  PreparedOperand(InputView operand, Side side, std::uint64_t fingerprint, std::optional<Parts> parts);

  [[nodiscard]] const InputView& view() const { return view_; }
  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }
  [[nodiscard]] const Parts* parts() const { return parts_.get(); }  ///< null if there are no integers

  /// The slices or residues, if they serve a form (IntegerOperand::serves); otherwise null.
  [[nodiscard]] const IntegerOperand* integers(const OperandForm& form) const;
  /// Facts of the slices, if it has slices of this slicing; otherwise null.
  [[nodiscard]] const SliceFacts* facts(const Slicing& slicing) const;
  /// Norms of the vectors, the same for residues of all forms; null if it has no residues.
  [[nodiscard]] const std::vector<VectorNorms>* norms() const;

  /// Refuses operands that do not match: another place or shape, the other side, slices or residues that do not serve the
  /// decision's plan, or a layout that `engine` does not multiply.
  /// @throws std::invalid_argument beginning with `name`.
  void check(InputView operand, Side side, const Decision& decision, const Engine& engine, const char* name) const;

 private:
  InputView view_;
  Side side_;
  std::uint64_t fingerprint_ = 0;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace ozbound
