// SPDX-License-Identifier: BSD-3-Clause
// A plug-in of counterfeit devices, made as libozbound_cuda.so is.

#include "plugin/counterfeit_devices.hpp"

extern "C" __attribute__((visibility("default"))) const ozbound_plugin_table* ozbound_plugin(std::uint32_t) {
  static const auto& devices = *new ozbound::test::CounterfeitDevices();
  return ozbound::plugin::export_table(devices);
}
