// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/json_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/files/text.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound::files {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;

/// Refuses an object that names a member twice: JSON libraries differ in the one that they keep.
nlohmann::json::parser_callback_t refusing_twice(const InputFile& file) {
  using nlohmann::json;
  return [&file, open = std::vector<std::set<std::string>>()](int, json::parse_event_t event, json& value) mutable {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      throw InputError(file.name(), quote(value.get<std::string>()) + " is there twice");
    return true;
  };
}

}  // namespace

nlohmann::json read_json(const InputFile& file) {
  const FloatEnvironment environment;
  if (file.size() > largest_file) throw InputError(file.name(), "the file is too large for a report");
  const auto text = file.head(static_cast<std::size_t>(file.size()));
  try {
    return nlohmann::json::parse(text, refusing_twice(file));
  } catch (const nlohmann::json::parse_error& error) {
    const auto read = std::string_view(text).substr(0, error.byte == 0 ? 0 : error.byte - 1);
    throw InputError(fmt::format("{}:{}", file.name(), std::count(read.begin(), read.end(), '\n') + 1), "this is not JSON");
  } catch (const nlohmann::json::out_of_range&) {
    throw InputError(file.name(), "a number in it lies outside the range of a double");
  }
}

bool is_report(const nlohmann::json& json) {
  return json.is_object() && json.contains("schema") && json["schema"] == "ozbound-report-1";
}

const nlohmann::json& member_of_report(const InputFile& file, const nlohmann::json& json, const char* name) {
  if (!is_report(json)) return json;
  if (!json.contains(name)) throw InputError(file.name(), fmt::format("the report has no {}", name));
  return json[name];
}

}  // namespace ozbound::files
