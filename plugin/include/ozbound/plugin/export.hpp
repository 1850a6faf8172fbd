// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "ozbound/bounds/calibration.hpp"
#include "ozbound/bounds/examiner.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/plugin/device_info.hpp"
#include "ozbound/plugin/table.h"

namespace ozbound::plugin {

/// What computes on one device.
class ExportedBackend {
 public:
  virtual ~ExportedBackend() = default;
  [[nodiscard]] virtual const Engine& engine() const = 0;
  [[nodiscard]] virtual const Examiner& examiner() const = 0;
  [[nodiscard]] virtual const NativeGemm* native() const = 0;  ///< null where there is none
};

/// The devices of a plug-in. May be used by several threads at once.
class ExportedDevices {
 public:
  virtual ~ExportedDevices() = default;

  /// Why there is none to be used, in a line; empty where there is.
  [[nodiscard]] virtual std::string obstacle() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// @throws std::invalid_argument for a device that there is not, as the others.
  [[nodiscard]] virtual DeviceInfo info(int device) const = 0;
  virtual void release_memory(int device) const = 0;
  /// A calibration with one set of rates.
  [[nodiscard]] virtual Calibration measure_rates(int device, int threads, double seconds,
                                                  const std::function<void(double)>& progress) const = 0;
  /// @param threads of the host; 0: as many as OpenMP would use
  [[nodiscard]] virtual std::unique_ptr<ExportedBackend> make(int device, int threads) const = 0;

  /// Whether it is what a device reports, so that callers see a DeviceError.
  [[nodiscard]] virtual bool is_device_error(const std::exception& error) const = 0;
};

/// The table of a plug-in with these devices, of which a process has one: they must live until it ends. No exception leaves its
/// functions, and each runs in a FloatEnvironment.
const ozbound_plugin_table* export_table(const ExportedDevices& of) noexcept;

}  // namespace ozbound::plugin
