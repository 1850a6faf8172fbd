// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <type_traits>

namespace ozbound::files {

/// True if a double holds this integer: at most 53 bits from its first to its last set bit.
template <std::integral Integer>
constexpr bool is_exactly_double(Integer value) {
  using Magnitude = std::make_unsigned_t<Integer>;
  const auto magnitude =
      value < 0 ? static_cast<Magnitude>(Magnitude{0} - static_cast<Magnitude>(value)) : static_cast<Magnitude>(value);
  return magnitude == 0 || static_cast<int>(std::bit_width(magnitude)) - std::countr_zero(magnitude) <= 53;
}

}  // namespace ozbound::files
