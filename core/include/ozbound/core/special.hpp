// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// The effect of NaN and infinities on one entry; it depends only on the inputs.
///
/// The entry is the sum of the terms alpha * a_il * b_lj and beta * c0 over the extended reals. It is NaN if any factor is NaN,
/// if a term is 0 * Inf, or if both infinities occur. Otherwise, if an infinity occurs, it is that infinity. Terms are added
/// one by one. A finite term never matters, so that only rows and columns with specials need to be read.
class SpecialSum {
 public:
  /// Adds the term x * y * z; each factor is given by the bits of a binary64 number.
  OZB_HD constexpr void add(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    const std::uint64_t factors[] = {x, y, z};
    bool infinite = false;
    bool zero = false;
    for (const auto bits : factors) {
      nan_ = nan_ || is_nan(bits, binary64);
      infinite = infinite || (bits & ~binary64.sign) == binary64.inf;
      zero = zero || (bits & ~binary64.sign) == 0;
    }
    if (!infinite) return;
    nan_ = nan_ || zero;
    const bool negative = ((x ^ y ^ z) & binary64.sign) != 0;
    (negative ? minus_ : plus_) = true;
  }

  [[nodiscard]] OZB_HD constexpr bool is_special() const { return nan_ || plus_ || minus_; }

  /// The bits of the result in a format. @pre is_special().
  [[nodiscard]] OZB_HD constexpr std::uint64_t bits(Format format) const {
    if (nan_ || (plus_ && minus_)) return format.nan;
    return minus_ ? format.inf | format.sign : format.inf;
  }

 private:
  bool nan_ = false;
  bool plus_ = false;
  bool minus_ = false;
};

/// The bits of the same value in binary64: exact, and independent of the caller's flush-to-zero setting. NaN stays NaN.
OZB_HD constexpr std::uint64_t widen_bits(float x) {
  const auto bits = bits_of(x);
  const auto sign = (bits & binary32.sign) << 32;
  if (is_nan(bits, binary32)) return sign | binary64.nan;
  if (!is_finite(bits, binary32)) return sign | binary64.inf;
  const auto value = to_dyadic(bits, binary32);
  if (value.magnitude == 0) return sign;
  const int length = bit_length(value.magnitude);
  const auto field = static_cast<std::uint64_t>(value.exponent + length - 1 + 1023 - 1);  // the hidden bit adds 1
  return sign | ((field << 52) + (value.magnitude << (53 - length)));
}

}  // namespace ozbound
