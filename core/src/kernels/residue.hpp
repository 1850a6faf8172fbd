// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "functions.hpp"
#include "slice.hpp"

// Residues and the integers they represent, many at a time, from doubles with integer values. Values below 2^53 are exact, so
// the order of operations does not matter. @pre FloatEnvironment.

namespace ozbound {
namespace {

/// z - p RN(z / p), for |z| < 2^46: the balanced residue, except that ties for p = 256 may give +128. For odd p, z / p is at
/// least 1 / (2 p) from a tie, far more than its rounding errors (docs/derivations/residues.md, R7).
double balanced_rest(double z, double p, double reciprocal) { return z - nearest_integer(z * reciprocal) * p; }

/// Words of integers in radix 2^32 whose sum is RN(x scale). All words except the most significant one lie between -2^31 and
/// 2^31. The rest of an element is exact, and the last word is rounded, ties to even (docs/derivations/residues.md, R7a).
template <int Count>
struct IntegerWords {
  double word[static_cast<unsigned>(Count)][4][slice_lanes];  ///< least significant first

  IntegerWords(const double (*x)[slice_lanes], const double* scale) {
    for (int l = 0; l < 4; ++l) {
      double rest[slice_lanes];
      for (int v = 0; v < slice_lanes; ++v) rest[v] = x[l][v] * scale[v];
#pragma GCC unroll 4
      for (int w = Count - 1; w >= 0; --w) {
        const double unit = two_to(32 * w), per_unit = two_to(-32 * w);
        for (int v = 0; v < slice_lanes; ++v) {
          word[w][l][v] = nearest_integer(rest[v] * per_unit);
          rest[v] -= word[w][l][v] * unit;
        }
      }
    }
  }

