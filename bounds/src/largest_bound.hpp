#pragma once

#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/core/special_entries.hpp"

namespace ozbound {

/// The largest bound.upper(i, j, c(i, j)) over the entries that are not special.
double largest_bound(const ErrorBound& bound, const InputView& c, const SpecialEntries& specials, int threads);

}  // namespace ozbound
