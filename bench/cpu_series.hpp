// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "measurement.hpp"

namespace ozbound::bench {

/// The kernel that an engine uses by default: the fastest, or the kernel that OZBOUND_KERNEL names.
/// @throws std::invalid_argument if OZBOUND_KERNEL names no kernel.
std::string default_kernel_name();

/// All measurements of the CPU engine (docs/benchmarks.md). quick: the same series on sizes that take milliseconds.
std::vector<SeriesEntry> cpu_series(bool quick);

}  // namespace ozbound::bench
