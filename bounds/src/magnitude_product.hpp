// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "float_vectors.hpp"
#include "ozbound/bounds/detail/magnitude_levels.hpp"
#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/first_digits.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// The enclosure of |A||B| (Enclosure), entry by entry on request. Level 1 is computed for all entries, the more expensive
/// levels only for requested entries. The operands must outlive it. Many threads may use it at once. @pre of all members that
/// compute: a FloatEnvironment.
class MagnitudeProduct {
 public:
  MagnitudeProduct(InputView a, InputView b, const Engine& engine);

  [[nodiscard]] Index rows() const { return first_.sums.rows(); }
  [[nodiscard]] Index cols() const { return first_.sums.cols(); }
  [[nodiscard]] const std::vector<std::int32_t>& row_exponents() const { return row_exponents_; }
  [[nodiscard]] const std::vector<std::int32_t>& column_exponents() const { return column_exponents_; }
  [[nodiscard]] bool special_row(Index i) const { return first_.row_scales[static_cast<std::size_t>(i)].special; }
  [[nodiscard]] bool special_column(Index j) const { return first_.column_scales[static_cast<std::size_t>(j)].special; }

  /// Enclosure::lower and upper of an entry.
  [[nodiscard]] MagnitudeBounds at(Index i, Index j) const;

  /// A cheap lower bound of at(i, j).lower, from level 1 and, if level 2 is needed, from a few large products.
  [[nodiscard]] double cheap_lower(Index i, Index j) const;

  /// A lower bound of at(i, j).lower for all of these columns.
  [[nodiscard]] double cheap_lower(Index i, Index first, Index count) const;

  /// Numbers less than (1 + 2^-12) at(i, j).lower, and often near it, for at most most_columns columns. Computed for many
  /// columns at a time, without outward rounding. Any number if a row or a column is special.
  void estimate_lower(Index i, Index first, Index count, double* lower) const;
  static constexpr Index most_columns = 64;

  /// The largest sum of products of first digits plus one, over the entries whose row and column are neither special nor zero.
  /// Every entry of |A||B| is at most this many 2^(e_i + e_j - 14).
  [[nodiscard]] std::uint64_t largest_units() const { return first_.largest_units; }

  /// The enclosure of every entry.
  [[nodiscard]] Enclosure enclosure(int threads) const;

 private:
  [[nodiscard]] MagnitudeBounds level_one(Index i, Index j) const;
  [[nodiscard]] MagnitudeBounds settled(Index i, Index j, const MagnitudeBounds& bounds) const;
  const double* row_of_b(Index l, Index first, Index count, double* copy) const;

  InputView b_, rows_of_a_, columns_of_b_;
  FirstDigitSums first_;
  std::vector<std::int32_t> row_exponents_, column_exponents_;
  Index k_;
  std::optional<FloatVectors> x_, y_;          ///< for level 2
  std::vector<double> inverse_column_scales_;  ///< 2^-e of every column, 0 if it is far from 1
  mutable std::once_flag tops_found_;
  mutable std::vector<std::int32_t> x_tops_, y_tops_;  ///< for level 3: floor(log2) of every element
};

}  // namespace ozbound
