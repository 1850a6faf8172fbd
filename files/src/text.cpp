// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ozbound/core/float_environment.hpp"

namespace ozbound::files {
namespace {

constexpr std::size_t longest_quote = 40;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view wanted) {
  throw std::invalid_argument(fmt::format("{}: {} is not {}", what, quote(text), wanted));
}

/// A sign and the digits after it. The sign is separate because from_chars accepts neither '+', nor "-" before "0x".
std::pair<bool, std::string_view> split_sign(std::string_view text) {
  if (text.starts_with('-')) return {true, text.substr(1)};
  if (text.starts_with('+')) return {false, text.substr(1)};
  return {false, text};
}

bool is_hexadecimal(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

/// log2 of the unit at the end of a size, such as 30 for G, GB or GiB; -1 for anything else.
int unit_shift(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  if (unit.size() > 1 && unit.substr(1) != "B" && unit.substr(1) != "iB") return -1;
  constexpr std::string_view prefixes = "KMGT";
  const auto place = prefixes.find(unit.front() == 'k' ? 'K' : unit.front());
  return place == std::string_view::npos ? -1 : 10 * (static_cast<int>(place) + 1);
}

/// The unit of a duration in milliseconds; 0 for anything else.
double unit_milliseconds(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit.empty() || unit == "s") return 1e3;
  return unit == "m" ? 60e3 : unit == "h" ? 3600e3 : 0;
}

double read_back(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, longest_quote))
    if (is_control(c) || static_cast<unsigned char>(c) > 0x7e)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  return out + (text.size() > longest_quote ? "...'" : "'");
}

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), is_control, ' ');
  return out;
}

double parse_real(std::string_view text, std::string_view what) {
  const FloatEnvironment environment;  // from_chars uses the caller's rounding mode
  const auto [negative, unsigned_text] = split_sign(text);
  const bool hexadecimal = is_hexadecimal(unsigned_text);
  const auto digits = hexadecimal ? unsigned_text.substr(2) : unsigned_text;
  double value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] =
      std::from_chars(digits.data(), last, value, hexadecimal ? std::chars_format::hex : std::chars_format::general);
  const bool has_second_sign = digits.starts_with('-');
  if (error == std::errc::invalid_argument || end != last || has_second_sign || (hexadecimal && !std::isfinite(value)))
    refuse(what, text, "a number");
  if (error != std::errc()) refuse(what, text, "within the range of a double");
  return negative ? -value : value;
}

std::complex<double> parse_complex(std::string_view text, std::string_view what) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return parse_real(text, what);
  return {parse_real(text.substr(0, comma), what), parse_real(text.substr(comma + 1), what)};
}

std::string complex_text(const std::complex<double>& x) {
  const FloatEnvironment environment;
  return x.imag() == 0 ? fmt::format("{}", x.real()) : fmt::format("{},{}", x.real(), x.imag());
}

std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc::invalid_argument || end != last) refuse(what, text, "an integer");
  if (error != std::errc() || value < low || value > high)
    refuse(what, text,
           high == std::numeric_limits<std::int64_t>::max() ? fmt::format("an integer of at least {}", low)
                                                            : fmt::format("between {} and {}", low, high));
  return value;
}

std::uint64_t parse_unsigned(std::string_view text, std::string_view what) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) refuse(what, text, "an integer from 0 to 2^64 - 1");
  return value;
}

std::uint64_t parse_bytes(std::string_view text, std::string_view what) {
  constexpr std::string_view wanted = "a size, such as 512M or 2GiB";
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc()) refuse(what, text, wanted);
  const int shift = unit_shift({end, last});
  if (shift < 0 || value > std::numeric_limits<std::uint64_t>::max() >> shift) refuse(what, text, wanted);
  return value << shift;
}

std::chrono::milliseconds parse_duration(std::string_view text, std::string_view what) {
  const FloatEnvironment environment;
  constexpr std::string_view wanted = "a time, such as 300s or 5m";
  constexpr double longest = 10000 * 3600e3;
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  const double milliseconds = number * unit_milliseconds({end, last});
  if (error != std::errc() || !(milliseconds > 0) || milliseconds > longest) refuse(what, text, wanted);
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(milliseconds)));
}

std::string format_bytes(std::uint64_t bytes) {
  const FloatEnvironment environment;
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto scaled = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; scaled >= 1024 && unit + 1 < units.size(); ++unit) scaled /= 1024;
  return fmt::format("{:.1f} {}", scaled, units[unit]);
}

std::string format_upper(double x) {
  const FloatEnvironment environment;
  if (!std::isfinite(x) || x < 1e-300) return fmt::format("{}", x);
  const auto nearest = fmt::format("{:.3e}", x);
  double value = read_back(nearest);
  const int exponent = std::stoi(nearest.substr(nearest.find('e') + 1));
  if (value < x) value += read_back(fmt::format("1e{}", exponent - 3));
  return fmt::format("{:.4g}", value);
}

std::string shell_command(const std::vector<std::string>& arguments) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  std::string command;
  for (const auto& argument : arguments) {
    if (!command.empty()) command += ' ';
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) {
      command += argument;
      continue;
    }
    command += '\'';
    for (const char c : argument) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += '\'';
  }
  return command;
}

}  // namespace ozbound::files
