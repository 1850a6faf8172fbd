#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/encoding.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Exact integer norms of a vector of non-negative integers; the unit is stated where they are kept.
struct IntegerNorms {
  std::uint64_t sum = 0;          ///< ||.||_1
  std::uint64_t sum_squares = 0;  ///< ||.||_2^2; stays at 2^64 - 1 once it would pass
  std::uint64_t max = 0;          ///< ||.||_inf

  void add(std::uint64_t x);
  void add(const IntegerNorms& other);  ///< of further elements
  [[nodiscard]] bool zero() const { return max == 0; }
};

/// What a bound needs to know of one vector, from integers alone, so that every engine gets the same bound.
struct VectorFacts {
  /// Bits below a weight (below rho for the vector itself) at which magnitudes are rounded up to integers.
  static constexpr int fraction_bits = 16;

  IntegerNorms vector;               ///< |x| in units of rho 2^-16, rounded up
  std::uint64_t floor_squares = 0;   ///< sum of squares of |x| in units of rho 2^-16, rounded down: below ||x||_2^2
  std::vector<IntegerNorms> slices;  ///< [p-1]: the digits of slice p, exact
  std::vector<IntegerNorms> tails;   ///< [p-1]: |T_p|, what p slices leave, in units of weight_p 2^-16, rounded up
  VectorScale scale;
  std::vector<std::int16_t> weights =
      {};  ///< [p-1]: exponent of weight_p over rho; empty where the encoding has a common ratio

  /// Exponent of the weight of digit p over rho.
  [[nodiscard]] int weight_exponent(const Encoding& encoding, int p) const {
    return weights.empty() ? encoding.weight_exponent(p) : weights[static_cast<std::size_t>(p - 1)];
  }
};

/// Facts about every vector of an operand under a slicing; what SlicedMatrix would hold, measured and not kept.
struct SliceFacts {
  Slicing slicing;
  std::vector<VectorFacts> vectors;

  SliceFacts(InputView operand, Side side, Slicing slicing, int threads);
};

}  // namespace ozbound
