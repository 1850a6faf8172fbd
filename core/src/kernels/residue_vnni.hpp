// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <immintrin.h>

#include "residue.hpp"

// Residues by vpdpbusd: an integer's bytes times the residues of their weights, |z| < 2^19, and one quotient in binary32, exact
// after rounding. For odd p, z / p is at least 1 / (2 p) > 0.0019 from a tie, and z * fl(1 / p) is less than 0.0004 off
// (docs/derivations/residues.md, R7). Integers of 63 to 118 bits are two parts of eight bytes (R7a).

namespace ozbound {
namespace {

struct VnniModulus {
  __m512i init, minus_p;
  __m512 reciprocal;
  explicit VnniModulus(std::int32_t start, const ResidueConstants& of, int t)
      : init(_mm512_set1_epi32(start)),
        minus_p(_mm512_set1_epi32((-static_cast<std::int32_t>(of.modulus[t])) & 0xffff)),
        reciprocal(_mm512_set1_ps(static_cast<float>(of.reciprocal[t]))) {}

  /// z - p RN(z / p). After adding 1.5 * 2^23, the last 16 bits are the quotient in two's complement.
  [[nodiscard]] __m512i rest(__m512i z) const {
    const __m512 quotient = _mm512_fmadd_ps(_mm512_cvtepi32_ps(z), reciprocal, _mm512_set1_ps(0x1.8p23f));
    return _mm512_dpwssd_epi32(z, _mm512_castps_si512(quotient), minus_p);
  }
};

/// The low bytes of four vectors of dwords, merged into one vector.
__m512i merged_bytes(const __m512i* r) {
  const __m512i low = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaa, r[0], _mm512_slli_epi32(r[1], 8));
  const __m512i high = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaa, _mm512_slli_epi32(r[2], 16), _mm512_slli_epi32(r[3], 24));
  return _mm512_mask_blend_epi16(0xaaaaaaaa, low, high);
}

/// The bytes of 64-bit integers plus 2^63, for two times eight vectors.
struct IntegerBytes {
  __m512i low, high;
  IntegerBytes() = default;
  IntegerBytes(__m512d first_integers, __m512d second_integers) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1)), top = _mm512_set1_epi64(INT64_MIN);
    const __m512i first = _mm512_cvtpd_epi64(first_integers), second = _mm512_cvtpd_epi64(second_integers);
    low = _mm512_permutex2var_epi32(first, even, second);
    high = _mm512_permutex2var_epi32(_mm512_xor_si512(first, top), odd, _mm512_xor_si512(second, top));
  }
};

/// x in units of 2^56, rounded to an integer.
__m512d upper_part(__m512d x) { return _mm512_roundscale_pd(_mm512_mul_pd(x, _mm512_set1_pd(0x1p-56)), 8); }
__m512d lower_part(__m512d x, __m512d upper) { return _mm512_fnmadd_pd(upper, _mm512_set1_pd(0x1p56), x); }

