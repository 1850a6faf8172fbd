// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "magnitude_product.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/detail/target_share.hpp"
#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// The errors that a target allows for a product of matrices in host memory.
class HostAllowance final : public Allowance {
 public:
  /// The operands and their product must outlive it.
  /// @param row_norms, column_norms lower bounds of ||a_i||_2 and ||b_j||_2, only for rowcol targets
  HostAllowance(const RealProduct& of, const Target& target, double factor, const MagnitudeProduct& product,
                std::vector<double> row_norms, std::vector<double> column_norms, int threads);

  [[nodiscard]] Probe probe(Index i, Index j) const override;
  [[nodiscard]] Worst worst(const PlanBound& bound) const override;
  [[nodiscard]] bool normwise() const override { return normwise_; }
  [[nodiscard]] double normwise_share(Index i, Index j, double error) const override;
  [[nodiscard]] std::vector<Probe> probes(Index per_side) const override;

 private:
  [[nodiscard]] bool special(Index i, Index j) const;
  [[nodiscard]] Entry least_allowing() const;
  [[nodiscard]] double magnitude_lower(Index i, Index j, double product_lower) const;
  [[nodiscard]] double least_share(double m) const;
  [[nodiscard]] double share_of(Index i, Index j, double product_lower) const;
  [[nodiscard]] double allowed_in_chunk(Index i, Index chunk) const;
  [[nodiscard]] bool below(Index i, Index j, double error, double ratio) const;
  void find_worst_candidates(Index i, Index first, Index count, double ratio, const double* errors, const double* factors,
                             std::uint8_t* candidate) const;
  [[nodiscard]] Worst worst_entry(const PlanBound& error) const;
  [[nodiscard]] Worst worst_norm(const PlanBound& error) const;
  [[nodiscard]] std::int64_t norm_shift(Index i, Index j) const;
  void set_norm();

  const MagnitudeProduct& product_;
  const RealProduct& of_;
  int threads_;
  bool normwise_;
  double factor_;
  std::vector<double> row_norms_, column_norms_;  // lower bounds, for rowcol targets
  std::vector<double> least_column_norms_;        // smallest column norm of every chunk
  Matrix<double> m_;                              // for normwise targets: M's lower bound; +Inf for entries with specials
  std::int64_t scale_ = 0;                        // largest row + column exponent: the unit of norms
  double norm_allowed_ = 0;
};

}  // namespace ozbound
