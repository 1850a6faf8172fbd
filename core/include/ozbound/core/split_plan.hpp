// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "ozbound/core/encoding.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// The step from the integer sums to C.
enum class Accumulation : std::uint8_t {
  exact,         ///< one exact integer, rounded once: no accumulation error (docs/derivations/slicing.md, S7)
  per_product,   ///< one FP64 addition per slice product, in the order of Ootomo, Ozaki, Yokota, Algorithm 3
  per_diagonal,  ///< one FP64 addition per error-free group of a diagonal (Uchino, Ozaki, Imamura, Algorithms 6, 7)
};

/// Slice pairs (p, g - p), first_a <= p <= last_a, that one integer product sums: one diagonal, or part of it.
struct ProductGroup {
  int diagonal;  ///< g = p + q
  int first_a;
  int last_a;

  [[nodiscard]] int pairs() const { return last_a - first_a + 1; }
  bool operator==(const ProductGroup&) const = default;
};

/// The slice products that make up C: s_A and s_B slices, pairs (p, q) with p + q <= cut.
///
/// Do not use balanced(7, 7, 7) for the triangle of seven slices: p counts from 1, so that this cut drops the triangle's
/// largest diagonal. The triangle of s slices has the cut s + 1.
struct SplitPlan {
  Slicing a;
  Slicing b;
  int cut = 2;  ///< 2 … s_A + s_B; s_A + s_B keeps every pair
  Accumulation accumulation = Accumulation::exact;

  /// balanced:SAxSB:cut=CUT:exact.
  static SplitPlan balanced(int slices_a, int slices_b, int cut);

  /// Number of slice products |P|.
  [[nodiscard]] int products() const;

  /// c(p): the last q that is multiplied with slice p of A; 0 if there is no such q.
  [[nodiscard]] int last_b(int p) const;

  /// The integer products at inner dimension k, in the order in which their sums are accumulated. `exact`: whole diagonals,
  /// most significant first. `per_diagonal`: these diagonals cut into groups of error_free_pairs(k), p ascending.
  /// `per_product`: (1,1), (1,2), …
  [[nodiscard]] std::vector<ProductGroup> groups(Index k) const;

  /// r: the number of slice products whose sum fits INT32 at inner dimension k, max(1, floor((2^31 - 1) / (k D_A D_B))), but at
  /// most max_slices, which exceeds the length of a diagonal. Uchino, Ozaki, Imamura, (12), with the exact limit in place of
  /// powers of two.
  [[nodiscard]] Index error_free_pairs(Index k) const;

  /// True if every entry has the same weights, relative to rho_i sigma_j.
  [[nodiscard]] bool common_ratio() const { return a.encoding.common_ratio() && b.encoding.common_ratio(); }

  /// Exponent of the weight of diagonal g, relative to rho_i sigma_j; without a common ratio, the largest one.
  [[nodiscard]] int weight_exponent(int diagonal) const {
    return a.encoding.lead() + b.encoding.lead() - a.encoding.radix_bits() * diagonal;
  }

  /// Number of digit products that fit an INT32 sum, for any digits: floor((2^31 - 1) / (D_A D_B)).
  [[nodiscard]] Index int32_terms() const;

  /// @throws std::invalid_argument naming the part: an encoding that parse_encoding does not make; slice counts outside 1 …
  /// max_slices; cut outside 2 … s_A + s_B; two encodings of different radix, whose products share no diagonals; or
  /// nearest_adaptive, which has no common diagonals either, with an accumulation other than per_product.
  void validate() const;

  bool operator==(const SplitPlan&) const = default;
};

std::string to_string(Accumulation accumulation);

}  // namespace ozbound
