// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/host_device.hpp"
#include "ozbound/core/integer_norms.hpp"

namespace ozbound {

/// ||x||_1, ||x||_2, ||x||_inf rounded up, relative to the scale rho of x's vector.
struct PartNorms {
  double of[3] = {};
};

/// The norms of row and column in each alternative: ||.||_2 pairs with ||.||_2, and ||.||_1 with ||.||_inf in both orders.
inline constexpr std::size_t dual_norms[3][2] = {{1, 1}, {0, 2}, {2, 0}};

/// A part of a vector under a slicing. A term of a plan's bound uses its norms.
struct VectorPart {
  enum class Kind : std::uint8_t {
    slice,                ///< slice p
    tail,                 ///< the rest after p slices; the vector itself for p = 0
    leading,              ///< slices 1 … p together: the vector without its tail
    all_slices,           ///< the sum of all slices' norms, times the factor: a bound of sum |p_t|
    vector_times_factor,  ///< the vector, times the factor
    unless_zero,          ///< the factor, unless the vector is zero
  };

  Kind kind = Kind::tail;
  int p = 0;
  double factor = 1;
};

OZB_HD inline double root_upper(const IntegerNorms& norms) {
  if (norms.zero()) return 0;
  if (norms.sum_squares == ~std::uint64_t{0}) return double_from_bits(binary64.inf);
  return next_up(std::sqrt(to_double_upper(norms.sum_squares)));
}

/// A vector's ||.||_1 relative to its scale, rounded up. @param sum the sum of IntegerNorms
OZB_HD inline double relative_sum_upper(std::uint64_t sum) {
  return to_double_upper(sum) * power_of_two(-IntegerNorms::fraction_bits);
}

/// Norms of integers in units of rho 2^unit, unit < 1000.
OZB_HD inline PartNorms norms_upper(const IntegerNorms& norms, int unit) {
  const double scale = power_of_two(unit > -1000 ? unit : -1000);  // adaptive weights may be arbitrarily small
  return {{to_double_upper(norms.sum) * scale, root_upper(norms) * scale, to_double_upper(norms.max) * scale}};
}

OZB_HD inline PartNorms sum_upper(const PartNorms& x, const PartNorms& y) {
  return {{add_upper(x.of[0], y.of[0]), add_upper(x.of[1], y.of[1]), add_upper(x.of[2], y.of[2])}};
}

OZB_HD inline PartNorms multiply_upper(const PartNorms& x, double factor) {
  return {{multiply_upper(x.of[0], factor), multiply_upper(x.of[1], factor), multiply_upper(x.of[2], factor)}};
}

/// The norms of a part of one vector. Facts provides slices(), norms of the vector(), of slice(p) and tail(p), and
/// weight_exponent(p). @pre a FloatEnvironment.
template <class Facts>
OZB_HD PartNorms norms_of_part(const Facts& facts, const VectorPart& part) {
  constexpr int fraction = IntegerNorms::fraction_bits;
  const auto vector = [&] { return norms_upper(facts.vector(), -fraction); };
  const auto slice = [&](int p) { return norms_upper(facts.slice(p), facts.weight_exponent(p)); };
  const auto tail = [&](int p) { return p == 0 ? vector() : norms_upper(facts.tail(p), facts.weight_exponent(p) - fraction); };
  switch (part.kind) {
    case VectorPart::Kind::slice: return slice(part.p);
    case VectorPart::Kind::tail: return tail(part.p);
    case VectorPart::Kind::leading: return sum_upper(vector(), tail(part.p));
    case VectorPart::Kind::all_slices: {
      PartNorms sum;
      for (int p = 1; p <= facts.slices(); ++p) sum = sum_upper(sum, slice(p));
      return multiply_upper(sum, part.factor);
    }
    case VectorPart::Kind::vector_times_factor: return multiply_upper(vector(), part.factor);
    case VectorPart::Kind::unless_zero: {
      const double factor = facts.vector().zero() ? 0 : part.factor;
      return {{factor, factor, factor}};
    }
  }
  return {};
}

}  // namespace ozbound
