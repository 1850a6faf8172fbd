// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "ozbound/plugin/load.hpp"
#include "plugin/counterfeit_devices.hpp"

namespace ozbound::test {

inline std::string test_plugin(const std::string& name) { return std::string(OZBOUND_TEST_PLUGINS "/lib") + name + ".so"; }

/// The plug-in of counterfeit devices.
inline const plugin::Plugin& counterfeit() {
  static const auto loaded = plugin::load(test_plugin("ozbound_counterfeit"));
  if (loaded.plugin == nullptr) throw std::runtime_error(loaded.obstacle);
  return *loaded.plugin;
}

/// A device used directly, and the same device used through the plug-in.
struct BothWays {
  explicit BothWays(int device, int threads = 2)
      : here(CounterfeitDevices().make(device, threads)), through(counterfeit(), device, threads) {}

  [[nodiscard]] Backend direct() const {
    return {here->engine(), here->examiner(), here->native(), nullptr, through.backend().id()};
  }

  std::unique_ptr<plugin::ExportedBackend> here;
  plugin::PluginBackend through;
};

/// Checks after each test that nothing is left in the plug-in.
class PluginTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(counterfeit().table().alive(), 0); }
};

}  // namespace ozbound::test
