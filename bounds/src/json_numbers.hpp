// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace ozbound {

/// A number for JSON, which has no infinity: "inf" and "-inf" replace it.
inline nlohmann::json json_number(double x) {
  if (std::isfinite(x)) return x;
  return x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
}

}  // namespace ozbound
