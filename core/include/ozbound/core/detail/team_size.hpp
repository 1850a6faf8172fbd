// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

namespace ozbound {

/// Number of threads that pay off for a region of `steps` steps of about a nanosecond each, from 1 to `threads`. Starting and
/// joining threads costs more than some steps, especially on busy processors.
inline int team_size(int threads, double steps) {
  constexpr double worth_a_thread = 0x1p15;
  return static_cast<int>(std::clamp(steps / worth_a_thread, 1.0, static_cast<double>(std::max(threads, 1))));
}

}  // namespace ozbound
