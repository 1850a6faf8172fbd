// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "ozbound/bounds/backend.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/plugin/device_info.hpp"
#include "ozbound/plugin/table.h"

namespace ozbound::plugin {

/// What a device or its driver reports: `cudaStreamSynchronize: unspecified launch failure`.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A plug-in ended a call as none should.
class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Why a table cannot be used, in a line: it is of another version or release; empty where it can.
std::string mismatch(const ozbound_plugin_table* table);

/// The devices behind a table. Its functions throw what they threw there: the same types of std and of Ozbound with the same
/// texts, up to some 2000 bytes; DeviceError, and InternalError for others. In a child of fork() of the process that loaded it
/// every call throws DeviceError, those of its backends too, and what they hold is left to the parent.
class Plugin {
 public:
  /// @pre mismatch(&table) is empty, and nothing unloads it while the process lives.
  explicit Plugin(const ozbound_plugin_table& table) : table_(&table) {}

  /// Why no device can be used, in a line; empty where one can.
  [[nodiscard]] std::string obstacle() const;
  [[nodiscard]] int device_count() const;
  /// @throws std::invalid_argument if there is no such device.
  [[nodiscard]] DeviceInfo device(int device) const;
  /// Gives device memory that products no longer need back to the device.
  void release_memory(int device) const;
  /// A calibration with one set of rates, for `threads` of the host, measured for so many seconds. `tell` may be empty.
  [[nodiscard]] Calibration measure_rates(int device, int threads, double seconds,
                                          const std::function<void(double)>& tell) const;

  [[nodiscard]] const ozbound_plugin_table& table() const { return *table_; }

 private:
  const ozbound_plugin_table* table_;
};

/// Engine, examiner and native DGEMM of a device of a plug-in: what they are asked is answered there, bit for bit. Slices,
/// bounds and copies stay there; so do the bounds of plans that its examiner calls remote.
class PluginBackend {
 public:
  /// @param threads of the host, for the parts of a product outside the device; 0: as many as OpenMP would use
  /// @throws std::invalid_argument if there is no such device.
  PluginBackend(const Plugin& plugin, int device, int threads = 0);
  ~PluginBackend();
  PluginBackend(const PluginBackend&) = delete;
  PluginBackend& operator=(const PluginBackend&) = delete;

  [[nodiscard]] const Engine& engine() const;
  [[nodiscard]] const Examiner& examiner() const;
  [[nodiscard]] const NativeGemm* native() const;  ///< null where there is none

  /// All of them. @param costs null: the engine's, which count products. This and they must outlive it.
  [[nodiscard]] Backend backend(const CostModel* costs = nullptr) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace ozbound::plugin
