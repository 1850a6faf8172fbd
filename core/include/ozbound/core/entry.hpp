// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// A place in C.
struct Entry {
  Index i;
  Index j;
  auto operator<=>(const Entry&) const = default;  ///< row by row
};

}  // namespace ozbound
