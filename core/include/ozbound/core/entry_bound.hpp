#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {

/// rows[i] * columns[j], both >= 0.
struct OuterProduct {
  std::vector<double> rows;     ///< length m
  std::vector<double> columns;  ///< length n
};

/// One part of a bound: the least of some outer products.
struct BoundTerm {
  std::string name;
  std::vector<OuterProduct> alternatives;  ///< not empty
};

/// An upper bound for every entry of an m x n matrix, relative to rho_i sigma_j: min(uniform, sum of the terms).
/// Evaluated outward and in a fixed order: the same bits on every engine.
struct EntryBound {
  std::vector<BoundTerm> terms;
  double uniform = std::numeric_limits<double>::infinity();  ///< holds for every entry by itself

  [[nodiscard]] double upper(Index i, Index j) const {
    double total = 0;
    for (const auto& term : terms) {
      double least = std::numeric_limits<double>::infinity();
      for (const auto& outer : term.alternatives) {
        const double value =
            multiply_upper(outer.rows[static_cast<std::size_t>(i)], outer.columns[static_cast<std::size_t>(j)]);
        least = value < least ? value : least;
      }
      total = add_upper(total, least);
    }
    return total < uniform ? total : uniform;
  }

  /// upper(i, j) for j in [first, first + count), the same bits, many columns at a time.
  void upper_row(Index i, Index first, Index count, double* out) const;

  /// The bound of rows [i, i + rows) and columns [j, j + cols).
  [[nodiscard]] EntryBound block(Index i, Index j, Index rows, Index cols) const {
    const auto part = [](const std::vector<double>& all, Index first, Index count) {
      return std::vector<double>(all.begin() + first, all.begin() + first + count);
    };
    auto result = *this;
    for (auto& term : result.terms)
      for (auto& outer : term.alternatives) outer = {part(outer.rows, i, rows), part(outer.columns, j, cols)};
    return result;
  }
};

}  // namespace ozbound
