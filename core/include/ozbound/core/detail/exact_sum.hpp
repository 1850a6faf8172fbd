// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/detail/wide_integer.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// A signed integer times a power of two.
template <int Limbs>
struct WideDyadic {
  WideInteger<Limbs> magnitude;
  std::int32_t exponent = 0;  ///< weight of bit 0
  bool negative = false;
};

/// A rounded floating-point number. `decided` is true if every number in the enclosure rounds to the same bits.
struct Rounded {
  std::uint64_t bits = 0;
  bool decided = true;
};

/// alpha * S + beta * C0 as one integer on one grid: X + Y. A sticky bit stands for the bits of the smaller term below the
/// grid. Sign and magnitude; |X + Y| = (magnitude + (sticky ? something in (0, 1) : 0)) * 2^exponent.
template <int Limbs>
struct GridSum {
  WideInteger<Limbs> magnitude;
  std::int32_t exponent = 0;
  bool negative = false;
  bool sticky = false;

  /// The exact sum, or its floor with a sticky bit; docs/derivations/slicing.md (S7). There is room for a term of 64 * Limbs -
  /// 64 bits and for all bits of the other term that can overlap it. A sticky bit lies at least 60 bits below the leading bit
  /// of the sum.
  template <int XLimbs, int YLimbs>
  OZB_HD static constexpr GridSum of(const WideDyadic<XLimbs>& x, const WideDyadic<YLimbs>& y) {
    static_assert(XLimbs < Limbs && YLimbs < Limbs);
    const int x_bits = x.magnitude.bits();
    const int y_bits = y.magnitude.bits();
    if (x_bits == 0 && y_bits == 0) return {};
    const int x_top = x.exponent + x_bits;
    const int y_top = y.exponent + y_bits;
    const bool x_leads = y_bits == 0 || (x_bits != 0 && x_top > y_top);
    const int base = (x_leads ? x_top : y_top) + 2 - 64 * Limbs;  // room for a carry, and for the radius of round_enclosed
    auto larger = shifted<Limbs>(x.magnitude, x.exponent - base);
    auto smaller = shifted<Limbs>(y.magnitude, y.exponent - base);
    const bool sticky = x.magnitude.any_below(base - x.exponent) || y.magnitude.any_below(base - y.exponent);
    const bool swap = larger.less_than(smaller);
    if (swap) {
      const auto keep = larger;
      larger = smaller;
      smaller = keep;
    }
    const bool negative = swap ? y.negative : x.negative;
    if (x.negative == y.negative) {
      larger.add(smaller);
    } else {
      larger.subtract(smaller);
      if (sticky) larger.subtract(WideInteger<Limbs>{{1}});  // U - (L + f) = (U - L - 1) + (1 - f)
    }
    return {larger, base, negative, sticky};
  }

  /// The sum rounded once to a format, to nearest, ties to even; an exact zero is +0, an overflow +-Inf.
  [[nodiscard]] OZB_HD constexpr std::uint64_t round(Format format) const {
    return round_magnitude(magnitude, sticky, format) | (negative && (sticky || !magnitude.is_zero()) ? format.sign : 0);
  }

  /// The sum +- error * 2^error_exponent, both rounded to a format: decided if both give the same bits (Ziv's test).
  template <int ErrorLimbs>
  [[nodiscard]] OZB_HD constexpr Rounded round_enclosed(const WideDyadic<ErrorLimbs>& error, Format format) const {
    const auto bits = round(format);
    if (error.magnitude.is_zero()) return {bits, true};
    const int shift = error.exponent - exponent;
    if (shift + error.magnitude.bits() > 64 * Limbs - 2) return {bits, false};
    auto radius = shifted<Limbs>(error.magnitude, shift);
    const auto one = WideInteger<Limbs>{{1}};
    if (error.magnitude.any_below(-shift)) radius.add(one);
    if (sticky) radius.add(one);
    if (!radius.less_than(magnitude)) return {bits, false};
    auto above = magnitude;
    above.add(radius);
    auto below = magnitude;
    below.subtract(radius);
    return {bits, round_magnitude(below, false, format) == round_magnitude(above, false, format)};
  }

 private:
  [[nodiscard]] OZB_HD constexpr std::uint64_t round_magnitude(const WideInteger<Limbs>& value, bool rest,
                                                               Format format) const {
    const int length = value.bits();
    if (length == 0)
      return 0;  // a sticky bit below an all-zero magnitude cannot occur: it stands 60 bits below the leading bit
    const int top = exponent + length - format.precision;
    const int last = top > format.least_exponent ? top : format.least_exponent;  // weight of the last bit that is kept
    const int low = last - exponent;
    if (low > length) return 0;
    auto significand = value.word_at(low);
    if (low > 0) {
      const bool half = (value.word_at(low - 1) & 1) != 0;
      const bool below = rest || value.any_below(low - 1);
      if (half && (below || (significand & 1) != 0)) ++significand;
    }
    const auto field = static_cast<std::uint64_t>(last - format.least_exponent);
    if (field > (format.inf >> (format.precision - 1))) return format.inf;
    // The hidden bit, and a carry out of the significand, increment the exponent field by themselves.
    const auto bits = (field << (format.precision - 1)) + significand;
    return bits < format.inf ? bits : format.inf;
  }
};

}  // namespace ozbound
