// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"

namespace ozbound::bench {

/// The kernels that this processor runs, beginning with an engine's default.
/// @throws std::invalid_argument if OZBOUND_KERNEL names no kernel.
std::vector<std::string> kernel_names();

/// True for the kernels that need AVX-512.
bool has_avx512(const std::string& kernel);

/// An engine with this number of threads and the kernel of this name; empty: the default kernel.
CpuEngine make_engine(int threads, const std::string& kernel);

}  // namespace ozbound::bench
