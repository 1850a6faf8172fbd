// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "../plain_environment.hpp"

namespace ozbound::checking {

// A second implementation of the arithmetic of docs/derivations/rounding.md: an operation to nearest, then the neighbour.
// Operands are >= 0.

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline double up(double x) { return std::nextafter(x, infinity); }
inline double down(double x) { return std::nextafter(x, 0.0); }

inline double sum_up(double x, double y) { return x == 0 ? y : y == 0 ? x : up(x + y); }
inline double sum_down(double x, double y) { return x == 0 ? y : y == 0 ? x : down(x + y); }
inline double product_up(double x, double y) { return x == 0 || y == 0 ? 0 : up(x * y); }
inline double product_down(double x, double y) { return x == 0 || y == 0 ? 0 : down(x * y); }
inline double quotient_up(double x, double y) { return x == 0 ? 0 : up(x / y); }
inline double quotient_down(double x, double y) { return x == 0 ? 0 : down(x / y); }
inline double difference_down(double x, double y) { return x <= y ? 0 : y == 0 ? x : down(x - y); }

/// An integer as a double: exact below 2^53, from there on the upper neighbour of the nearest double.
inline double integer_up(std::uint64_t x) { return x >> 53 == 0 ? static_cast<double>(x) : up(static_cast<double>(x)); }
inline double integer_down(std::uint64_t x) { return x >> 53 == 0 ? static_cast<double>(x) : down(static_cast<double>(x)); }

/// The square root of an integer x >= 1: its leading 53 bits, one at a time. The rest of x thus never becomes negative.
inline double root_down(std::uint64_t x) {
  int scale = 0;  // exponent of the root's last bit
  std::uint64_t leading = x;
  for (; leading >= 4; leading >>= 2) ++scale;
  std::uint64_t rest = leading - 1;  // the leading bits of x read so far, minus root^2: at most 2 root
  std::uint64_t root = 1;
  for (int pair = 2 * scale - 2; pair > 2 * scale - 2 * 53; pair -= 2) {
    rest = rest << 2 | (pair >= 0 ? x >> pair & 3 : 0);
    root <<= 1;
    const std::uint64_t trial = 2 * root + 1;
    if (rest >= trial) rest -= trial, ++root;
  }
  return std::ldexp(static_cast<double>(root), scale - 52);
}

/// n u / (1 - n u), or 2 n u if that is smaller.
inline double gamma_down(std::uint64_t n, double u) {
  const double x = integer_down(n) * u;
  return x > 0.5 ? 2 * x : quotient_down(x, 1 - x);  // the difference is exact
}

inline bool unit(double x) { return x == 1 || x == -1; }

/// significand * 2^exponent, beyond the range of a double.
struct Wide {
  double significand = 0;
  std::int64_t exponent = 0;

  /// |x|, with a significand below 2.
  static Wide of(double x) {
    int exponent = 0;
    const double leading = std::frexp(std::fabs(x), &exponent);
    return {leading, exponent};
  }

  /// Infinity beyond the largest number; at least the smallest number.
  [[nodiscard]] double value_up() const {
    if (significand == 0) return 0;
    const auto w = normal();
    if (w.exponent > 1024) return infinity;
    if (w.exponent < -1074) return 0x1p-1074;
    const double value = std::ldexp(w.significand, static_cast<int>(w.exponent));
    return value < 0x1p-1000 ? up(value) : value;
  }

  /// The largest number beyond it; 0 below the smallest number.
  [[nodiscard]] double value_down() const {
    const auto w = normal();
    if (significand == 0 || w.exponent < -1074) return 0;
    if (w.exponent > 1024) return std::numeric_limits<double>::max();
    const double value = std::ldexp(w.significand, static_cast<int>(w.exponent));
    return value < 0x1p-1000 ? down(value) : value;
  }

 private:
  /// The same value with 1/2 <= significand < 1.
  [[nodiscard]] Wide normal() const {
    int shift = 0;
    const double leading = std::frexp(significand, &shift);
    return {leading, exponent + shift};
  }
};

inline Wide product_up(const Wide& x, const Wide& y) {
  return {product_up(x.significand, y.significand), x.exponent + y.exponent};
}
inline Wide product_down(const Wide& x, const Wide& y) {
  return {product_down(x.significand, y.significand), x.exponent + y.exponent};
}

}  // namespace ozbound::checking
