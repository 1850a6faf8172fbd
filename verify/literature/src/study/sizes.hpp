// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound::study {

/// A size times the scale of a study's options.
inline Index scaled(Index size, double scale, Index least) {
  return std::max(least, static_cast<Index>(std::lround(static_cast<double>(size) * scale)));
}

/// first, first * factor, … up to `last` times the scale; at least `first`.
inline std::vector<Index> sizes(Index first, Index last, Index factor, double scale) {
  std::vector<Index> all;
  for (Index k = first; k <= scaled(last, scale, first); k *= factor) all.push_back(k);
  return all;
}

}  // namespace ozbound::study
