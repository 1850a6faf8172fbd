// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// Largest number of slices of a Slicing: 20 balanced digits hold 159 bits below a row's scale.
inline constexpr int max_slices = 20;

/// The rule that turns a row of A (or a column of B) into small integers; docs/derivations/slicing.md.
///
/// A row has the scale rho = 2^e. Digit p = 1, 2, … has the weight rho * 2^(lead - radix_bits * p), or at most that weight for
/// nearest_adaptive.
struct Encoding {
  enum class Kind : std::uint8_t {
    truncated,         ///< beta bits of the magnitude, with the sign of the number
    ozimmu,            ///< like truncated, with one bit less in the first digit, as ozIMMU was released
    nearest,           ///< each digit rounds the rest to nearest even; |digit| <= 2^(beta-1)
    balanced,          ///< radix 2^8 with carries; digits fill int8, [-128, 127]
    unsigned8,         ///< radix 2^8 rounded down, two's complement: the first digit in [-128, 127], the others in [0, 255]
    nearest_adaptive,  ///< like nearest, but each slice of each vector has a scale of its own
  };

  Kind kind = Kind::balanced;
  int beta = 8;  ///< 1 … 7, or 8 for balanced and unsigned8

  /// @throws std::invalid_argument unless 1 <= beta <= 7.
  static Encoding truncated(int beta);
  static Encoding ozimmu(int beta);
  static Encoding nearest(int beta);
  static Encoding nearest_adaptive(int beta);
  OZB_HD static constexpr Encoding balanced() { return {Kind::balanced, 8}; }
  OZB_HD static constexpr Encoding unsigned8() { return {Kind::unsigned8, 8}; }

  [[nodiscard]] OZB_HD constexpr int radix_bits() const { return beta; }
  [[nodiscard]] OZB_HD constexpr int lead() const;

  /// Largest |digit|: D in the INT32 limit terms * D_A * D_B <= 2^31 - 1.
  [[nodiscard]] OZB_HD constexpr int digit_magnitude() const;

  /// True if the bytes of digit p (1-based) are uint8, not int8.
  [[nodiscard]] OZB_HD constexpr bool unsigned_digit(int p) const { return kind == Kind::unsigned8 && p > 1; }

  /// Digit p from its stored byte.
  [[nodiscard]] OZB_HD constexpr int digit(int p, std::int8_t byte) const { return unsigned_digit(p) ? byte & 0xff : byte; }

  /// True if digit p has the same weight relative to rho in all vectors. The pairs of a diagonal then have one weight too.
  [[nodiscard]] OZB_HD constexpr bool common_ratio() const { return kind != Kind::nearest_adaptive; }

  /// Exponent of the weight of digit p (1-based), relative to rho; for nearest_adaptive the largest one. Also the unit of the
  /// residual after p digits.
  [[nodiscard]] OZB_HD constexpr int weight_exponent(int p) const { return lead() - beta * p; }

  /// e of the scale rho = 2^e of a row whose largest magnitude is `top` (0 for a row of zeros).
  [[nodiscard]] OZB_HD constexpr int scale_exponent(Dyadic top) const;

  constexpr bool operator==(const Encoding&) const = default;
};

OZB_HD constexpr int Encoding::lead() const {
  switch (kind) {
    case Kind::truncated: return 0;
    case Kind::ozimmu:
    case Kind::nearest:
    case Kind::nearest_adaptive:
    case Kind::balanced:
    case Kind::unsigned8: return 1;
  }
  return 0;
}

OZB_HD constexpr int Encoding::digit_magnitude() const {
  switch (kind) {
    case Kind::truncated:
    case Kind::ozimmu: return (1 << beta) - 1;
    case Kind::nearest:
    case Kind::nearest_adaptive:
    case Kind::balanced: return 1 << (beta - 1);
    case Kind::unsigned8: return 255;
  }
  return 0;
}

OZB_HD constexpr int Encoding::scale_exponent(Dyadic top) const {
  if (top.magnitude == 0) return 0;
  const int length = bit_length(top.magnitude);
  const auto significand = top.magnitude << (64 - length);  // bit 63 set
  constexpr auto one = std::uint64_t{1} << 63;
  const int above = top.exponent + length;  // 2 ufp(top) = 2^above
  switch (kind) {
    case Kind::truncated:
    case Kind::ozimmu:
    case Kind::unsigned8: return above;
    case Kind::nearest:
    case Kind::nearest_adaptive: return significand == one ? above - 1 : above;
    // s digits hold at most 127 (256^s - 1) / 255 < 2^(8s-1) - 1: significands from 0x1.FDp0 on need the larger scale.
    case Kind::balanced: return significand >= std::uint64_t{0x1FD} << 55 ? above + 1 : above;
  }
  return above;
}

/// An encoding and a number of digits.
struct Slicing {
  Encoding encoding;
  int slices = 1;  ///< 1 … max_slices

  constexpr bool operator==(const Slicing&) const = default;
};

/// All encodings; those of a common ratio, which every accumulation accepts.
std::vector<Encoding> all_encodings();
std::vector<Encoding> common_ratio_encodings();

/// `truncated7`, `ozimmu7`, `nearest5`, `nearest_adaptive7`, `balanced`, `unsigned8`.
std::string to_string(const Encoding& encoding);

/// @throws std::invalid_argument for any text that to_string does not print.
Encoding parse_encoding(std::string_view text);

}  // namespace ozbound
