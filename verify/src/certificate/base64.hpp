// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ozbound::checking {

/// The bytes in a base64 text (RFC 4648, section 4, with padding). Empty if no encoder would write the text.
std::optional<std::string> bytes_in_base64(std::string_view text);

/// Numbers of 4 or 8 bytes each, least significant byte first. Empty if the text is not base64, or ends within a number.
template <class Number>
std::optional<std::vector<Number>> numbers_in(std::string_view text) {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  static_assert(sizeof(Bits) == sizeof(Number));
  const auto bytes = bytes_in_base64(text);
  if (!bytes || bytes->size() % sizeof(Bits) != 0) return std::nullopt;
  std::vector<Number> numbers(bytes->size() / sizeof(Bits));
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    Bits bits = 0;
    for (std::size_t b = 0; b < sizeof(Bits); ++b)
      bits |= static_cast<Bits>(static_cast<unsigned char>((*bytes)[t * sizeof(Bits) + b])) << 8 * b;
    numbers[t] = std::bit_cast<Number>(bits);
  }
  return numbers;
}

}  // namespace ozbound::checking
