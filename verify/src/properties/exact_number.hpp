// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <ostream>
#include <utility>

#include "ozbound/verify/number_classes.hpp"

namespace ozbound::exact_arithmetic {

using sampling::Anatomy;

/// Without expression templates, so that `auto` and `?:` get a number.
using cpp_int = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

/// integer * 2^exponent, by which properties and tests judge. Exact and slow; shares no code with the judged code.
struct Exact {
  cpp_int integer = 0;
  int exponent = 0;

  Exact() = default;
  Exact(cpp_int n, int e) : integer(std::move(n)), exponent(e) {}

  /// A finite number, exactly.
  explicit Exact(double x) {
    int e = 0;
    integer = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &e), 53));
    exponent = e - 53;
  }

  /// This number in units of 2^e, an integer. @pre it is an integer in these units, or e <= exponent.
  [[nodiscard]] cpp_int in_units_of(int e) const {
    return e <= exponent ? integer << (exponent - e) : integer >> (e - exponent);
  }
  [[nodiscard]] Exact magnitude() const { return {abs(integer), exponent}; }
  [[nodiscard]] Exact times_power_of_two(int e) const { return {integer, exponent + e}; }
  [[nodiscard]] bool is_zero() const { return integer == 0; }

  /// floor(log2 |x|). @pre x is not 0.
  [[nodiscard]] int top_exponent() const { return exponent + static_cast<int>(msb(abs(integer))); }

  friend Exact operator+(const Exact& x, const Exact& y) {
    const int e = std::min(x.exponent, y.exponent);
    return {x.in_units_of(e) + y.in_units_of(e), e};
  }
  friend Exact operator-(const Exact& x) { return {-x.integer, x.exponent}; }
  friend Exact operator-(const Exact& x, const Exact& y) { return x + -y; }
  friend Exact operator*(const Exact& x, const Exact& y) { return {x.integer * y.integer, x.exponent + y.exponent}; }
  friend bool operator==(const Exact& x, const Exact& y) { return (x - y).is_zero(); }
  friend std::strong_ordering operator<=>(const Exact& x, const Exact& y) { return (x - y).integer.compare(0) <=> 0; }
  friend std::ostream& operator<<(std::ostream& out, const Exact& x) { return out << x.integer << " * 2^" << x.exponent; }
};

inline Exact power_of_two_exact(int e) { return {1, e}; }

/// The largest integer <= x / 2^e.
inline cpp_int floor_in_units(const Exact& x, int e) {
  if (e <= x.exponent) return x.in_units_of(e);
  const cpp_int unit = cpp_int(1) << (e - x.exponent);
  cpp_int quotient = x.integer / unit;
  if (quotient * unit > x.integer) --quotient;
  return quotient;
}

/// x / 2^e rounded towards zero to an integer.
inline cpp_int truncate_in_units(const Exact& x, int e) {
  const cpp_int floor = floor_in_units(x.magnitude(), e);
  return x.integer < 0 ? -floor : floor;
}

/// x / 2^e rounded to the nearest integer, ties to even.
inline cpp_int nearest_in_units(const Exact& x, int e) {
  cpp_int floor = floor_in_units(x, e);
  const auto twice_rest = (x - Exact{floor, e}).times_power_of_two(1);
  const auto order = twice_rest <=> Exact{1, e};
  if (order > 0 || (order == 0 && floor % 2 != 0)) ++floor;
  return floor;
}

/// x rounded once to T, to nearest, ties to even. An exact zero gives +0, numbers from the overflow threshold on an infinity.
template <class T>
T rounded(const Exact& x) {
  using A = Anatomy<T>;
  if (x.is_zero()) return 0;
  const int last = std::max(x.top_exponent() - A::precision + 1, A::least);
  const cpp_int significand = nearest_in_units(x.magnitude(), last);
  const auto overflow = Exact{1, A::largest + 1};
  const T magnitude = Exact{significand, last} >= overflow
                          ? std::numeric_limits<T>::infinity()
                          : std::ldexp(static_cast<T>(static_cast<std::uint64_t>(significand)), last);
  return x.integer < 0 ? -magnitude : magnitude;
}

/// The bits of x rounded once to T.
template <class T>
std::uint64_t rounded_bits(const Exact& x) {
  if constexpr (sizeof(T) == sizeof(double))
    return std::bit_cast<std::uint64_t>(rounded<T>(x));
  else
    return std::bit_cast<std::uint32_t>(rounded<T>(x));
}

/// The distance of x to the nearest number at which the bits of its rounding to T change: a midpoint of neighbours, the
/// overflow threshold, or zero, at which the sign changes.
template <class T>
Exact distance_to_boundary(const Exact& x) {
  using A = Anatomy<T>;
  const auto magnitude = x.magnitude();
  if (magnitude.is_zero()) return magnitude;
  auto least = magnitude;  // the distance to zero
  const auto consider = [&](const Exact& boundary) { least = std::min(least, (magnitude - boundary).magnitude()); };
  const auto threshold = Exact{(cpp_int(1) << (A::precision + 1)) - 1, A::largest - A::precision};
  consider(threshold);
  const auto binade = power_of_two_exact(magnitude.top_exponent());
  for (const bool own : {true, false}) {  // midpoints of the number's own binade, and of the binade below, which has a finer
                                          // grid
    const int last = std::max(magnitude.top_exponent() - (own ? 0 : 1) - A::precision + 1, A::least);
    const cpp_int odd = floor_in_units(magnitude, last) * 2 + 1;  // midpoints are odd multiples of half a unit
    for (int step = -2; step <= 2; step += 2) {
      const auto midpoint = Exact{odd + step, last - 1};
      if (midpoint < threshold && (midpoint > binade) == own) consider(midpoint);
    }
  }
  return least;
}

}  // namespace ozbound::exact_arithmetic
