// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/json_text.hpp"

#include <nlohmann/json.hpp>

#include "ozbound/core/float_environment.hpp"

namespace ozbound {

std::string json_text(const nlohmann::json& record, int indent) {
  const FloatEnvironment environment;
  return record.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ozbound
