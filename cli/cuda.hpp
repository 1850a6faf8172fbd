// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ozbound/bounds/calibration.hpp"

// The first CUDA device, on which products may run. The CUDA plug-in is loaded on first use.

namespace ozbound::cli {

/// The reason why there is no device, as a clause: `there is no CUDA driver here`. Empty if there is a device.
std::string cuda_obstacle();

/// The device's name, `cuda: NVIDIA H200`. @pre there is a device, here and in the functions below.
std::string cuda_name();

/// Costs of the device; empty if no calibration is known. @param threads of the host; 0: as many as OpenMP would use
std::optional<CalibratedCosts> cuda_costs(int threads);

/// A calibration with one set of rates, for `threads` threads of the host, measured for this many seconds.
Calibration measure_cuda(int threads, double seconds, const std::function<void(double)>& progress);

/// Properties of every device: name, compute_capability, memory_bytes. Empty if there is none.
nlohmann::ordered_json cuda_devices();

}  // namespace ozbound::cli
