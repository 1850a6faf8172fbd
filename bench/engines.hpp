// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"

namespace ozbound::bench {

/// The kernels that this processor runs: first the one that an engine takes by itself.
/// @throws std::invalid_argument where OZBOUND_KERNEL names none.
std::vector<std::string> kernel_names();

/// An engine on so many threads with the kernel of that name; empty: the one that it takes by itself.
CpuEngine make_engine(int threads, const std::string& kernel);

}  // namespace ozbound::bench
