// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace ozbound {

// Members of a certificate's JSON. `object` is the name of an object in the certificate, empty for the certificate itself.

[[noreturn]] inline void refuse_member(const std::string& object, const std::string& name, const std::string& wrong) {
  throw std::invalid_argument("certificate: '" + (object.empty() ? name : object + "." + name) + "' " + wrong);
}

inline const nlohmann::json& any_member(const nlohmann::json& json, const std::string& object, const char* name) {
  if (!json.is_object())
    throw std::invalid_argument("certificate: " + (object.empty() ? "it" : "'" + object + "'") + " is no object");
  if (!json.contains(name)) refuse_member(object, name, "is missing");
  return json.at(name);
}

inline std::string string_member(const nlohmann::json& json, const std::string& object, const char* name) {
  const auto& value = any_member(json, object, name);
  if (!value.is_string()) refuse_member(object, name, "is not a string");
  return value.get<std::string>();
}

/// A number, or "inf", "-inf", "nan".
inline double number_member(const nlohmann::json& json, const std::string& object, const char* name) {
  const auto& value = any_member(json, object, name);
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  refuse_member(object, name, "is not a number");
}

/// A number >= 0, or "inf".
inline double bound_member(const nlohmann::json& json, const std::string& object, const char* name) {
  const double value = number_member(json, object, name);
  if (!(value >= 0)) refuse_member(object, name, "is not a bound");
  return value;
}

}  // namespace ozbound
