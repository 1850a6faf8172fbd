// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound::judging {

/// A target's error allowance for each entry, rounded down: tau M or its counterpart, and for underflow some eta/2.
class TargetAllowance {
 public:
  /// For any target except `cr`. tau of `dgemm` follows the oracle's scalars. @pre the oracle outlives this object.
  TargetAllowance(const Target& target, const Oracle& oracle, ResultFormat format);

  /// tau M_ij or its counterpart, without the underflow. @pre entry is the oracle's finite entry (i, j).
  [[nodiscard]] Magnitude lower(Index i, Index j, const OracleEntry& entry) const;

  /// The number of eta/2 that every entry may err beside: 1, or max(k, 1) for `dgemm`.
  [[nodiscard]] std::uint64_t halves() const { return halves_; }
  [[nodiscard]] const Magnitude& underflow() const { return underflow_; }  ///< all of them, rounded down

 private:
  [[nodiscard]] Magnitude rowcol_lower(Index i, Index j) const;

  Target::Kind kind_;
  const Oracle& oracle_;
  Magnitude tau_, underflow_;
  std::uint64_t halves_ = 1;
  std::vector<Magnitude> row_norms_, column_norms_;  ///< ||a_i||_2, ||b_j||_2, rounded down; only for `rowcol`
};

}  // namespace ozbound::judging
