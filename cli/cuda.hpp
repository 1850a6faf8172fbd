// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ozbound/bounds/calibration.hpp"

// The CUDA device that products may run on, the first, through the plug-in of CUDA, which is loaded when it is first asked for.

namespace ozbound::cli {

/// Why there is none, as a clause: `there is no CUDA driver here`; empty where there is one.
std::string cuda_obstacle();

/// `cuda: NVIDIA H200`. @pre there is one, as below.
std::string cuda_name();

/// Nothing where no calibration is known. @param threads of the host; 0: as many as OpenMP would use
std::optional<CalibratedCosts> cuda_costs(int threads);

/// A calibration with one set of rates, for `threads` of the host, measured for so many seconds.
Calibration measure_cuda(int threads, double seconds, const std::function<void(double)>& progress);

/// What is known of every device: name, compute_capability, memory_bytes. Empty where there is none.
nlohmann::ordered_json cuda_devices();

}  // namespace ozbound::cli
