// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "outward.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound::checking {

/// An Index as a subscript of a std::vector.
inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Calls body(i) for every i in [0, count). Each call works on `width` elements. If there is enough work, all threads take
/// part, each in a PlainEnvironment. Rethrows an exception of a body.
template <class Body>
void for_rows(Index count, Index width, const Body& body) {
  FirstException failure;
  [[maybe_unused]] const bool large = count > 1 && width > 10000 / count;  // threads pay off
#pragma omp parallel if (large)
  {
    const PlainEnvironment environment;
#pragma omp for schedule(dynamic)
    for (Index i = 0; i < count; ++i) failure.run([&] { body(i); });
  }
  failure.rethrow();
}

}  // namespace ozbound::checking
