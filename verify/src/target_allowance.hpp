// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound::judging {

/// A target's error allowance for each entry, rounded down: tau M or its counterpart, and underflow.
class TargetAllowance {
 public:
  /// For any target except `cr`. tau of `dgemm` follows the oracle's scalars. @pre the oracle outlives this object.
  TargetAllowance(const Target& target, const Oracle& oracle, ResultFormat format);

  /// The allowance. For `normwise` it is tau M_ij, from which the target forms a norm. @pre entry is the oracle's finite entry
  /// (i, j).
  [[nodiscard]] Magnitude lower(Index i, Index j, const OracleEntry& entry) const;

  /// eta/2, or max(k, 1) eta/2 for `dgemm`.
  [[nodiscard]] const Magnitude& underflow() const { return underflow_; }

 private:
  [[nodiscard]] Magnitude rowcol_lower(Index i, Index j) const;

  Target::Kind kind_;
  const Oracle& oracle_;
  Magnitude tau_, underflow_;
  std::vector<Magnitude> row_norms_, column_norms_;  ///< ||a_i||_2, ||b_j||_2, rounded down; only for `rowcol`
};

}  // namespace ozbound::judging
