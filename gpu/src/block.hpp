// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/host_device.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

/// Part of C: rows [row, row + rows) and columns [column, column + columns).
struct Block {
  Index row = 0, column = 0;
  Index rows = 0, columns = 0;
};

/// Integer sums of a block in device memory. The sum of group t at (row + i, column + j) of C is data[t * group_stride + i *
/// row_stride + j * col_stride].
template <class Sum>
struct BlockSums {
  Sum* data = nullptr;
  Index group_stride = 0;
  Index row_stride = 0;
  Index col_stride = 0;

  [[nodiscard]] OZB_HD Sum& at(Index t, Index i, Index j) const {
    return data[t * group_stride + i * row_stride + j * col_stride];
  }
};

}  // namespace ozbound::gpu