  /// An integer below 2^42 that is congruent to the sum of the words.
  [[nodiscard]] double congruent(int l, int v, const double* power) const {
    double z = word[0][l][v];
#pragma GCC unroll 4
    for (int w = 1; w < Count; ++w) z += word[w][l][v] * power[w - 1];
    return z;
  }
};

template <int Count>
void residue_words(const double (*x)[slice_lanes], std::int64_t fours, const ResidueConstants& of, const double* scale,
                   std::int64_t lanes, std::uint8_t flip, const ResidueShape& shape, std::int8_t* out) {
  const auto flip_word = flip * 0x01010101u;
  for (std::int64_t f = 0; f < fours; ++f, x += 4, out += shape.four_bytes) {
    const IntegerWords<Count> words(x, scale);
    auto* bytes = out;
    for (int t = 0; t < of.count; ++t, bytes += shape.layer_bytes) {
      std::uint32_t four[slice_lanes] = {};
      for (int l = 0; l < 4; ++l)
        for (int v = 0; v < slice_lanes; ++v) {
          const double rest = balanced_rest(words.congruent(l, v, of.word_power[t]), of.modulus[t], of.reciprocal[t]);
          four[v] |= (static_cast<std::uint32_t>(static_cast<std::int32_t>(rest)) & 0xff) << (8 * l);
        }
      for (int v = 0; v < slice_lanes; ++v) four[v] ^= flip_word;
      for (std::int64_t v = 0; v < lanes; ++v) __builtin_memcpy(bytes + v * shape.vector_bytes, &four[v], 4);
    }
  }
}

/// Computes the residues of `lanes` vectors, `fours` times four elements.
[[maybe_unused]] void residue_steps(const double (*x)[slice_lanes], std::int64_t fours, const ResidueConstants& of,
                                    const double* scale, int bits, std::int64_t lanes, std::uint8_t flip,
                                    const ResidueShape& shape, std::int8_t* out) {
  if (bits <= 32) return residue_words<1>(x, fours, of, scale, lanes, flip, shape, out);
  if (bits <= 64) return residue_words<2>(x, fours, of, scale, lanes, flip, shape, out);
  if (bits <= 96) return residue_words<3>(x, fours, of, scale, lanes, flip, shape, out);
  residue_words<4>(x, fours, of, scale, lanes, flip, shape, out);
}

/// Number of entries recovered side by side.
inline constexpr int recovered_lanes = 8;

/// C' of some entries from the sums of their moduli, as groups of a carry chain of radix 2^limb_bits, most significant first.
/// load(t, lanes) stores the sums as doubles below 2^Bits. Returns false if some |C'| may be above P (1/2 - 2^-8): the nearest
/// multiple of P is then uncertain (R6).
template <int Limbs, int Bits, class Load>
bool recover_lanes(const Load& load, std::int64_t count, const ResidueConstants& of, std::int64_t* groups,
                   std::int64_t stride) {
  constexpr int lanes = recovered_lanes;
  double limb[static_cast<unsigned>(Limbs)][lanes] = {};
  for (int t = 0; t < of.count; ++t) {
    double c[lanes];
    load(t, c);
    const double p = of.modulus[t], reciprocal = of.reciprocal[t], inverse = of.inverse[t];
    for (double& x : c) {
      const double sum = Bits > 38 ? balanced_rest(x, p, reciprocal) : x;  // keeps the next product below 2^46 too
      x = balanced_rest(sum * inverse, p, reciprocal);
    }
#pragma GCC unroll 4
    for (int g = 0; g < Limbs; ++g)
      for (int j = 0; j < lanes; ++j) limb[g][j] += c[j] * of.weight[t][g];
  }
  double quotient[lanes];
  std::int64_t unclear = 0;
  for (int j = 0; j < lanes; ++j) {
    const double share = limb[0][j] * of.reciprocal_product;
    quotient[j] = nearest_integer(share);
    unclear |= ((j < count) & (__builtin_fabs(share - quotient[j]) > 0.5 - 0x1p-8)) ? 1 : 0;
  }
#pragma GCC unroll 4
  for (int g = 0; g < Limbs; ++g)
    for (int j = 0; j < lanes; ++j) limb[g][j] -= quotient[j] * of.product[g];
  if (Limbs < 4 || of.groups == 4) {
#pragma GCC unroll 4
    for (int g = 0; g < Limbs; ++g)
      for (std::int64_t j = 0; j < count; ++j) groups[g * stride + j] = exact_integer(limb[g][j]);
    return unclear == 0;
  }
  if constexpr (Limbs == 4) {
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
  }
  return unclear == 0;
}

/// Dispatches on the number of limbs.
template <int Bits, class Load>
bool recover_lanes(const Load& load, std::int64_t count, const ResidueConstants& of, std::int64_t* groups,
                   std::int64_t stride) {
  switch (of.limbs) {
    case 1: return recover_lanes<1, Bits>(load, count, of, groups, stride);
    case 2: return recover_lanes<2, Bits>(load, count, of, groups, stride);
    case 3: return recover_lanes<3, Bits>(load, count, of, groups, stride);
    default: return recover_lanes<4, Bits>(load, count, of, groups, stride);
  }
}

/// Calls part(first, count) for recovered_lanes entries at a time; returns false if any call does.
template <class Part>
bool recover_all(std::int64_t count, const Part& part) {
  bool sure = true;
  for (std::int64_t j = 0; j < count; j += recovered_lanes)
    sure = part(j, count - j < recovered_lanes ? count - j : std::int64_t{recovered_lanes}) && sure;
  return sure;
}

/// Recovers from sums in INT64.
[[maybe_unused]] bool recover(const std::int64_t* sums, std::int64_t stride, std::int64_t count, const ResidueConstants& of,
                              std::int64_t* groups) {
  return recover_all(count, [&](std::int64_t first, std::int64_t some) {
    const auto load = [&](int t, double* c) {
      const auto* const from = sums + t * stride + first;
      for (int j = 0; j < recovered_lanes; ++j) c[j] = exact_double(j < some ? from[j] : 0);
    };
    return recover_lanes<46>(load, some, of, groups + first, stride);
  });
}

/// Recovers from INT32 products of stored bytes and their corrections.
[[maybe_unused]] bool recover_int32(const std::int32_t* products, std::int64_t stride, const std::uint32_t* corrections,
                                    std::int64_t correction_stride, std::int64_t count, const ResidueConstants& of,
                                    std::int64_t* groups, std::int64_t group_stride) {
  return recover_all(count, [&](std::int64_t first, std::int64_t some) {
    const auto load = [&](int t, double* c) {
      const auto correction = corrections[t * correction_stride];
      std::int32_t sums[recovered_lanes] = {};
      const auto* const from = products + t * stride + first;
      if (some == recovered_lanes)
        __builtin_memcpy(sums, from, sizeof sums);
      else
        for (std::int64_t j = 0; j < some; ++j) sums[j] = from[j];
      for (int j = 0; j < recovered_lanes; ++j)
        c[j] = static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[j]) + correction));
    };
    return recover_lanes<31>(load, some, of, groups + first, group_stride);
  });
}

}  // namespace
}  // namespace ozbound
