// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace ozbound {

/// Largest number of moduli of a plan, and of bits of its integers.
inline constexpr int max_moduli = 20;
inline constexpr int most_residue_bits = 120;

/// The moduli, pairwise coprime, largest first: a plan of N moduli takes the first N. From N = 14 on, no other N numbers up to
/// 256 have a larger product (docs/derivations/residues.md, R1). 255 would exclude both 249 = 3 * 83 and 235 = 5 * 47.
inline constexpr std::int32_t residue_moduli[max_moduli] = {256, 253, 251, 249, 247, 241, 239, 235, 233, 229,
                                                            227, 223, 217, 211, 199, 197, 193, 191, 181, 179};

/// The rule that turns the vectors of an operand into integers and their residues. a' = RN(a 2^(bits - e)), ties to even, where
/// 2^e = 2 ufp of the vector's largest magnitude (e = 0 for zeros). So |a'| <= 2^bits, which rounding up attains (R2). Residues
/// are modulo the first `moduli` moduli.
struct ResidueForm {
  int moduli = 2;  ///< 2 … max_moduli
  int bits = 1;    ///< 1 … most_residue_bits

  /// True if the operand is a real factor that stands for a complex one (RealFactors). Each pair of elements that stands for a
  /// complex integer has two or three layers per modulus, as ComplexModulus describes.
  bool complex = false;

  constexpr bool operator==(const ResidueForm&) const = default;
};

}  // namespace ozbound
