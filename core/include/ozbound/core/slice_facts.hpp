// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ozbound/core/encoding.hpp"
#include "ozbound/core/integer_norms.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The facts about one vector that bounds need. They are integers, so that every engine gets the same bound.
struct VectorFacts {
  static constexpr int fraction_bits = IntegerNorms::fraction_bits;

  IntegerNorms vector;               ///< |x| in units of rho 2^-16, rounded up
  std::uint64_t floor_squares = 0;   ///< sum of squares of |x| in units of rho 2^-16, rounded down: below ||x||_2^2
  std::vector<IntegerNorms> slices;  ///< [p-1]: the digits of slice p, exact
  std::vector<IntegerNorms> tails;   ///< [p-1]: |T_p|, the rest after p slices, in units of weight_p 2^-16, rounded up
  VectorScale scale;
  std::vector<std::int16_t> weights =
      {};  ///< [p-1]: exponent of weight_p over rho; empty where the encoding has a common ratio

  /// Exponent of the weight of digit p over rho.
  [[nodiscard]] int weight_exponent(const Encoding& encoding, int p) const {
    return weights.empty() ? encoding.weight_exponent(p) : weights[static_cast<std::size_t>(p - 1)];
  }
};

/// Facts about every vector of an operand under a slicing. They describe the digits of a SlicedMatrix without keeping them.
struct SliceFacts {
  Slicing slicing;
  std::vector<VectorFacts> vectors;

  SliceFacts(InputView operand, Side side, Slicing slicing, int threads);

  /// Takes the facts that an engine measured.
  SliceFacts(Slicing under, std::vector<VectorFacts> measured) : slicing(under), vectors(std::move(measured)) {}
};

}  // namespace ozbound
