// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// The memory layout of a matrix.
struct Storage {
  bool single = false;        ///< float elements, not double
  bool column_major = false;  ///< its lines are columns
  Index padding = 0;          ///< unused elements behind each line, before the first and after the last

  bool operator==(const Storage&) const = default;
};

}  // namespace ozbound
