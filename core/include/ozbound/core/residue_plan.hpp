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

/// C from residues modulo the first N moduli: rows of A as integers of bits_a bits, columns of B of bits_b bits, relative to
/// 2 ufp of each one's largest magnitude; one INT8 product a modulus; C' exact, rounded once with alpha and beta C0.
///
/// Not residues:13:53x53 for any A and B: 2 sum |a' b'| must stay below P. A plan that does not hold its operands is refused.
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

/// What Engine::measure is asked for the norms of the guard and of the bound: its scale is 2 ufp of the largest magnitude, as
/// that of residues is.
inline constexpr Slicing residue_measure{{Encoding::Kind::truncated, 7}, 1};

/// Longest inner dimension: sums of k products of residues stay below 2^46, and the norms of the guard below 2^64.
inline constexpr Index longest_residue_inner = (Index{1} << 32) - 1;

/// The largest sum W of |a' b'| in units of 2^(bits_a + bits_b - 2 * IntegerNorms::fraction_bits) that a plan recovers:
/// floor(floor((P - 1) / 2) / unit), 2^64 - 1 where it is more.
std::uint64_t guard_limit(const ResiduePlan& plan);

/// An entry that a plan may not hold, and the least N that holds it with the same bits; 0 where no N does.
struct NotHeld {
  Index i, j;
  int moduli;
};

/// The first entry that the norms of |a_i| and |b_j|, in units of rho 2^-16 rounded up, do not show to be held; none where
/// all are: W <= min(||x||_1 ||y||_inf, ||x||_inf ||y||_1, sqrt(||x||_2^2 ||y||_2^2)). In integers.
std::optional<NotHeld> first_not_held(const ResiduePlan& plan, std::span<const IntegerNorms> rows,
                                      std::span<const IntegerNorms> columns, Index k);

}  // namespace ozbound