/// The same as residue_steps, for |x scale| <= 2^62. Wide: for |x scale| <= 2^118, as a part in units of 2^56 and the rest.
template <bool Wide>
void residue_steps_vnni(const double (*x)[slice_lanes], std::int64_t fours, const ResidueConstants& of, const double* scale,
                        std::int64_t lanes, std::uint8_t flip, const ResidueShape& shape, std::int8_t* out) {
  const __m512d scales = _mm512_loadu_pd(scale);
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
  for (std::int64_t f = 0; f < fours; f += 2, x += 8, out += 2 * shape.four_bytes) {
    const bool two = f + 1 < fours;
    IntegerBytes part[4], upper[4];
    for (int l = 0; l < 4; ++l) {
      __m512d first = _mm512_mul_pd(_mm512_loadu_pd(x[l]), scales);
      __m512d second = two ? _mm512_mul_pd(_mm512_loadu_pd(x[4 + l]), scales) : first;
      if constexpr (Wide) {
        const __m512d first_upper = upper_part(first), second_upper = upper_part(second);
        upper[l] = IntegerBytes(first_upper, second_upper);
        first = lower_part(first, first_upper), second = lower_part(second, second_upper);
      }
      part[l] = IntegerBytes(first, second);
    }
    auto* bytes = out;
    for (int t = 0; t < of.count; ++t, bytes += shape.layer_bytes) {
      __m512i r[4];
      if (t == 0) {
        for (int l = 0; l < 4; ++l) r[l] = part[l].low;
      } else {
        const VnniModulus modulus(Wide ? of.wide_init[t] : of.byte_init[t], of, t);
        const auto weights = [&](int i) { return _mm512_set1_epi32(static_cast<int>(of.byte_weights[t][i])); };
        const __m512i w0 = weights(0), w1 = weights(1), w2 = weights(2), w3 = weights(3);
#pragma GCC unroll 4
        for (int l = 0; l < 4; ++l) {
          __m512i z = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(modulus.init, part[l].low, w0), part[l].high, w1);
          if constexpr (Wide) z = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(z, upper[l].low, w2), upper[l].high, w3);
          r[l] = modulus.rest(z);
        }
      }
      const __m512i four = _mm512_xor_si512(merged_bytes(r), flips);
      if (lanes == slice_lanes && shape.vector_bytes == 4) {
        if (two && shape.four_bytes == 32) {
          _mm512_storeu_si512(bytes, four);
        } else {
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes), _mm512_castsi512_si256(four));
          if (two)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes + shape.four_bytes), _mm512_extracti64x4_epi64(four, 1));
        }
        continue;
      }
      alignas(64) std::int32_t words[16];
      _mm512_store_si512(words, four);
      for (std::int64_t v = 0; v < lanes; ++v) {
        __builtin_memcpy(bytes + v * shape.vector_bytes, &words[v], 4);
        if (two) __builtin_memcpy(bytes + shape.four_bytes + v * shape.vector_bytes, &words[8 + v], 4);
      }
    }
  }
}

void residues_vnni(const double (*x)[slice_lanes], std::int64_t fours, const ResidueConstants& of, const double* scale,
                   int bits, std::int64_t lanes, std::uint8_t flip, const ResidueShape& shape, std::int8_t* out) {
  if (bits <= 62) return residue_steps_vnni<false>(x, fours, of, scale, lanes, flip, shape, out);
  if (bits <= 118) return residue_steps_vnni<true>(x, fours, of, scale, lanes, flip, shape, out);
  residue_steps(x, fours, of, scale, bits, lanes, flip, shape, out);
}

/// Turns four limbs, most significant first, into three groups of 48 bits, as recover does.
void repack(int r, __m512i* limb, int step) {
  const int a = 48 - r, b = 96 - 2 * r;
  const auto low = [](__m512i x, int bits) { return _mm512_and_si512(x, _mm512_set1_epi64((std::int64_t{1} << bits) - 1)); };
  const auto up = [](__m512i x, int by) { return _mm512_sll_epi64(x, _mm_cvtsi32_si128(by)); };
  const auto down = [](__m512i x, int by) { return _mm512_sra_epi64(x, _mm_cvtsi32_si128(by)); };
  const __m512i l2 = _mm512_add_epi64(limb[2 * step], down(limb[3 * step], r)), l1 = _mm512_add_epi64(limb[step], down(l2, r)),
                l0 = _mm512_add_epi64(limb[0], down(l1, r));
  limb[2 * step] = _mm512_or_si512(low(limb[3 * step], r), up(low(l2, a), r));
  limb[step] = _mm512_or_si512(down(low(l2, r), a), up(low(l1, b), r - a));
  limb[0] = _mm512_add_epi64(down(low(l1, r), b), up(l0, r - b));
}

