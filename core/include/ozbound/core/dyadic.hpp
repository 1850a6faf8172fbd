// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// Number of bits of x: 0 for 0, else floor(log2 x) + 1.
OZB_HD constexpr int bit_length(std::uint64_t x) {
#ifdef __CUDA_ARCH__
  return 64 - __clzll(static_cast<long long>(x));
#else
  return x == 0 ? 0 : 64 - __builtin_clzll(x);
#endif
}

/// A finite floating-point number, exactly: (negative ? -1 : 1) * magnitude * 2^exponent.
struct Dyadic {
  std::uint64_t magnitude = 0;  ///< < 2^53
  std::int32_t exponent = 0;    ///< weight of bit 0, as a power of two
  bool negative = false;

  /// floor(log2 |x|) of a non-zero x. Together with `exponent` it determines the scale.
  [[nodiscard]] OZB_HD constexpr int top_exponent() const { return exponent + bit_length(magnitude) - 1; }
};

/// The parameters of a binary interchange format, independent of the floating-point environment. Pass it by value: device code
/// may use a host constant, but not refer to it.
struct Format {
  int precision;       ///< significand bits, the hidden one included
  int least_exponent;  ///< weight of the last bit of a subnormal number
  std::uint64_t inf;   ///< bits of +Inf
  std::uint64_t nan;   ///< bits of the quiet NaN that the project writes
  std::uint64_t sign;  ///< the sign bit
};

inline constexpr Format binary64{53, -1074, 0x7ff0000000000000, 0x7ff8000000000000, 0x8000000000000000};
inline constexpr Format binary32{24, -149, 0x7f800000, 0x7fc00000, 0x80000000};

OZB_HD constexpr std::uint64_t bits_of(double x) { return __builtin_bit_cast(std::uint64_t, x); }
OZB_HD constexpr std::uint64_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
OZB_HD constexpr double double_from_bits(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
OZB_HD constexpr float float_from_bits(std::uint64_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits));
}

OZB_HD constexpr bool is_finite(std::uint64_t bits, Format format) { return (bits & ~format.sign) < format.inf; }
OZB_HD constexpr bool is_nan(std::uint64_t bits, Format format) { return (bits & ~format.sign) > format.inf; }

/// True if x is +-0, read from its bits: in a caller's denormals-are-zero mode a comparison calls subnormal numbers zero.
OZB_HD constexpr bool is_zero(double x) { return (bits_of(x) & ~binary64.sign) == 0; }

/// Decomposes a finite number of a format, given by its bits. A zero has magnitude 0.
OZB_HD constexpr Dyadic to_dyadic(std::uint64_t bits, Format format) {
  const int stored = format.precision - 1;
  const auto fraction = bits & ((std::uint64_t{1} << stored) - 1);
  const auto field = static_cast<int>((bits & ~format.sign) >> stored);
  const auto hidden = field == 0 ? std::uint64_t{0} : std::uint64_t{1} << stored;
  return {fraction | hidden, format.least_exponent + (field == 0 ? 0 : field - 1), (bits & format.sign) != 0};
}

OZB_HD constexpr Dyadic to_dyadic(double x) { return to_dyadic(bits_of(x), binary64); }
OZB_HD constexpr Dyadic to_dyadic(float x) { return to_dyadic(bits_of(x), binary32); }

}  // namespace ozbound
