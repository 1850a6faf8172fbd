#pragma once

#include <optional>

#include "ozbound/bounds/calibrate.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::gpu {

/// What a calibration must be of to be used for a device, with its fastest kernels; and the tile that a new one has.
/// @throws std::invalid_argument if CUDA offers no such device.
Calibration this_device(int device = 0);

/// Costs of an engine on a device, operands in the host's memory, with `threads` of the host: by the calibration on file, else
/// by a shipped one of such a device; nothing where there is neither.
std::optional<CalibratedCosts> device_costs(int device, int threads);

/// Times certified products by an engine on the device, operands in the host's memory: transfers are part of all terms.
/// `native` may be null.
Rates measure_device_rates(const CudaEngine& engine, const NativeGemm* native, const CalibrationOptions& options = {});

}  // namespace ozbound::gpu
