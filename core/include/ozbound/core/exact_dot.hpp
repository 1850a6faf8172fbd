#pragma once

#include <cstdint>

#include "ozbound/core/combine.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/exact_sum.hpp"
#include "ozbound/core/host_device.hpp"
#include "ozbound/core/wide_integer.hpp"

namespace ozbound {

/// A dot product of finite doubles, exactly: every product on one fixed-point grid from 2^-2148 up (a superaccumulator).
///
/// Positive and negative products are summed apart, so that a change of sign does not run a carry through every limb.
/// Room for 2^60 terms.
class ExactDot {
 public:
  static constexpr int limbs = 67;  ///< 2148 bits below the point, 2048 above, 60 of head room, rounded up
  static constexpr int least_exponent = 2 * binary64.least_exponent;

  OZB_HD constexpr void add_product(Dyadic x, Dyadic y) {
    if (x.magnitude == 0 || y.magnitude == 0) return;
    const auto product = static_cast<uint128>(x.magnitude) * y.magnitude;
    const int shift = x.exponent + y.exponent - least_exponent;
    auto& sum = x.negative != y.negative ? negative_ : positive_;
    sum.add(static_cast<std::uint64_t>(product), shift);
    sum.add(static_cast<std::uint64_t>(product >> 64), shift + 64);
  }

  /// The sum so far.
  [[nodiscard]] OZB_HD constexpr WideDyadic<limbs> value() const {
    WideDyadic<limbs> result{positive_, least_exponent, positive_.less_than(negative_)};
    if (result.negative) {
      result.magnitude = negative_;
      result.magnitude.subtract(positive_);
    } else {
      result.magnitude.subtract(negative_);
    }
    return result;
  }

  /// alpha * value() + beta * c0, rounded once.
  [[nodiscard]] OZB_HD constexpr std::uint64_t round(const Scalars& scalars, Dyadic c0) const {
    return GridSum<limbs + 2>::of(scaled(value(), scalars.alpha), scaled(widen(c0), scalars.beta)).round(scalars.format);
  }

 private:
  WideInteger<limbs> positive_;
  WideInteger<limbs> negative_;
};

}  // namespace ozbound
