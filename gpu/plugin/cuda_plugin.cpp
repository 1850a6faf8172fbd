// SPDX-License-Identifier: BSD-3-Clause
// libozbound_cuda.so: computations on CUDA devices, behind the plug-in's table of C functions.

#include <cuda_runtime_api.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "ozbound/gpu/cuda_backend.hpp"
#include "ozbound/gpu/cuda_error.hpp"
#include "ozbound/gpu/device_costs.hpp"
#include "ozbound/plugin/export.hpp"

namespace ozbound::gpu {
namespace {

class Exported final : public plugin::ExportedBackend {
 public:
  Exported(int device, int threads) : device_({.device = device, .threads = threads}) {}

  [[nodiscard]] const CudaEngine& engine() const override { return device_.engine(); }
  [[nodiscard]] const DeviceExaminer& examiner() const override { return device_.examiner(); }
  [[nodiscard]] const NativeGemm* native() const override { return device_.backend().native(); }
  [[nodiscard]] const StreamLauncher* launcher() const override { return &device_.launcher(); }
  [[nodiscard]] Backend backend() const { return device_.backend(); }

 private:
  CudaBackend device_;
};

class CudaDevices final : public plugin::ExportedDevices {
 public:
  [[nodiscard]] std::string obstacle() const override {
    int devices = 0;
    const auto status = cudaGetDeviceCount(&devices);
    if (status == cudaSuccess && devices > 0) return "";
    cudaGetLastError();
    if (status == cudaSuccess || status == cudaErrorNoDevice) return "there is no CUDA device here";
    if (status == cudaErrorInitializationError)
      return "CUDA cannot be used here: initialization error, as in a child of fork() whose parent has used CUDA";
    int driver = 0;
    if (status != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) != cudaSuccess)
      return std::string("CUDA cannot be used here: ") + cudaGetErrorString(status);
    if (driver == 0) return "there is no CUDA driver here";
    return "the CUDA driver here is too old: it is for CUDA " + version_text(driver) + ", the plug-in for CUDA " +
           version_text(CUDART_VERSION);
  }

  [[nodiscard]] int count() const override { return device_count(); }

  [[nodiscard]] plugin::DeviceInfo info(int device) const override {
    auto calibration = this_device(device);
    const auto properties = devices().at(static_cast<std::size_t>(device));
    return {properties.name, properties.compute_capability, properties.memory, std::move(calibration)};
  }

  void release_memory(int device) const override { gpu::release_memory(device); }

  [[nodiscard]] Calibration measure_rates(int device, int threads, double seconds,
                                          const std::function<void(double)>& progress) const override {
    const Exported exported(device, threads);
    auto calibration = this_device(device);
    calibration.rates = {measure_device_rates(exported.backend(), {seconds, progress})};
    return calibration;
  }

  [[nodiscard]] std::unique_ptr<plugin::ExportedBackend> make(int device, int threads) const override {
    return std::make_unique<Exported>(device, threads);
  }

  [[nodiscard]] bool is_device_error(const std::exception& error) const override {
    return dynamic_cast<const CudaError*>(&error) != nullptr;
  }

 private:
  /// The text of version 12040: `12.4`.
  static std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
};

}  // namespace
}  // namespace ozbound::gpu

extern "C" __attribute__((visibility("default"))) const ozbound_plugin_table* ozbound_plugin(std::uint32_t) {
  // Never destroyed, because objects that the program destroys at its end may still use it.
  static const auto& devices = *new ozbound::gpu::CudaDevices();
  return ozbound::plugin::export_table(devices);
}
