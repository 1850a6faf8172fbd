// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

// A fingerprint is a sum modulo 2^64 over elements, each mixed with its position. The order of summation does not matter.

/// Difference between the keys of consecutive elements: 2^64 over the golden ratio, odd.
inline constexpr std::uint64_t fingerprint_step = 0x9e3779b97f4a7c15;

/// The key of element (i, l) of a matrix, where `number` is i * cols + l.
OZB_HD constexpr std::uint64_t fingerprint_key(std::uint64_t number) { return (number + 1) * fingerprint_step; }

/// fingerprint_term of a number whose NaN is Format's own.
OZB_HD constexpr std::uint64_t fingerprint_term_of_one_nan(std::uint64_t bits, std::uint64_t key) {
  std::uint64_t z = bits + key;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// The contribution of an element: the last step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators), which is one to one. `bits` are those of a binary64 number; all NaNs count as the same number.
OZB_HD constexpr std::uint64_t fingerprint_term(std::uint64_t bits, std::uint64_t key) {
  return fingerprint_term_of_one_nan(is_nan(bits, binary64) ? Format(binary64).nan : bits, key);
}

/// The same for a number. The comparison that finds a NaN is cheap on devices.
OZB_HD constexpr std::uint64_t fingerprint_term(double x, std::uint64_t key) {
  return fingerprint_term_of_one_nan(x != x ? Format(binary64).nan : bits_of(x), key);
}

}  // namespace ozbound
