// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "../exact_number.hpp"
#include "numbers.hpp"
#include "subject.hpp"

namespace ozbound::checking {

/// A plan by slices, and its digits of the operands.
struct Sliced {
  Sliced(const reference::SlicePlan& p, const Operands& operands);

  /// S at (i, j) over 2^(e_i + f_j), without alpha. @pre the vectors are finite.
  [[nodiscard]] ExactNumber sum(Index i, Index j) const;

  reference::SlicePlan plan;
  std::vector<reference::Pairs> groups;
  Counted a, b;
  RelativeBound bound;
};

/// A plan by residues, and its integers of the operands. No modulus affects their sums.
struct Rounded {
  Rounded(const reference::ResiduePlan& p, const Operands& operands);

  [[nodiscard]] ExactNumber sum(Index i, Index j) const;

  reference::ResiduePlan plan;
  reference::RoundedVectors a, b;
  RelativeBound bound;
  std::string not_held;  ///< an entry that the guard refuses; empty if there is none
};

/// A plan of either kind.
class Planned {
 public:
  Planned(const reference::Plan& plan, const Operands& operands);

  [[nodiscard]] const RelativeBound& bound() const;

  /// S at (i, j), without alpha. @pre the vectors are finite.
  [[nodiscard]] ExactNumber sum(Index i, Index j) const;

  /// For residues, an entry that the guard refuses; empty if there is none.
  [[nodiscard]] const std::string& not_held() const;
  [[nodiscard]] bool by_residues() const { return std::holds_alternative<Rounded>(made_); }

  /// For residues, true if sum |a' b'| of this entry is at most H.
  [[nodiscard]] bool holds(Index i, Index j) const;

 private:
  std::variant<Sliced, Rounded> made_;
};

/// The rows of A B that make up an entry of C, exactly and by each plan: row i and, with complex scalars, the other row of its
/// pair. Each value is computed on first use. @pre the vectors are finite.
class EntryProducts {
 public:
  /// @param subject, plans must outlive this object.
  EntryProducts(const Subject& subject, const std::vector<Planned>& plans, Index j);

  /// (A B)_row,j.
  [[nodiscard]] const ExactNumber& exact(Index row);

  /// S_row,j of plan t.
  [[nodiscard]] const ExactNumber& sum(std::size_t t, Index row);

  /// C_ij by plan t, before it is rounded. @pre C0's elements are finite.
  [[nodiscard]] ExactNumber sum_with_scalars(std::size_t t, Index i);

  /// True if S_row,j of plan t was computed.
  [[nodiscard]] bool has_sum(std::size_t t, Index row) const { return sums_[t][parity(row)].has_value(); }

 private:
  using OfPair = std::array<std::optional<ExactNumber>, 2>;

  static std::size_t parity(Index row) { return static_cast<std::size_t>(row % 2); }

  const Subject& subject_;
  const std::vector<Planned>& plans_;
  Index j_;
  OfPair exact_;
  std::vector<OfPair> sums_;
};

}  // namespace ozbound::checking
