// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

__extension__ using uint128 = unsigned __int128;

/// A non-negative integer of 64 * Limbs bits, least significant limb first.
template <int Limbs>
struct WideInteger {
  std::uint64_t limb[static_cast<std::size_t>(Limbs)] = {};

  [[nodiscard]] OZB_HD constexpr int bits() const {
    for (int i = Limbs - 1; i >= 0; --i)
      if (limb[i] != 0) return 64 * i + bit_length(limb[i]);
    return 0;
  }

  [[nodiscard]] OZB_HD constexpr bool is_zero() const { return bits() == 0; }

  /// Adds x << shift: the lowest 64 bits of x << (shift mod 64) at limb shift / 64, the bits above them at the next. Carries
  /// run up.
  /// @pre shift >= 0 and the sum fits.
  OZB_HD constexpr void add(std::uint64_t x, int shift) {
    const int at = shift / 64;
    const int within = shift % 64;
    add_limb(x << within, at);
    if (within != 0) add_limb(x >> (64 - within), at + 1);
  }

  OZB_HD constexpr void add(const WideInteger& other) {
    std::uint64_t carry = 0;
    for (int i = 0; i < Limbs; ++i) {
      const auto sum = limb[i] + other.limb[i];
      const auto total = sum + carry;
      carry = static_cast<std::uint64_t>(sum < other.limb[i]) + static_cast<std::uint64_t>(total < carry);
      limb[i] = total;
    }
  }

  /// @pre other <= *this.
  OZB_HD constexpr void subtract(const WideInteger& other) {
    std::uint64_t borrow = 0;
    for (int i = 0; i < Limbs; ++i) {
      const auto difference = limb[i] - other.limb[i];
      const auto total = difference - borrow;
      borrow = static_cast<std::uint64_t>(limb[i] < other.limb[i]) + static_cast<std::uint64_t>(difference < borrow);
      limb[i] = total;
    }
  }

  [[nodiscard]] OZB_HD constexpr bool less_than(const WideInteger& other) const {
    for (int i = Limbs - 1; i >= 0; --i)
      if (limb[i] != other.limb[i]) return limb[i] < other.limb[i];
    return false;
  }

  /// Bits [low, low + 64); bits outside the integer read as zero.
  [[nodiscard]] OZB_HD constexpr std::uint64_t word_at(int low) const {
    const int at = low >= 0 ? low / 64 : -((63 - low) / 64);
    const int within = low - 64 * at;
    const auto get = [this](int i) { return i >= 0 && i < Limbs ? limb[i] : std::uint64_t{0}; };
    return within == 0 ? get(at) : (get(at) >> within) | (get(at + 1) << (64 - within));
  }

  /// True if any bit below `low` is set.
  [[nodiscard]] OZB_HD constexpr bool any_below(int low) const {
    for (int i = 0; i < Limbs && 64 * i < low; ++i) {
      const int kept = low - 64 * i;
      if ((kept >= 64 ? limb[i] : limb[i] & ((std::uint64_t{1} << kept) - 1)) != 0) return true;
    }
    return false;
  }

 private:
  OZB_HD constexpr void add_limb(std::uint64_t x, int at) {
    while (x != 0 && at < Limbs) {
      limb[at] += x;
      x = limb[at] < x ? 1 : 0;
      ++at;
    }
  }
};

/// x * y for y < 2^64, one limb longer.
template <int Limbs>
OZB_HD constexpr WideInteger<Limbs + 1> multiply(const WideInteger<Limbs>& x, std::uint64_t y) {
  WideInteger<Limbs + 1> product;
  std::uint64_t carry = 0;
  for (int i = 0; i < Limbs; ++i) {
    const auto wide = static_cast<uint128>(x.limb[i]) * y + carry;
    product.limb[i] = static_cast<std::uint64_t>(wide);
    carry = static_cast<std::uint64_t>(wide >> 64);
  }
  product.limb[Limbs] = carry;
  return product;
}

/// x * 2^shift in a wider (or equal) integer; shift may be negative, and the bits below the point are lost.
template <int To, int From>
OZB_HD constexpr WideInteger<To> shifted(const WideInteger<From>& x, int shift) {
  WideInteger<To> result;
  for (int i = 0; i < To; ++i) result.limb[i] = x.word_at(64 * i - shift);
  return result;
}

}  // namespace ozbound
