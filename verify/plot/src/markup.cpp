// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/plot/markup.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ozbound::markup {
namespace {

constexpr const char* replacement = "\xef\xbf\xbd";

std::string valid_utf8(std::string_view text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: is_control(c) ? out += replacement : out += c;
    }
  }
  return out;
}

std::string number(double x) { return fmt::format("{:.4g}", x); }

}  // namespace ozbound::markup
