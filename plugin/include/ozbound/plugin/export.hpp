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
#include "ozbound/bounds/stream_launcher.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/plugin/device_info.hpp"
#include "ozbound/plugin/table.h"

namespace ozbound::plugin {

/// The engine, examiner and native GEMM of one device.
class ExportedBackend {
 public:
  virtual ~ExportedBackend() = default;
  [[nodiscard]] virtual const Engine& engine() const = 0;
  [[nodiscard]] virtual const Examiner& examiner() const = 0;
  [[nodiscard]] virtual const NativeGemm* native() const = 0;                       ///< null if there is none
  [[nodiscard]] virtual const StreamLauncher* launcher() const { return nullptr; }  ///< null if there is none
};

/// The devices of a plug-in. Several threads may use it at once.
class ExportedDevices {
 public:
  virtual ~ExportedDevices() = default;

  /// The reason why no device can be used, in one line; empty if one can.
  [[nodiscard]] virtual std::string obstacle() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// @throws std::invalid_argument for a device that does not exist; the other functions do so too.
  [[nodiscard]] virtual DeviceInfo info(int device) const = 0;
  virtual void release_memory(int device) const = 0;
  /// A calibration with one set of rates.
  [[nodiscard]] virtual Calibration measure_rates(int device, int threads, double seconds,
                                                  const std::function<void(double)>& progress) const = 0;
  /// @param threads number of host threads; 0: OpenMP's number
  [[nodiscard]] virtual std::unique_ptr<ExportedBackend> make(int device, int threads) const = 0;

  /// True if a device reported the error; callers then get a DeviceError.
  [[nodiscard]] virtual bool is_device_error(const std::exception& error) const = 0;
};

/// Makes the table of a plug-in with these devices. A process has only one such set of devices, which must live until the
/// process ends. No exception leaves the table's functions, and each runs in a FloatEnvironment.
const ozbound_plugin_table* export_table(const ExportedDevices& of) noexcept;

}  // namespace ozbound::plugin
