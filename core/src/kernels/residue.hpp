// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "functions.hpp"
#include "slice.hpp"

// Residues and what they stand for, many at a time, from doubles that are integers: exact below 2^53, so that the order of
// operations does not matter. @pre FloatEnvironment.

namespace ozbound {
namespace {

/// z - p RN(z / p), for |z| < 2^46: the balanced residue, but for 256, whose ties may come as +128. z / p is at least 1 / (2 p)
/// from a tie for odd p, far more than its rounding errors (docs/derivations/residues.md, R7).
double balanced_rest(double z, double p, double reciprocal) { return z - nearest_integer(z * reciprocal) * p; }

/// Residues of `lanes` vectors, `fours` times four elements.
[[maybe_unused]] void residue_steps(const double (*x)[slice_lanes], std::int64_t fours, const ResidueConstants& of,
                                    const double* scale, std::int64_t lanes, std::uint8_t flip, const ResidueShape& shape,
                                    std::int8_t* out) {
  const auto flip_word = flip * 0x01010101u;
  for (std::int64_t f = 0; f < fours; ++f, x += 4, out += shape.four_bytes) {
    double high[4][slice_lanes], low[4][slice_lanes];
    for (int l = 0; l < 4; ++l)
      for (int v = 0; v < slice_lanes; ++v) {
        const double integer = nearest_integer(x[l][v] * scale[v]);
        high[l][v] = nearest_integer(integer * 0x1p-26);
        low[l][v] = integer - high[l][v] * 0x1p26;
      }
    auto* bytes = out;
    for (int t = 0; t < of.count; ++t, bytes += shape.layer_bytes) {
      std::uint32_t four[slice_lanes] = {};
      for (int l = 0; l < 4; ++l)
        for (int v = 0; v < slice_lanes; ++v) {
          const double z = high[l][v] * of.power_26[t] + low[l][v];
          const double rest = balanced_rest(z, of.modulus[t], of.reciprocal[t]);
          four[v] |= (static_cast<std::uint32_t>(static_cast<std::int32_t>(rest)) & 0xff) << (8 * l);
        }
      for (int v = 0; v < slice_lanes; ++v) four[v] ^= flip_word;
      for (std::int64_t v = 0; v < lanes; ++v) __builtin_memcpy(bytes + v * shape.vector_bytes, &four[v], 4);
    }
  }
}

/// C' of some entries from the sums of their moduli, as groups of a carry chain of radix 2^limb_bits, most significant first.
/// False where some |C'| may be above P (1/2 - 2^-8): the nearest multiple of P is not known for sure then (R6).
[[maybe_unused]] bool recover(const std::int64_t* sums, std::int64_t stride, std::int64_t count, const ResidueConstants& of,
                              std::int64_t* groups) {
  constexpr int lanes = 64;
  double limb[most_residue_limbs][lanes] = {};
  std::int64_t open = 0;
  for (int t = 0; t < of.count; ++t) {
    const auto* const from = sums + t * stride;
    double c[lanes];
    for (int j = 0; j < lanes; ++j) {
      const double rest = balanced_rest(exact_double(j < count ? from[j] : 0), of.modulus[t], of.reciprocal[t]);
      c[j] = balanced_rest(rest * of.inverse[t], of.modulus[t], of.reciprocal[t]);
    }
    for (int g = 0; g < of.limbs; ++g)
      for (int j = 0; j < lanes; ++j) limb[g][j] += c[j] * of.weight[t][g];
  }
  double quotient[lanes];
  for (int j = 0; j < lanes; ++j) {
    const double share = limb[0][j] * of.reciprocal_product;
    quotient[j] = nearest_integer(share);
    open |= __builtin_fabs(share - quotient[j]) > 0.5 - 0x1p-8 ? 1 : 0;
  }
  for (int g = 0; g < of.limbs; ++g)
    for (int j = 0; j < lanes; ++j) limb[g][j] -= quotient[j] * of.product[g];
  if (of.groups == of.limbs) {
    for (int g = 0; g < of.limbs; ++g)
      for (std::int64_t j = 0; j < count; ++j) groups[g * stride + j] = exact_integer(limb[g][j]);
    return open == 0;
  }
  const int r = of.limb_bits, a = 48 - r, b = 96 - 2 * r;  // 32 <= r <= 36: limbs of r bits into groups of 48
  const std::int64_t mask = (std::int64_t{1} << r) - 1;
  for (std::int64_t j = 0; j < count; ++j) {
    std::int64_t l3 = exact_integer(limb[3][j]), l2 = exact_integer(limb[2][j]) + (l3 >> r),
                 l1 = exact_integer(limb[1][j]) + (l2 >> r), l0 = exact_integer(limb[0][j]) + (l1 >> r);
    l3 &= mask, l2 &= mask, l1 &= mask;
    groups[2 * stride + j] = l3 | (l2 & ((std::int64_t{1} << a) - 1)) << r;
    groups[stride + j] = l2 >> a | (l1 & ((std::int64_t{1} << b) - 1)) << (r - a);
    groups[j] = (l1 >> b) + (l0 << (r - b));
  }
  return open == 0;
}

}  // namespace
}  // namespace ozbound
