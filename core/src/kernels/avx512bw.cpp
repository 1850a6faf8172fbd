// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>

#include "tile.hpp"

namespace ozbound {
namespace {

/// vpmaddwd: products of INT16 digits, two of them summed in INT32, which is exact; a column's sums occupy two lanes.
struct Madd512 {
  using ADigit = std::int16_t;
  using Digits = __m512i;
  using Sums = __m512i;
  static constexpr bool signed_b = false;
  static constexpr unsigned rows = 8, vectors = 3, columns = 8;

  static Sums zero() { return _mm512_setzero_si512(); }
  static Digits load(const std::uint8_t* b) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  }
  static Digits broadcast(const std::int16_t* a) {
    long long digits;
    __builtin_memcpy(&digits, a, sizeof digits);
    return _mm512_set1_epi64(digits);
  }
  static Sums add_products(Sums sums, Digits a, Digits b) {
    Sums products;  // inline assembly, since compilers that may reorder these keep too many products at a time
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+v"(sums), "=&v"(products) : "v"(a), "v"(b));
    return sums;
  }
  static void store(Sums sums, std::int32_t* products) {
    std::uint32_t pairs[2 * columns];
    _mm512_storeu_si512(pairs, sums);
    add_pairs(pairs, columns, products);
  }
};

}  // namespace

extern const KernelFunctions* const avx512bw_functions = &functions_of<Madd512>;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::avx512bw_functions = nullptr;
#endif
