// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace ozbound::models {

/// The rounding of a unit or a conversion: to nearest with ties to even, or by dropping the lower bits.
enum class Rounding : std::uint8_t { nearest_even, toward_zero };

/// A floating-point format of a word, an operand or a result of a unit. It includes subnormal numbers and is contained in
/// binary64.
struct WordFormat {
  std::string_view name;
  int precision;         ///< significand bits, the hidden one included
  int least_exponent;    ///< weight of the last bit of a subnormal number
  int largest_exponent;  ///< of a finite number

  /// The unit roundoff u = 2^-precision of rounding to nearest.
  [[nodiscard]] double unit_roundoff() const;

  /// Half the smallest subnormal: the largest error of rounding x to nearest when it exceeds u |x|.
  [[nodiscard]] double half_subnormal() const;
};

inline constexpr WordFormat binary16_word{"binary16", 11, -24, 15};
inline constexpr WordFormat bfloat16_word{"bfloat16", 8, -133, 127};
inline constexpr WordFormat binary32_word{"binary32", 24, -149, 127};
inline constexpr WordFormat binary64_word{"binary64", 53, -1074, 1023};

/// x rounded once to the format, by integer arithmetic. Beyond the range the result is +-Inf to nearest, the largest finite
/// number towards zero. A zero is +0. Infinities stay. @pre all numbers of the format fit binary32; the FP environment keeps
/// subnormals.
/// @throws std::invalid_argument for a NaN.
float round_to(const WordFormat& format, double x, Rounding rounding = Rounding::nearest_even);

}  // namespace ozbound::models
