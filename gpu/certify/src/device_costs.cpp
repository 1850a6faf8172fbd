#include "ozbound/gpu/device_costs.hpp"

#include <stdexcept>
#include <string>

#include "device_slices.hpp"
#include "ozbound/bounds/certified_gemm.hpp"
#include "ozbound/gpu/resident.hpp"

namespace ozbound::gpu {
namespace {

constexpr KernelTile tile{DeviceSlices::vector_step, DeviceSlices::vector_step};

/// A product of matrices of the host's memory.
void multiply_resident(const GemmCall& call, const Decision& decision, const Engine& engine, const GemmOptions& options,
                       int device) {
  const ResidentOperands operands(call.a, call.b, call.c0, device);
  const ResidentResult c(call.c, device);
  static_cast<void>(
      gemm({operands.a(), operands.b(), c.view(), call.alpha, call.beta, operands.c0()}, decision, engine, options));
  c.write_back();
}

}  // namespace

Calibration this_device(int device) {
  const auto all = devices();
  if (device < 0 || device >= static_cast<int>(all.size()))
    throw std::invalid_argument("device: CUDA offers no device " + std::to_string(device));
  const auto& facts = all[static_cast<std::size_t>(device)];
  return {facts.name + ", compute capability " + facts.compute_capability, "automatic", OZBOUND_VERSION, tile, {}, "cuda"};
}

std::optional<CalibratedCosts> device_costs(int device, int threads) { return known_costs(this_device(device), threads); }

Rates measure_device_rates(const CertifyingEngine& engine, const NativeGemm* native, CalibrationOptions options) {
  auto samples = calibration_samples(true);
  options.multiply = [](const auto&... arguments) { multiply_resident(arguments..., 0); };
  return measure_rates(samples, engine, native, tile, options);
}

}  // namespace ozbound::gpu
