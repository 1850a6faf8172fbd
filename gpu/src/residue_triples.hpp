// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace ozbound::gpu {

/// Constants for recovering C' from c_t = C' (P / p_t)^-1 mod p_t, three moduli p, q, r at a time (a missing modulus is 1), by
///
///     C' = sum of x P / (p q r) over the triples, less a multiple of P,   x = c_p q r + c_q p r + c_r p q,   |x| < 2^25.
///
/// Words have 32 bits, lowest first. The words of P and of its quotients are signed.
struct ResidueTriples {
  static constexpr int most = 7, most_words = 5;

  std::int32_t moduli = 0;
  std::uint32_t low[most] = {}, high[most] = {};  ///< byte i: the lower and the upper byte of q r, p r, p q
  std::int32_t weight[most][most_words] = {};     ///< P / (p q r)
  std::int32_t product[most_words] = {};          ///< P
  int shift = 0;                                  ///< sums times 2^-shift of the last words of weights are below 2^30
  float reciprocal = 0;                           ///< 2^(32 (words of weights - 1) + shift) / P, rounded

  /// @pre 2 <= moduli <= max_moduli
  static ResidueTriples of(int moduli);
};

/// The number of triples for this many moduli.
constexpr int triples_of(int moduli) { return (moduli + 2) / 3; }

/// The number of words of the weights of this many triples, and of sums from -P / 2 to P / 2, with a sign.
constexpr int words_of_weights(int triples) {
  constexpr int words[ResidueTriples::most] = {1, 1, 2, 3, 3, 4, 5};
  return words[triples - 1];
}
constexpr int words_of_products(int triples) {
  constexpr int words[ResidueTriples::most] = {1, 2, 3, 3, 4, 5, 5};
  return words[triples - 1];
}

}  // namespace ozbound::gpu
