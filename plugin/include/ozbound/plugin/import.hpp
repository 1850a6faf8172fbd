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

/// An error reported by a device or its driver: `cudaStreamSynchronize: unspecified launch failure`.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A plug-in ended a call in an unexpected way.
class InternalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The reason why a table cannot be used, in one line: it has another version or release. Empty if it can be used.
std::string mismatch(const ozbound_plugin_table* table);

/// The devices behind a table. Its functions rethrow the exceptions of the table's functions: the same types of std and of
/// Ozbound with the same texts, up to some 2000 bytes; DeviceError, and InternalError for other types. In a child of fork() of
/// the process that loaded the table, every call throws DeviceError, also those of its backends. Their resources are left to
/// the parent.
class Plugin {
 public:
  /// @pre mismatch(&table) is empty, and the table stays loaded as long as the process lives.
  explicit Plugin(const ozbound_plugin_table& table) : table_(&table) {}

  /// The reason why no device can be used, in one line; empty if one can.
  [[nodiscard]] std::string obstacle() const;
  [[nodiscard]] int device_count() const;
  /// @throws std::invalid_argument if there is no such device.
  [[nodiscard]] DeviceInfo device(int device) const;
  /// Returns device memory that products no longer need to the device.
  void release_memory(int device) const;
  /// Measures a calibration with one set of rates, for `threads` host threads, for about `seconds` seconds. `tell` may be
  /// empty.
  [[nodiscard]] Calibration measure_rates(int device, int threads, double seconds,
                                          const std::function<void(double)>& tell) const;

  [[nodiscard]] const ozbound_plugin_table& table() const { return *table_; }

 private:
  const ozbound_plugin_table* table_;
};

/// Engine, examiner and native DGEMM of a plug-in's device. They pass every call to the device and return its results bit for
/// bit. Slices, bounds and copies stay on the device; so do the bounds of plans that its examiner returns as remote.
class PluginBackend {
 public:
  /// @param threads number of host threads, for the parts of a product outside the device; 0: OpenMP's number
  /// @throws std::invalid_argument if there is no such device.
  PluginBackend(const Plugin& plugin, int device, int threads = 0);
  ~PluginBackend();
  PluginBackend(const PluginBackend&) = delete;
  PluginBackend& operator=(const PluginBackend&) = delete;

  [[nodiscard]] const Engine& engine() const;
  [[nodiscard]] const Examiner& examiner() const;
  [[nodiscard]] const NativeGemm* native() const;  ///< null if there is none

  /// A Backend of all of them. @param costs null: the engine's costs, which count products. This object and the costs must
  /// outlive the Backend.
  [[nodiscard]] Backend backend(const CostModel* costs = nullptr) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace ozbound::plugin
