// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound::judging {

/// What a target allows each entry to err, rounded downward: tau M and the like, and underflow.
class TargetAllowance {
 public:
  /// Any target but `cr`; tau of `dgemm` follows the oracle's scalars. @pre the oracle outlives this.
  TargetAllowance(const Target& target, const Oracle& oracle, ResultFormat format);

  /// For `normwise` this is tau M_ij, of which the target takes the norm. @pre entry is the oracle's finite entry (i, j).
  [[nodiscard]] Magnitude lower(Index i, Index j, const OracleEntry& entry) const;

  /// eta/2, or max(k, 1) eta/2 for `dgemm`.
  [[nodiscard]] const Magnitude& underflow() const { return underflow_; }

 private:
  [[nodiscard]] Magnitude rowcol_lower(Index i, Index j) const;

  Target::Kind kind_;
  const Oracle& oracle_;
  Magnitude tau_, underflow_;
  std::vector<Magnitude> row_norms_, column_norms_;  ///< ||a_i||_2, ||b_j||_2, downward; for `rowcol` alone
};

}  // namespace ozbound::judging
