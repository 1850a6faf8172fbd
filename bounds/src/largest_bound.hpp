// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/core/special_entries.hpp"

namespace ozbound {

/// The largest bound among the entries of C that are not special.
struct LargestBound {
  double value = 0;       ///< the largest bound.upper(i, j, c(i, j))
  bool infinite = false;  ///< one of the bounds is infinite
};

LargestBound largest_bound(const ErrorBound& bound, const InputView& c, const SpecialEntries& specials, int threads);

}  // namespace ozbound
