// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Constants of residues as kernels read them, on the host and on devices. Nothing here is inline, because each kernel file is
// compiled for its own instruction set.

#include <cstdint>

namespace ozbound {

inline constexpr int most_residue_limbs = 4;
inline constexpr int most_moduli = 20;

/// Constants of the first `count` moduli, exact in doubles.
struct ResidueConstants {
  std::int32_t count;
  std::int32_t limbs;      ///< number of limbs of C' < P, limb_bits bits each
  std::int32_t limb_bits;  ///< count * 128 * 2^limb_bits < 2^51
  std::int32_t groups;     ///< number of output groups: the limbs; for 16 to 18 moduli three of 48 bits
  double modulus[most_moduli];
  double reciprocal[most_moduli];                  ///< 1 / p, rounded
  double word_power[most_moduli][3];               ///< 2^32, 2^64, 2^96 mod p, balanced
  double inverse[most_moduli];                     ///< (P / p)^-1 mod p, balanced
  double weight[most_moduli][most_residue_limbs];  ///< limbs of P / p, most significant first
  double product[most_residue_limbs];              ///< limbs of P
  std::uint32_t byte_weights[most_moduli][4];      ///< 2^(8 i) mod p of byte i, balanced, as int8; from [2] on 2^(56 + 8 i)
  std::int32_t byte_init[most_moduli];             ///< -2^63 mod p, balanced
  std::int32_t wide_init[most_moduli];             ///< -2^63 - 2^119 mod p, balanced
  std::uint32_t sum_weights[most_moduli];          ///< 2^(8 i) (P / p)^-1 mod p of byte i
  std::int32_t sum_init[most_moduli];              ///< -2^31 (P / p)^-1 mod p
  double reciprocal_product;                       ///< 2^(limb_bits (limbs - 1)) / P, rounded
};

/// The integers recovered from sums of products: those of real operands, or one part of those of complex operands
/// (complex_base).
enum class Recovered { real_product, real_part, imaginary_part };

/// The constants of the first `count` moduli, computed once.
const ResidueConstants& residue_constants(int count, Recovered what = Recovered::real_product);

}  // namespace ozbound
