// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

namespace ozbound {

/// How many threads a region is worth whose work is so many steps of about a nanosecond: to start and to meet costs more than
/// some of them, most of all where the processors have other work. 1 to `threads`.
inline int team_size(int threads, double steps) {
  constexpr double worth_a_thread = 0x1p15;
  return static_cast<int>(std::clamp(steps / worth_a_thread, 1.0, static_cast<double>(std::max(threads, 1))));
}

}  // namespace ozbound
