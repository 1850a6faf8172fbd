// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/integer_norms.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The last bit of a vector of zeros: above that of every other.
inline constexpr std::int32_t no_last_bit = 1 << 20;

/// These facts about a vector are what residues ask of it, and what bounds its Euclidean norm from below. All are exact, and
/// found by one look at its elements. A vector with a NaN or an infinity counts as one of zeros.
struct VectorNorms {
  VectorScale scale;                    ///< 2^exponent is twice the unit in the first place of the largest magnitude
  IntegerNorms norms;                   ///< of |x| in units of scale 2^-16, rounded up
  std::uint64_t floor_squares = 0;      ///< sum of squares of |x| in these units, rounded down: below ||x||_2^2
  std::int32_t last_bit = no_last_bit;  ///< every element is a multiple of 2^last_bit

  /// How many bits an integer has that holds the vector exactly, in units of 2^(exponent - bits); 0 for one of zeros.
  [[nodiscard]] std::int32_t exact_bits() const { return norms.zero() ? 0 : scale.exponent - last_bit; }
};

/// Finds the facts of each of the m rows of A, or n columns of B. But for the last bits they are those that SliceFacts has
/// under residue_measure.
std::vector<VectorNorms> vector_norms(InputView operand, Side side, int threads);

/// Whether integers of so many bits are covered by first digits: no |x'| is above (d + 1) 2^(bits - 7). They are where no bits
/// are fewer than 7, and where nothing is rounded (docs/derivations/residues.md, R9).
bool covers_first_digits(const std::vector<VectorNorms>& vectors, int bits);

/// The norms alone, for the guard (find_not_held).
std::vector<IntegerNorms> norms_of(const std::vector<VectorNorms>& vectors);

}  // namespace ozbound
