// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "measurement.hpp"

namespace ozbound::bench {

/// The kernel that the engine takes by itself: the fastest, or the one that OZBOUND_KERNEL names.
/// @throws std::invalid_argument if it names none.
std::string default_kernel_name();

/// All that is measured of the CPU engine (docs/benchmarks.md); quick: the same series on sizes that take milliseconds.
std::vector<SeriesEntry> cpu_series(bool quick);

}  // namespace ozbound::bench
