// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/magnitude.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ozbound/verify/hex_text.hpp"
#include "uint128.hpp"

namespace ozbound {
namespace {

using Uint128 = VerifyUint128;
enum class Toward { up, down };

constexpr std::uint64_t hidden_bit = std::uint64_t{1} << 52;

/// The significand as an integer in [2^52, 2^53). @pre x is neither zero nor infinite.
std::uint64_t integer_significand(const Magnitude& x) { return static_cast<std::uint64_t>(x.significand * 0x1p52); }

int bit_length(Uint128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto length = high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(value));
  return static_cast<int>(length);
}

/// value * 2^exponent, rounded to 53 bits.
Magnitude round_to_53_bits(Uint128 value, std::int64_t exponent, Toward toward) {
  if (value == 0) return {};
  const int length = bit_length(value);
  if (length <= 53)
    return {std::ldexp(static_cast<double>(static_cast<std::uint64_t>(value)), 1 - length), exponent + length - 1};
  const int shift = length - 53;
  auto top = static_cast<std::uint64_t>(value >> shift);
  if (toward == Toward::up && (Uint128{top} << shift) != value) ++top;
  const bool carried = top == 2 * hidden_bit;
  return {carried ? 1.0 : static_cast<double>(top) * 0x1p-52, exponent + length - 1 + (carried ? 1 : 0)};
}

/// m * 2^(64 - distance), with all bits below 1 combined into the last bit.
Uint128 aligned_significand(std::uint64_t m, std::int64_t distance) {
  if (distance <= 64) return Uint128{m} << (64 - distance);
  if (distance >= 128) return 1;
  const int shift = static_cast<int>(distance - 64);
  const Uint128 kept = shift < 64 ? m >> shift : 0;
  return kept | 1;
}

Magnitude add(const Magnitude& x, const Magnitude& y, Toward toward) {
  if (x < y) return add(y, x, toward);
  if (x.is_infinite() || y.is_zero()) return x;
  const auto sum =
      (Uint128{integer_significand(x)} << 64) + aligned_significand(integer_significand(y), x.exponent - y.exponent);
  return round_to_53_bits(sum, x.exponent - 52 - 64, toward);
}

Magnitude multiply(const Magnitude& x, const Magnitude& y, Toward toward) {
  if (x.is_infinite() || y.is_infinite()) {
    const bool vanishes = (x.is_zero() || y.is_zero()) && toward == Toward::down;
    return vanishes ? Magnitude{} : Magnitude::infinity();
  }
  if (x.is_zero() || y.is_zero()) return {};
  const auto product = Uint128{integer_significand(x)} * integer_significand(y);
  return round_to_53_bits(product, x.exponent + y.exponent - 104, toward);
}

/// floor(sqrt(value)), bit by bit. @pre value < 2^127.
std::uint64_t integer_sqrt(Uint128 value) {
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const auto candidate = root | (std::uint64_t{1} << bit);
    if (Uint128{candidate} * candidate <= value) root = candidate;
  }
  return root;
}

Magnitude square_root(const Magnitude& x, Toward toward) {
  if (x.is_zero() || x.is_infinite()) return x;
  const bool odd = (x.exponent & 1) != 0;
  const auto radicand = Uint128{integer_significand(x)} << (odd ? 73 : 72);  // an even power of two times x
  const auto root = integer_sqrt(radicand);
  const bool exact = Uint128{root} * root == radicand;
  const auto sticky = (Uint128{root} << 1) | (exact ? 0U : 1U);
  return round_to_53_bits(sticky, (x.exponent - (odd ? 1 : 0)) / 2 - 26 - 36 - 1, toward);
}

double to_double(const Magnitude& x, Toward toward) {
  if (x.is_zero() || x.is_infinite()) return x.significand;
  using Limits = std::numeric_limits<double>;
  if (x.exponent > 1023) return toward == Toward::up ? Limits::infinity() : Limits::max();
  if (x.exponent >= -1022) return std::ldexp(x.significand, static_cast<int>(x.exponent));
  const auto m = integer_significand(x);
  const auto shift = -1022 - x.exponent;
  const auto kept = shift < 64 ? m >> shift : 0;
  const bool exact = shift < 64 && (kept << shift) == m;
  return std::bit_cast<double>(kept + (toward == Toward::up && !exact ? 1U : 0U));  // counts units of 2^-1074
}

}  // namespace

Magnitude Magnitude::of(double x) {
  if (std::isnan(x)) throw std::invalid_argument("x must not be NaN");
  if (std::isinf(x)) return infinity();
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto field = static_cast<std::int64_t>((bits >> 52) & 0x7ff);
  const auto fraction = bits & (hidden_bit - 1);
  return round_to_53_bits(field == 0 ? fraction : fraction | hidden_bit, (field == 0 ? 1 : field) - 1075, Toward::down);
}

Magnitude Magnitude::infinity() { return {std::numeric_limits<double>::infinity(), 0}; }

std::strong_ordering Magnitude::operator<=>(const Magnitude& other) const {
  const auto rank = [](const Magnitude& x) { return x.is_zero() ? 0 : x.is_infinite() ? 2 : 1; };
  if (const auto order = rank(*this) <=> rank(other); order != 0) return order;
  if (const auto order = exponent <=> other.exponent; order != 0) return order;
  if (significand == other.significand) return std::strong_ordering::equal;
  return significand < other.significand ? std::strong_ordering::less : std::strong_ordering::greater;
}

Magnitude add_upper(const Magnitude& x, const Magnitude& y) { return add(x, y, Toward::up); }
Magnitude add_lower(const Magnitude& x, const Magnitude& y) { return add(x, y, Toward::down); }

Magnitude distance_upper(const Magnitude& x, const Magnitude& y) {
  if (x < y) return distance_upper(y, x);
  if (x.is_infinite() || y.is_zero()) return x;
  const auto distance = x.exponent - y.exponent;
  if (distance > 64) return x;  // the difference is below x by much less than 2^-53 x
  const auto difference = (Uint128{integer_significand(x)} << 64) - aligned_significand(integer_significand(y), distance);
  return round_to_53_bits(difference, x.exponent - 52 - 64, Toward::up);
}

Magnitude multiply_upper(const Magnitude& x, const Magnitude& y) { return multiply(x, y, Toward::up); }
Magnitude multiply_lower(const Magnitude& x, const Magnitude& y) { return multiply(x, y, Toward::down); }

Magnitude divide_upper(const Magnitude& x, const Magnitude& y) {
  if (x.is_zero()) return {};
  if (y.is_zero() || x.is_infinite()) return Magnitude::infinity();
  if (y.is_infinite()) return {};
  const auto dividend = Uint128{integer_significand(x)} << 64;
  const auto divisor = integer_significand(y);
  const auto quotient = (dividend / divisor) | (dividend % divisor != 0 ? 1U : 0U);
  return round_to_53_bits(quotient, x.exponent - y.exponent - 64, Toward::up);
}

Magnitude sqrt_upper(const Magnitude& x) { return square_root(x, Toward::up); }
Magnitude sqrt_lower(const Magnitude& x) { return square_root(x, Toward::down); }

double to_double_upper(const Magnitude& x) { return to_double(x, Toward::up); }
double to_double_lower(const Magnitude& x) { return to_double(x, Toward::down); }

std::string to_string(const Magnitude& x) {
  if (x.is_infinite()) return "inf";
  const auto text = hex_text(x.significand);
  return x.is_zero() ? "0x0p+0" : fmt::format("{}p{:+}", text.substr(0, text.find('p')), x.exponent);
}

}  // namespace ozbound
