// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "ozbound/bounds/calibration.hpp"

namespace ozbound::plugin {

struct DeviceInfo {
  std::string name;                ///< `NVIDIA H200`
  std::string compute_capability;  ///< `9.0`
  std::uint64_t memory = 0;        ///< bytes
  Calibration calibration;         ///< the properties a calibration must have to apply, and the tile of a new one; no rates
};

}  // namespace ozbound::plugin
