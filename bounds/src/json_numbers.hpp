#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace ozbound {

/// JSON has no infinity: "inf" stands for it.
inline nlohmann::json json_number(double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(x > 0 ? "inf" : "nan"); }

}  // namespace ozbound
