#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// |A||B| enclosed as Enclosure says, entry by entry and when asked: level 1 is computed for all entries, what is dearer for
/// those that are looked at. Safe to ask from many threads. @pre of all members that compute: a FloatEnvironment.
class MagnitudeProduct {
 public:
  MagnitudeProduct(InputView a, InputView b, const Engine& engine);

  [[nodiscard]] Index rows() const { return sums_.rows(); }
  [[nodiscard]] Index cols() const { return sums_.cols(); }
  [[nodiscard]] const std::vector<std::int32_t>& row_exponents() const { return row_exponents_; }
  [[nodiscard]] const std::vector<std::int32_t>& column_exponents() const { return column_exponents_; }
  [[nodiscard]] bool special_row(Index i) const { return special_rows_[static_cast<std::size_t>(i)] != 0; }
  [[nodiscard]] bool special_column(Index j) const { return special_columns_[static_cast<std::size_t>(j)] != 0; }

  struct Bounds {
    double lower = 0;
    double upper = 0;
    int levels = 1;
  };

  /// Enclosure::lower and upper of an entry.
  [[nodiscard]] Bounds at(Index i, Index j) const;

  /// No more than at(i, j).lower, from level 1 and, where level 2 is needed, from a few large products: cheap.
  [[nodiscard]] double cheap_lower(Index i, Index j) const;

  /// No more than at(i, j).lower for any of the columns.
  [[nodiscard]] double cheap_lower(Index i, Index first, Index count) const;

  /// For some columns, numbers that are less than (1 + 2^-12) at(i, j).lower, and often near it. Without rounding outward: many
  /// at a time.
  void estimate_lower(Index i, Index first, Index count, double* lower) const;

  /// Every entry.
  [[nodiscard]] Enclosure enclosure(int threads) const;

 private:
  [[nodiscard]] bool find_looseness(int threads) const;
  [[nodiscard]] Bounds level_one(Index i, Index j) const;
  void settle(Index i, Index j, Bounds& bounds) const;

  Index k_;
  std::vector<std::int32_t> row_exponents_, column_exponents_;
  std::vector<char> special_rows_, special_columns_;
  Matrix<double> a_, b_;       ///< magnitudes, vectors with specials zero; empty where the operands serve as they are
  Matrix<std::int64_t> sums_;  ///< of products of first digits
  std::vector<std::int64_t> row_sums_, column_sums_;  ///< of first digits; 0 for a vector of zeros alone
  bool loose_ = false;                                ///< level 2 is needed
  std::vector<float> x_, y_;                          ///< for level 2: vectors, contiguous, scaled and rounded towards zero
  std::vector<double> column_scales_;                 ///< 2^-e of every column, 0 where that is far from 1
  std::vector<Index> top_of_x_, top_of_y_;            ///< where each of them is largest
  mutable std::once_flag tops_found_;
  mutable std::vector<std::int32_t> x_tops_, y_tops_;  ///< for level 3: floor(log2) of every element
};

}  // namespace ozbound
