// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/core/special_entries.hpp"

namespace ozbound {

/// What is largest among the entries of C that are not special.
struct LargestBound {
  double value = 0;       ///< the largest bound.upper(i, j, c(i, j))
  bool infinite = false;  ///< one of them is
};

LargestBound largest_bound(const ErrorBound& bound, const InputView& c, const SpecialEntries& specials, int threads);

}  // namespace ozbound
