// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/integer_norms.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The last bit of a zero vector: above the last bit of any other vector.
inline constexpr std::int32_t no_last_bit = 1 << 20;

/// Facts about a vector that residues need, and that bound its Euclidean norm from below. All are exact, and found in one pass
/// over the elements. A vector with a NaN or an infinity counts as a zero vector.
struct VectorNorms {
  VectorScale scale;                    ///< 2^exponent is twice the unit in the first place of the largest magnitude
  IntegerNorms norms;                   ///< of |x| in units of scale 2^-16, rounded up
  std::uint64_t floor_squares = 0;      ///< sum of squares of |x| in these units, rounded down: below ||x||_2^2
  std::int32_t last_bit = no_last_bit;  ///< every element is a multiple of 2^last_bit

  /// Number of bits of an integer that holds the vector exactly, in units of 2^(exponent - bits); 0 for a zero vector.
  [[nodiscard]] std::int32_t exact_bits() const { return norms.zero() ? 0 : scale.exponent - last_bit; }
};

/// Finds the facts of each of the m rows of A, or n columns of B. Except for the last bits, they equal those of SliceFacts
/// under residue_measure.
std::vector<VectorNorms> vector_norms(InputView operand, Side side, int threads);

/// True if first digits cover integers of `bits` bits: no |x'| is above (d + 1) 2^(bits - 7). This holds if bits >= 7, or
/// if nothing is rounded (docs/derivations/residues.md, R9).
bool covers_first_digits(const std::vector<VectorNorms>& vectors, int bits);

/// The norms only, for the guard (find_not_held).
std::vector<IntegerNorms> norms_of(const std::vector<VectorNorms>& vectors);

}  // namespace ozbound
