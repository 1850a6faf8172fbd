#pragma once

#include <functional>

#include "ozbound/bounds/error_bound.hpp"

namespace ozbound {

/// The largest bound.upper(i, j, c(i, j)) over the entries that are not special.
double largest_bound(const ErrorBound& bound, const InputView& c, const std::function<bool(Index, Index)>& special,
                     int threads);

}  // namespace ozbound
