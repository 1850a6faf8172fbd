// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/jeannerod_rump_bound.hpp"

#include <cstdint>

#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {

double jeannerod_rump_upper(Index k) {
  const FloatEnvironment environment;
  return to_double_upper(static_cast<std::uint64_t>(k)) * 0x1p-53;
}

}  // namespace ozbound
