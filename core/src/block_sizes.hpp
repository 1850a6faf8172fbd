// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <utility>

#include "ozbound/core/detail/call_checks.hpp"

namespace ozbound {

/// The dimensions of an m x n result that may be cut into blocks.
struct Cuts {
  bool rows = true;
  bool columns = true;
};

/// Numbers of rows and columns of C to compute at a time, so that bytes(rows, columns) stays within a cap.
/// @throws std::invalid_argument if even the smallest block exceeds the cap.
template <class Bytes>
std::pair<Index, Index> block_sizes(const Bytes& bytes, Index m, Index n, Index k, double cap, Cuts cuts = {}) {
  Index rows = std::max<Index>(m, 1), columns = std::max<Index>(n, 1);
  while (!(bytes(rows, columns) <= cap)) {
    const bool cut_rows = rows > 1 && cuts.rows;
    const bool cut_columns = columns > 1 && cuts.columns;
    if (!cut_rows && !cut_columns) throw workspace_below(bytes(rows, columns), k);
    auto& cut = cut_rows && (!cut_columns || rows >= columns) ? rows : columns;
    cut = (cut + 1) / 2;
  }
  return {rows, columns};
}

}  // namespace ozbound
