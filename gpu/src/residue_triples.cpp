// SPDX-License-Identifier: BSD-3-Clause
#include "residue_triples.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ozbound/core/detail/residue_arithmetic.hpp"

namespace ozbound::gpu {
namespace {

using Integer = WideInteger<residue_limbs>;

/// The words of x, each from -2^31 to 2^31 - 1. @pre x < 2^(32 count - 1)
void to_signed_words(const Integer& x, int count, std::int32_t* words) {
  std::int64_t carry = 0;
  for (int w = 0; w < count; ++w) {
    carry += static_cast<std::uint32_t>(x.word_at(32 * w));
    words[w] = static_cast<std::int32_t>(static_cast<std::uint32_t>(carry));
    carry = (carry - words[w]) >> 32;
  }
  assert(carry == 0);
}

/// x up to a few roundings.
double rounded(const Integer& x) {
  double value = 0;
  for (int w = residue_limbs; w-- > 0;) value = value * 0x1p64 + static_cast<double>(x.limb[w]);
  return value;
}

/// Moduli of a triple.
struct Triple {
  std::int32_t p[3];

  Triple(int index, int moduli) {
    for (int i = 0; i < 3; ++i) p[i] = 3 * index + i < moduli ? residue_moduli[3 * index + i] : 1;
  }
  [[nodiscard]] std::uint32_t cofactor(int i) const { return static_cast<std::uint32_t>(p[(i + 1) % 3] * p[(i + 2) % 3]); }
};

}  // namespace

ResidueTriples ResidueTriples::of(int moduli) {
  const int triples = triples_of(moduli), words = words_of_weights(triples);
  const auto product = ResidueBase::of(moduli).product;
  ResidueTriples result;
  result.moduli = moduli;
  for (int t = 0; t < triples; ++t) {
    const Triple triple(t, moduli);
    for (int i = 0; i < 3; ++i) {
      result.low[t] |= (triple.cofactor(i) & 0xff) << (8 * i);
      result.high[t] |= (triple.cofactor(i) >> 8) << (8 * i);
    }
    Integer weight{{1}};
    for (int other = 0; other < moduli; ++other)
      if (other / 3 != t)
        weight = shifted<residue_limbs>(multiply(weight, static_cast<std::uint64_t>(residue_moduli[other])), 0);
    to_signed_words(weight, words, result.weight[t]);
  }
  to_signed_words(product, words_of_products(triples), result.product);
  // Sums are below 16 P: each modulus adds at most slightly more than half of P.
  const int unit = 32 * (words - 1);
  result.shift = std::max(0, product.bits() + 4 - 30 - unit);
  result.reciprocal = static_cast<float>(std::ldexp(1.0, unit + result.shift) / rounded(product));
  return result;
}

}  // namespace ozbound::gpu
