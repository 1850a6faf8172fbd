// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/bounds/calibration.hpp"

namespace ozbound::gpu {

/// The machine that a calibration must name to be used for a device with its fastest kernels, and the tile of a new
/// calibration.
/// @throws std::invalid_argument if CUDA offers no such device.
Calibration this_device(int device = 0);

/// Costs of an engine on a device, for operands in the host's memory and `threads` threads of the host. Uses the calibration on
/// file, otherwise a shipped calibration of such a device. Empty if there is neither.
std::optional<CalibratedCosts> device_costs(int device, int threads);

/// Times certified products of device matrices on the first device, and copies from and to the host's memory, and adds the two.
/// A product on a device takes less time than its copies, and could not be fitted beside them. Ignores `options.multiply`.
Rates measure_device_rates(const Backend& backend, CalibrationOptions options = {});

}  // namespace ozbound::gpu