/// Like recover, from INT32 products + correction[t], |.| < 2^31, for many entries of a row, 16 at a time.
template <int Limbs>
std::int64_t recover_products(const std::int32_t* products, std::int64_t stride, const std::uint32_t* corrections,
                              std::int64_t correction_stride, const ResidueConstants& of, __m512d (*limb)[2], __m512i* groups) {
  const __m512i top = _mm512_set1_epi32(INT32_MIN);
  for (int g = 0; g < Limbs; ++g) limb[g][0] = limb[g][1] = _mm512_setzero_pd();
  for (int t = 0; t < of.count; ++t) {
    const __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(products + t * stride),
                                         _mm512_set1_epi32(static_cast<int>(corrections[t * correction_stride])));
    const __m512i weights = _mm512_set1_epi32(static_cast<int>(of.sum_weights[t]));
    const VnniModulus modulus(of.sum_init[t], of, t);
    const __m512i z = _mm512_dpbusd_epi32(modulus.init, _mm512_xor_si512(sum, top), weights);
    const __m512i c = t == 0 ? _mm512_srai_epi32(_mm512_slli_epi32(z, 24), 24) : modulus.rest(z);
    const __m512d first = _mm512_cvtepi32_pd(_mm512_castsi512_si256(c)),
                  second = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(c, 1));
#pragma GCC unroll 4
    for (int g = 0; g < Limbs; ++g) {
      const __m512d weight = _mm512_set1_pd(of.weight[t][g]);
      limb[g][0] = _mm512_fmadd_pd(first, weight, limb[g][0]);
      limb[g][1] = _mm512_fmadd_pd(second, weight, limb[g][1]);
    }
  }
  std::int64_t unclear = 0;
  for (int h = 0; h < 2; ++h) {
    const __m512d share = _mm512_mul_pd(limb[0][h], _mm512_set1_pd(of.reciprocal_product));
    const __m512d quotient = _mm512_roundscale_pd(share, 8);
    unclear |= _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_sub_pd(share, quotient)), _mm512_set1_pd(0.5 - 0x1p-8), _CMP_GT_OQ);
#pragma GCC unroll 4
    for (int g = 0; g < Limbs; ++g)
      groups[2 * g + h] = _mm512_cvtpd_epi64(_mm512_fnmadd_pd(quotient, _mm512_set1_pd(of.product[g]), limb[g][h]));
  }
  return unclear;
}

template <int Limbs>
bool recover_rows(const std::int32_t* products, std::int64_t stride, const std::uint32_t* corrections,
                  std::int64_t correction_stride, std::int64_t count, const ResidueConstants& of, std::int64_t* groups,
                  std::int64_t group_stride) {
  std::int64_t unclear = 0;
  for (std::int64_t j = 0; j < count; j += 16) {
    __m512d limb[static_cast<unsigned>(Limbs)][2];
    __m512i found[static_cast<unsigned>(2 * Limbs)];
    unclear |= recover_products<Limbs>(products + j, stride, corrections, correction_stride, of, limb, found);
    if (Limbs == 4 && of.groups == 3) repack(of.limb_bits, found, 2), repack(of.limb_bits, found + 1, 2);
    for (int g = 0; g < of.groups; ++g)
      for (int h = 0; h < 2; ++h) _mm512_storeu_si512(groups + g * group_stride + j + 8 * h, found[2 * g + h]);
  }
  return unclear == 0;
}

bool recover_vnni(const std::int32_t* products, std::int64_t stride, const std::uint32_t* corrections,
                  std::int64_t correction_stride, std::int64_t count, const ResidueConstants& of, std::int64_t* groups,
                  std::int64_t group_stride) {
  switch (of.limbs) {
    case 1: return recover_rows<1>(products, stride, corrections, correction_stride, count, of, groups, group_stride);
    case 2: return recover_rows<2>(products, stride, corrections, correction_stride, count, of, groups, group_stride);
    case 3: return recover_rows<3>(products, stride, corrections, correction_stride, count, of, groups, group_stride);
    default: return recover_rows<4>(products, stride, corrections, correction_stride, count, of, groups, group_stride);
  }
}

}  // namespace
}  // namespace ozbound
