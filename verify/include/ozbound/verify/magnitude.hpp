// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace ozbound {

/// A non-negative number significand * 2^exponent. Its range far exceeds that of double, because errors and magnitudes of
/// products reach 2^(+-3200).
///
/// The significand lies in [1, 2), or is 0 or +Inf with exponent 0, so equal values have equal members. Arithmetic uses
/// integers: the caller's rounding mode and flush-to-zero do not matter. Results of `_upper` functions are never below the true
/// result, those of `_lower` functions never above. Both are within 2^-52 relative, and exact results stay exact.
struct Magnitude {
  double significand = 0;
  std::int64_t exponent = 0;

  /// |x|, exactly. @throws std::invalid_argument for a NaN.
  static Magnitude of(double x);
  static Magnitude infinity();
  static Magnitude power_of_two(std::int64_t exponent) { return {1, exponent}; }

  [[nodiscard]] bool is_zero() const { return significand == 0; }
  [[nodiscard]] bool is_infinite() const { return significand > 2; }

  bool operator==(const Magnitude&) const = default;
  std::strong_ordering operator<=>(const Magnitude& other) const;
};

Magnitude add_upper(const Magnitude& x, const Magnitude& y);
Magnitude add_lower(const Magnitude& x, const Magnitude& y);

/// |x - y|. Inf - Inf is Inf.
Magnitude distance_upper(const Magnitude& x, const Magnitude& y);

/// 0 * Inf is Inf in the upper product, 0 in the lower.
Magnitude multiply_upper(const Magnitude& x, const Magnitude& y);
Magnitude multiply_lower(const Magnitude& x, const Magnitude& y);

/// x / y with 0 / y = 0 even for y = 0; x / 0 = Inf for x > 0; Inf / Inf = Inf; otherwise x / Inf = 0.
Magnitude divide_upper(const Magnitude& x, const Magnitude& y);

Magnitude sqrt_upper(const Magnitude& x);
Magnitude sqrt_lower(const Magnitude& x);

/// The nearest double that is not below (not above) x. Beyond the range: Inf (the largest finite double). May be subnormal.
double to_double_upper(const Magnitude& x);
double to_double_lower(const Magnitude& x);

/// Exact, in hexadecimal: `0x1.8p-2100`, `0x0p+0`, `inf`.
std::string to_string(const Magnitude& x);

}  // namespace ozbound
