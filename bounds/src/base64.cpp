// SPDX-License-Identifier: BSD-3-Clause
#include "base64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ozbound {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digits = [] {
  std::array<std::uint8_t, 256> all{};
  all.fill(no_digit);
  for (std::size_t digit = 0; digit < alphabet.size(); ++digit)
    all[static_cast<unsigned char>(alphabet[digit])] = static_cast<std::uint8_t>(digit);
  return all;
}();

/// Byte number `place`; 0 beyond the end.
std::uint32_t byte(std::string_view bytes, std::size_t place) {
  return place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t t = 0; t < bytes.size(); t += 3) {
    const auto three = byte(bytes, t) << 16 | byte(bytes, t + 1) << 8 | byte(bytes, t + 2);
    for (int shift = 18; shift >= 0; shift -= 6) text.push_back(alphabet[three >> shift & 63]);
  }
  const auto missing = (3 - bytes.size() % 3) % 3;
  for (std::size_t t = 0; t < missing; ++t) text[text.size() - 1 - t] = '=';
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t t = 0; t < text.size(); t += 4) {
    const auto wanted = t + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t three = 0;
    for (std::size_t d = 0; d < wanted; ++d) {
      const auto digit = digits[static_cast<unsigned char>(text[t + d])];
      if (digit == no_digit) return std::nullopt;
      three |= std::uint32_t{digit} << (18 - 6 * d);
    }
    for (std::size_t b = 0; b + 1 < wanted; ++b) bytes.push_back(static_cast<char>(three >> (16 - 8 * b) & 255));
    if ((three << (8 * (wanted - 1)) & 0xffffff) != 0) return std::nullopt;  // bits after the last byte are set
  }
  return bytes;
}

}  // namespace ozbound
