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

/// A product by residues: rows of A become integers a' of bits_a bits, columns of B integers b' of bits_b bits (ResidueForm);
/// C' = sum a' b' is found exactly by one INT8 product for each of the first `moduli` moduli, and rounded once with alpha and
/// beta C0.
///
/// A common mistake is residues:13:53x53 for any operands: C' is recovered only where 2 sum |a' b'| < P, the product of the
/// moduli, in every entry. A plan that is not sure to hold its operands is refused (check_held of gemm.hpp).
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

/// The slicing to pass to Engine::measure for the norms that this header's functions take. Its scale is that of residues, 2 ufp
/// of a vector's largest magnitude.
inline constexpr Slicing residue_measure{{Encoding::Kind::truncated, 7}, 1};

/// Longest inner dimension: sums of k products of residues stay below 2^46 (docs/derivations/residues.md, R4), and the norms of
/// the guard below 2^64.
inline constexpr Index longest_residue_inner = (Index{1} << 32) - 1;

/// The largest sum W of |a' b'| in units of 2^(bits_a + bits_b - 2 * IntegerNorms::fraction_bits) that a plan recovers:
/// floor(floor((P - 1) / 2) / unit), 2^64 - 1 where it is more (R8).
std::uint64_t guard_limit(const ResiduePlan& plan);

/// An entry (i, j) that a plan may not hold, and the least N that holds it with the same bits; 0 where no N does.
struct NotHeld {
  Index i, j;
  int moduli;
};

/// Whether a plan holds every entry of a product, by norms of |a_i| and |b_j| in units of 2^-16 of their scales, rounded up:
/// W <= min(||x||_1 ||y||_inf, ||x||_inf ||y||_1, sqrt(||x||_2^2 ||y||_2^2)), in integers (R8). Of the entries that it may not
/// hold, one that needs the most moduli; nothing where it holds all.
/// @param rows of the m rows of A @param columns of the n columns of B @param k the inner dimension: rounding to fewer than 16
/// bits may add to each of its k terms
std::optional<NotHeld> find_not_held(const ResiduePlan& plan, std::span<const IntegerNorms> rows,
                                     std::span<const IntegerNorms> columns, Index k);

/// Whether a plan holds every entry, by FirstDigitSums::largest_units. @pre those cover its integers: of each operand, by
/// covers_first_digits (R9).
inline bool first_digits_held(const ResiduePlan& plan, std::uint64_t largest_units) {
  return largest_units <= guard_limit(plan) >> (2 * (IntegerNorms::fraction_bits - 7));
}

}  // namespace ozbound
