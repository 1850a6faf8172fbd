// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#ifdef __AVX2__
#include <immintrin.h>

#include "tile.hpp"

namespace ozbound {
namespace {

/// vpmaddwd, as in avx512bw.cpp.
struct Madd256 {
  using ADigit = std::int16_t;
  using Digits = __m256i;
  using Sums = __m256i;
  static constexpr bool signed_b = false;
  static constexpr unsigned rows = 6, vectors = 2, columns = 4;

  static Sums zero() { return _mm256_setzero_si256(); }
  static Digits load(const std::uint8_t* b) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
  }
  static Digits broadcast(const std::int16_t* a) {
    long long digits;
    __builtin_memcpy(&digits, a, sizeof digits);
    return _mm256_set1_epi64x(digits);
  }
  static Sums add_products(Sums sums, Digits a, Digits b) {
    Sums products;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sums), "=&x"(products) : "x"(a), "x"(b));
    return sums;
  }
  static void store(Sums sums, std::int32_t* products) {
    std::uint32_t pairs[2 * columns];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(pairs), sums);
    add_pairs(pairs, columns, products);
  }
};

}  // namespace

extern const KernelFunctions* const avx2_functions = &functions_of<Madd256>;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::avx2_functions = nullptr;
#endif
