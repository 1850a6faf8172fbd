// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/exact_sum.hpp"
#include "ozbound/core/detail/wide_integer.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// A dot product of finite doubles, exactly: a superaccumulator with every product on one fixed-point grid from 2^-2148 up.
///
/// Each signed bin has 32 bits and 32 more for delayed carries. There is room for 2^60 terms.
class ExactDot {
 public:
  static constexpr int limbs = 67;  ///< 2148 bits below the point, 2048 above, 60 of head room, rounded up
  static constexpr int least_exponent = 2 * binary64.least_exponent;

  static constexpr int bins = 2 * limbs;

  /// The contributions of a product to five consecutive bins; each |part| < 2^34.
  struct Parts {
    int bin;
    std::int64_t of[5];
  };

  OZB_HD static constexpr Parts parts_of(Dyadic x, Dyadic y) {
    const auto product = static_cast<uint128>(x.magnitude) * y.magnitude;
    const int shift = x.exponent + y.exponent - least_exponent;
    const auto low = static_cast<uint128>(static_cast<std::uint64_t>(product)) << (shift % 32);
    const auto high = static_cast<uint128>(static_cast<std::uint64_t>(product >> 64)) << (shift % 32);
    const std::int64_t sign = x.negative != y.negative ? -1 : 1;
    return {shift / 32,
            {sign * part(low, 0), sign * part(low, 32), sign * (part(low, 64) + part(high, 0)), sign * part(high, 32),
             sign * part(high, 64)}};
  }

  OZB_HD constexpr void add_product(Dyadic x, Dyadic y) {
    if (x.magnitude == 0 || y.magnitude == 0) return;
    const auto parts = parts_of(x, y);
    for (int t = 0; t < 5; ++t) bins_[parts.bin + t] += parts.of[t];
    if (++terms_ % terms_between_carries == 0) carry();
  }

  /// Adds a sum, kept elsewhere, of parts of less than 2^28 products. Call it at most once per bin of a sum.
  OZB_HD constexpr void add_to_bin(int bin, std::int64_t sum) { bins_[bin] += sum; }

  /// Adds the terms of another sum.
  OZB_HD constexpr void add(ExactDot other) {
    carry();
    other.carry();
    for (int i = 0; i < bins; ++i) bins_[i] += other.bins_[i];
    carry();
  }

  /// The sum so far.
  [[nodiscard]] OZB_HD constexpr WideDyadic<limbs> value() const {
    auto carried = *this;
    carried.carry();
    WideDyadic<limbs> result;
    result.exponent = least_exponent;
    for (int i = 0; i < limbs; ++i)
      result.magnitude.limb[i] =
          static_cast<std::uint64_t>(carried.bins_[2 * i]) | static_cast<std::uint64_t>(carried.bins_[2 * i + 1]) << 32;
    result.negative = carried.bins_[bins - 1] < 0;
    if (result.negative) {
      WideInteger<limbs> zero;
      zero.subtract(result.magnitude);  // modulo 2^(64 limbs)
      result.magnitude = zero;
    }
    return result;
  }

  /// alpha * value() + beta * c0, rounded once.
  [[nodiscard]] OZB_HD constexpr std::uint64_t round(const Scalars& scalars, Dyadic c0) const {
    return GridSum<limbs + 2>::of(times(value(), scalars.alpha), times(widen(c0), scalars.beta)).round(scalars.format);
  }

 private:
  static constexpr int terms_between_carries = 1024;  // each term adds less than 2^34 to a bin

  OZB_HD static constexpr std::int64_t part(uint128 x, int low) {
    return static_cast<std::int64_t>(static_cast<std::uint32_t>(x >> low));
  }

  /// Reduces every bin to 32 bits; the last bin keeps the sign.
  OZB_HD constexpr void carry() {
    for (int i = 0; i < bins - 1; ++i) {
      bins_[i + 1] += bins_[i] >> 32;
      bins_[i] &= 0xffffffff;
    }
  }

  std::int64_t bins_[static_cast<std::size_t>(bins)] = {};
  std::int64_t terms_ = 0;
};

}  // namespace ozbound
