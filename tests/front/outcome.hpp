// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace ozbound::mirror {

/// A decision without the backend.
inline std::string common_decision(nlohmann::json decision) {
  decision.erase("engine");
  return decision.dump();
}

/// A certificate without the assumption about tensor cores, which only the search for the worst entry makes.
inline std::string common_certificate(nlohmann::json certificate) {
  auto& assumptions = certificate["assumptions"];
  if (!assumptions.is_array()) throw std::logic_error("a certificate without assumptions: " + certificate.dump());
  std::erase_if(assumptions.get_ref<nlohmann::json::array_t&>(), [](const nlohmann::json& assumption) {
    return assumption.get<std::string>().find("tensor core") != std::string::npos;
  });
  certificate.erase("seal");  // the seal covers the whole text
  return certificate.dump();
}

}  // namespace ozbound::mirror
