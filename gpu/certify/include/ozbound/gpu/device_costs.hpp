// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/bounds/calibration.hpp"

namespace ozbound::gpu {

/// What a calibration must be of to be used for a device, with its fastest kernels; and the tile that a new one has.
/// @throws std::invalid_argument if CUDA offers no such device.
Calibration this_device(int device = 0);

/// Costs of an engine on a device, operands in the host's memory, with `threads` of the host: by the calibration on file, else
/// by a shipped one of such a device; nothing where there is neither.
std::optional<CalibratedCosts> device_costs(int device, int threads);

/// Times certified products of matrices on the first device by an engine there, and the copies from and to the host's memory,
/// which are added: a product of a device takes less than its copies, and could not be fitted beside them. `options.multiply`
/// is not used.
Rates measure_device_rates(const Backend& backend, CalibrationOptions options = {});

}  // namespace ozbound::gpu
