// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ozbound {

/// The JSON value that is the whole of `text`. Refuses objects with a duplicated member, of which JSON libraries would keep
/// only one.
/// @throws std::invalid_argument describing the error; for invalid JSON it names the line.
inline nlohmann::json parse_json(std::string_view text) {
  using nlohmann::json;
  std::vector<std::set<std::string>> open;
  const auto watch = [&open](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      throw std::invalid_argument("'" + value.get<std::string>() + "' is there twice");
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::out_of_range&) {
    throw std::invalid_argument("a number in it lies outside the range of a double");
  } catch (const json::parse_error& error) {
    const auto read = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    throw std::invalid_argument(fmt::format("line {}: this is not JSON", std::count(read.begin(), read.end(), '\n') + 1));
  }
}

}  // namespace ozbound
