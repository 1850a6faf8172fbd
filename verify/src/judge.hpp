// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"

namespace ozbound::judging {

/// @throws std::invalid_argument if c is not as large as the oracle's product.
void check_shape(const ResultView& c, const Oracle& oracle);

/// True if a NaN or an infinity is not where the inputs put it. A finite c may overflow to an infinity of either sign, which is
/// an error with a size, not a mismatch.
bool special_mismatch(const OracleEntry& entry, double computed);

/// True if the computed value is c rounded once: the same bits, or both NaN. @pre entry.rounding_known.
bool correctly_rounded(const OracleEntry& entry, double computed);

/// A sum of squares, rounded in one direction.
class SquareSum {
 public:
  void add_upper(const Magnitude& x) { sum_ = ozbound::add_upper(sum_, multiply_upper(x, x)); }
  void add_lower(const Magnitude& x) { sum_ = ozbound::add_lower(sum_, multiply_lower(x, x)); }
  void merge_upper(const SquareSum& other) { sum_ = ozbound::add_upper(sum_, other.sum_); }
  void merge_lower(const SquareSum& other) { sum_ = ozbound::add_lower(sum_, other.sum_); }
  [[nodiscard]] Magnitude root_upper() const { return sqrt_upper(sum_); }
  [[nodiscard]] Magnitude root_lower() const { return sqrt_lower(sum_); }

 private:
  Magnitude sum_;
};

}  // namespace ozbound::judging
