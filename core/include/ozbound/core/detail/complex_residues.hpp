// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/host_device.hpp"
#include "ozbound/core/residues.hpp"

// Products of complex integers by two or three residue products per modulus (docs/derivations/residues.md, R15).

namespace ozbound {

/// The smallest j > 0 with j^2 = -1 modulo p; 0 if -1 is not a square.
OZB_HD constexpr std::int32_t root_of_minus_one(std::int32_t p) {
  for (std::int32_t j = 1; j < p; ++j)
    if (j * j % p == p - 1) return j;
  return 0;
}

/// The layers of complex integers x + iy modulo p, and the rule that turns sums of their products into a sum of complex
/// products. If j^2 = -1 has a solution j, the layers are x + jy and x - jy, whose products are Re + j Im and Re - j Im.
/// Otherwise they are x, y and x + y, by Karatsuba.
struct ComplexModulus {
  std::int32_t modulus = 0;
  int first_layer = 0;    ///< layers count from 1, those of each modulus after those of the one before
  std::int32_t root = 0;  ///< j, or 0

  OZB_HD static constexpr ComplexModulus of(std::int32_t p, int first_layer) { return {p, first_layer, root_of_minus_one(p)}; }

  [[nodiscard]] OZB_HD constexpr int layers() const { return root != 0 ? 2 : 3; }

  /// The balanced residue of x + iy in layer first_layer + l. @param x, y balanced residues modulo p
  [[nodiscard]] OZB_HD constexpr std::int32_t layer(int l, std::int32_t x, std::int32_t y) const {
    if (root != 0) return balanced(l == 0 ? x + root * y : x - root * y, modulus);
    return l == 0 ? x : l == 1 ? y : balanced(x + y, modulus);
  }

  /// Numbers that, times scale(), are congruent to the real and to the imaginary part. They come from the sums of the layers'
  /// products.
  /// @param p2 the sum of the last layer
  template <class Integer>
  [[nodiscard]] OZB_HD constexpr Integer real(Integer p0, Integer p1) const {
    return root != 0 ? p0 + p1 : p0 - p1;
  }
  template <class Integer>
  [[nodiscard]] OZB_HD constexpr Integer imaginary(Integer p0, Integer p1, Integer p2) const {
    return root != 0 ? p0 - p1 : p2 - p0 - p1;
  }
  /// 1/2 and 1/(2j) modulo p if there is a root j, otherwise 1; in [1, p).
  [[nodiscard]] OZB_HD constexpr std::int32_t scale(bool of_imaginary) const {
    return root == 0 ? 1 : inverse_mod(of_imaginary ? 2 * root % modulus : 2, modulus);
  }
};

/// The first `count` moduli, for complex integers.
struct ComplexModuli {
  int count = 0;
  int layers = 0;  ///< of all moduli together
  ComplexModulus of_modulus[max_moduli] = {};

  OZB_HD static constexpr ComplexModuli of(int moduli_count) {
    ComplexModuli all;
    all.count = moduli_count;
    for (int t = 0; t < moduli_count; ++t) {
      all.of_modulus[t] = ComplexModulus::of(residue_moduli[t], all.layers + 1);
      all.layers += all.of_modulus[t].layers();
    }
    return all;
  }
};

/// The constants that recover the real or the imaginary parts of sums of products from the numbers of ComplexModulus::real or
/// ComplexModulus::imaginary: the constants of ResidueBase, with scale() in the inverses.
OZB_HD constexpr ResidueBase complex_base(int moduli_count, bool of_imaginary) {
  auto base = ResidueBase::of(moduli_count);
  for (int t = 0; t < moduli_count; ++t) {
    const auto p = residue_moduli[t];
    base.inverse[t] = base.inverse[t] * ComplexModulus::of(p, 1).scale(of_imaginary) % p;
  }
  return base;
}

/// Longest inner dimension of complex operands. It keeps |p2 - p0 - p1| <= 3 k 2^14 below 2^46.
inline constexpr Index longest_complex_inner = Index{1} << 30;

}  // namespace ozbound
