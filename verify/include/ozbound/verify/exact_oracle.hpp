// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/verify/oracle.hpp"

namespace ozbound {

/// The exact product in integers on one grid (dyadic numbers): every answer is exact, or exact and then rounded once.
///
/// Keeps 16 bytes for each element of A and B. An entry takes a few nanoseconds for each of its k terms, plus a fixed time that
/// grows with the exponent range of its row and column.
class ExactOracle final : public Oracle {
 public:
  explicit ExactOracle(const Operands& operands);
  explicit ExactOracle(const Problem& problem) : ExactOracle(ozbound::operands(problem)) {}
  explicit ExactOracle(Problem&&) = delete;  // would dangle

  /// The sums of the positive and of the negative products of a dot product, as 64-bit limbs, least significant first, in
  /// units of 2^exponent.
  struct Sums {
    std::vector<std::uint64_t> positive, negative;
    std::int64_t exponent = 0;
  };

  /// The dot product of row i of A and column j of B. Products with a NaN or an infinity count as zero.
  [[nodiscard]] Sums dot(Index i, Index j) const;

 private:
  /// One element: (negative ? -1 : 1) * magnitude * 2^(4 (slot + line's first_slot) - 1074), magnitude < 2^56.
  struct Element {
    std::uint64_t magnitude;
    std::uint32_t slot;
    std::uint32_t negative;
  };

  /// A row of A or a column of B.
  struct Line {
    std::int64_t first_slot = 0;
    std::size_t slots = 1;  ///< every element's slot is less than this
    bool finite = true;
  };

  /// All rows of a matrix, element after element.
  struct Lines {
    explicit Lines(MatrixView<const double> matrix);

    std::vector<Element> elements;
    std::vector<Line> lines;
  };

  [[nodiscard]] OracleEntry judge(Index i, Index j, double computed, ResultFormat format) const override;
  [[nodiscard]] bool all_finite(Index i, Index j) const;

  Lines rows_;
  Lines columns_;
};

}  // namespace ozbound
