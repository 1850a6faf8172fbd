// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// A or B with what is the same for every product that it is a factor of: its slices, their norms and its fingerprint.
///
/// Products with it, by the same engine or one with the same options, have the bits and the certificate that they have without.
/// It holds a view, for NaN and infinities, and for entries that slices leave open: the elements must live as long, and not
/// change. May be shared between threads; a copy shares the slices.
///
/// Not `PreparedOperand p(load("A.npy"), …);` of a matrix that a function returns: it is gone at the semicolon.
/// Not a(0, 0) = 1 between two products: slices, norms and fingerprint stay those of before. Prepare it again.
/// Not A where the call has op(A) = A^T: `operand` is op(A), a view with its strides exchanged.
class PreparedOperand {
 public:
  /// `operand` is op(A), m x k, for rows_of_a, and op(B), k x n, for columns_of_b.
  /// @throws std::invalid_argument for a slice count outside 1 … max_slices, or an operand that the engine does not reach.
  PreparedOperand(InputView operand, Side side, Slicing slicing, const Engine& engine);

  /// An operand of products under this decision. A decision without a plan (native, exact) needs no slices.
  PreparedOperand(InputView operand, Side side, const Decision& decision, const Engine& engine);

  struct Parts {
    SlicedMatrix slices;
    SliceFacts facts;
  };

  /// Of what is known already. @pre it is what the others find.
  PreparedOperand(InputView operand, Side side, std::uint64_t fingerprint, std::optional<Parts> parts);

  [[nodiscard]] const InputView& view() const { return view_; }
  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }
  [[nodiscard]] const Parts* parts() const { return parts_.get(); }  ///< null where there are no slices

  /// The slices and their facts, where there are slices and this is their slicing; else null.
  [[nodiscard]] const SlicedMatrix* slices(const Slicing& slicing) const;
  [[nodiscard]] const SliceFacts* facts(const Slicing& slicing) const;

  /// Refuses what this is not: an operand of another place or shape, the other side, slices that a decision does not start
  /// with, or that lie as `engine` does not multiply them.
  /// @throws std::invalid_argument beginning with `name`.
  void check(InputView operand, Side side, const Decision& decision, const Engine& engine, const char* name) const;

 private:
  PreparedOperand(InputView operand, Side side, std::optional<Slicing> slicing, const Engine& engine);

  [[nodiscard]] bool has(const Slicing& slicing) const { return parts_ != nullptr && parts_->slices.slicing() == slicing; }

  InputView view_;
  Side side_;
  std::uint64_t fingerprint_ = 0;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace ozbound
