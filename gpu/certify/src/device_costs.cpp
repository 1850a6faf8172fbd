#include "ozbound/gpu/device_costs.hpp"

#include <stdexcept>
#include <string>

#include "device_slices.hpp"

namespace ozbound::gpu {
namespace {

constexpr KernelTile tile{DeviceSlices::vector_step, DeviceSlices::vector_step};

}  // namespace

Calibration this_device(int device) {
  const auto all = devices();
  if (device < 0 || device >= static_cast<int>(all.size()))
    throw std::invalid_argument("device: CUDA offers no device " + std::to_string(device));
  const auto& facts = all[static_cast<std::size_t>(device)];
  return {facts.name + ", compute capability " + facts.compute_capability, "automatic", OZBOUND_VERSION, tile, {}, "cuda"};
}

std::optional<CalibratedCosts> device_costs(int device, int threads) { return known_costs(this_device(device), threads); }

Rates measure_device_rates(const CudaEngine& engine, const NativeGemm* native, const CalibrationOptions& options) {
  auto samples = calibration_samples(true);
  return measure_rates(samples, engine, native, tile, options);
}

}  // namespace ozbound::gpu
