// SPDX-License-Identifier: BSD-3-Clause
#include "base64.hpp"

namespace ozbound::checking {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of a base64 digit, 0 to 63; negative for other characters.
int digit_of(char character) {
  const auto place = alphabet.find(character);
  return place == std::string_view::npos ? -1 : static_cast<int>(place);
}

}  // namespace

std::optional<std::string> bytes_in_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t kept = 0;
  int bits = 0;
  for (const char character : text.substr(0, text.size() - padding)) {
    const int digit = digit_of(character);
    if (digit < 0) return std::nullopt;
    kept = kept << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(kept >> bits & 0xff));
    kept &= (1U << bits) - 1;
  }
  if (kept != 0) return std::nullopt;  // non-zero bits after the last byte
  return bytes;
}

}  // namespace ozbound::checking
