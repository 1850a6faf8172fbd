// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ozbound/core/encoding.hpp"
#include "ozbound/core/integer_norms.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound {

/// A product by residues. Rows of A become integers a' of bits_a bits, columns of B integers b' of bits_b bits (ResidueForm).
/// C' = sum a' b' is found exactly by one INT8 product for each of the first `moduli` moduli, and rounded once with alpha and
/// beta C0.
///
/// A common mistake is residues:13:53x53 for any operands: C' is recovered only if 2 sum |a' b'| < P, the product of the
/// moduli, in every entry. A plan that may not hold its operands is refused (check_held of gemm.hpp).
struct ResiduePlan {
  int moduli = 2;
  int bits_a = 1;
  int bits_b = 1;

  [[nodiscard]] ResidueForm a() const { return {moduli, bits_a}; }
  [[nodiscard]] ResidueForm b() const { return {moduli, bits_b}; }
  [[nodiscard]] int products() const { return moduli; }
  /// @throws std::invalid_argument naming the part: moduli outside 2 … max_moduli, bits outside 1 … most_residue_bits.
  void validate() const;
  bool operator==(const ResiduePlan&) const = default;
};

/// The slicing that Engine::measure needs to get the norms for this header's functions. Its scale is that of residues, 2 ufp of
/// a vector's largest magnitude.
inline constexpr Slicing residue_measure{{Encoding::Kind::truncated, 7}, 1};

/// Longest inner dimension. Sums of k products of residues stay below 2^46 (docs/derivations/residues.md, R4), and the norms of
/// the guard below 2^64.
inline constexpr Index longest_residue_inner = (Index{1} << 32) - 1;

/// The largest sum W of |a' b'| that a plan recovers, in units of 2^(bits_a + bits_b - 2 * IntegerNorms::fraction_bits):
/// floor(floor((P - 1) / 2) / unit), or 2^64 - 1 if that is less (R8).
std::uint64_t guard_limit(const ResiduePlan& plan);

/// An entry (i, j) that a plan may not hold, and the smallest N that holds it with the same bits; 0 if no N does.
struct NotHeld {
  Index i, j;
  int moduli;
};

/// Checks by norms if a plan holds every entry of a product. The norms are those of |a_i| and |b_j| in units of 2^-16 of their
/// scales, rounded up: W <= min(||x||_1 ||y||_inf, ||x||_inf ||y||_1, sqrt(||x||_2^2 ||y||_2^2)), in integers (R8). Returns an
/// entry that needs the most moduli among those that the plan may not hold; nothing if the plan holds all entries.
/// @param rows norms of the m rows of A @param columns norms of the n columns of B @param k the inner dimension: rounding to
/// fewer than 16 bits may add to each of its k terms
std::optional<NotHeld> find_not_held(const ResiduePlan& plan, std::span<const IntegerNorms> rows,
                                     std::span<const IntegerNorms> columns, Index k);

/// True if a plan holds every entry, by FirstDigitSums::largest_units. @pre covers_first_digits (R9) is true for the integers
/// of both operands.
bool first_digits_held(const ResiduePlan& plan, std::uint64_t largest_units);

}  // namespace ozbound
