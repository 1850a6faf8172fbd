// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#ifdef __SSE2__
#include <emmintrin.h>

#include "tile.hpp"

namespace ozbound {
namespace {

/// pmaddwd, as in avx512bw.cpp.
struct Madd128 {
  using ADigit = std::int16_t;
  using Digits = __m128i;
  using Sums = __m128i;
  static constexpr bool signed_b = false;
  static constexpr unsigned rows = 4, vectors = 2, columns = 2;

  static Sums zero() { return _mm_setzero_si128(); }
  static Digits load(const std::uint8_t* b) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(b)), zero());
  }
  static Digits broadcast(const std::int16_t* a) {
    const auto digits = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a));
    return _mm_unpacklo_epi64(digits, digits);
  }
  static Sums add_products(Sums sums, Digits a, Digits b) { return _mm_add_epi32(sums, _mm_madd_epi16(a, b)); }
  static void store(Sums sums, std::int32_t* products) {
    std::uint32_t pairs[2 * columns];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs), sums);
    add_pairs(pairs, columns, products);
  }
};

}  // namespace

extern const KernelFunctions* const sse2_functions = &functions_of<Madd128>;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::sse2_functions = nullptr;
#endif
