// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "ozbound/core/float_environment.hpp"

namespace ozbound::drop_in {
namespace {

[[noreturn]] void refuse(const char* variable, const std::string& why, std::string_view text) {
  throw std::invalid_argument(std::string(variable) + " must be " + why + ": " + std::string(text));
}

/// Parses a decimal number of at least 0 and at most `most`.
double number(const char* variable, std::string_view text, double most, const std::string& why) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || !(value <= most))
    refuse(variable, why, text);
  return value;
}

}  // namespace

void check_mode(const std::string& text) {
  if (text != "off" && text != "shadow") refuse(variable_mode, "off or shadow", text);
}

Settings Settings::read(const std::function<const char*(const char*)>& get) {
  const FloatEnvironment environment;
  Settings settings;
  // An empty value counts as unset.
  const auto value_of = [&get](const char* variable) {
    const char* const text = get(variable);
    return text == nullptr ? std::string_view() : std::string_view(text);
  };
  if (const auto text = value_of(variable_target); !text.empty()) try {
      settings.target = parse_target(std::string(text));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string(variable_target) + ": " + error.what());
    }
  if (const auto text = value_of(variable_min_work); !text.empty())
    settings.min_work = number(variable_min_work, text, HUGE_VAL, "a number of multiplications m n k, 0 or more");
  if (const auto text = value_of(variable_share); !text.empty())
    settings.share = number(variable_share, text, 1e6, "a share of native's time, 0 to 1e6");
  if (const auto text = value_of(variable_log); !text.empty()) settings.log = text;
  if (const auto text = value_of(variable_summary); !text.empty()) {
    if (text != "0" && text != "1") refuse(variable_summary, "0 or 1", text);
    settings.summary = text == "1";
  }
  return settings;
}

}  // namespace ozbound::drop_in
