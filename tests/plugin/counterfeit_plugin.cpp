// SPDX-License-Identifier: BSD-3-Clause
// A plug-in of counterfeit devices, built like libozbound_cuda.so.

#include "plugin/counterfeit_devices.hpp"

extern "C" __attribute__((visibility("default"))) const ozbound_plugin_table* ozbound_plugin(std::uint32_t) {
  static const auto& devices = *new ozbound::test::CounterfeitDevices();
  return ozbound::plugin::export_table(devices);
}
