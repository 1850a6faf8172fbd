// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#ifdef __AVXVNNI__
#include <immintrin.h>

#include "tile.hpp"

namespace ozbound {
namespace {

/// vpdpbusd on 256 bits, for processors without AVX-512.
struct Vnni256 {
  using ADigit = std::int8_t;
  using Digits = __m256i;
  using Sums = __m256i;
  static constexpr bool signed_b = false;
  static constexpr unsigned rows = 6, vectors = 2, columns = 8;

  static Sums zero() { return _mm256_setzero_si256(); }
  static Digits load(const std::uint8_t* b) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)); }
  static Digits broadcast(const std::int8_t* a) {
    int digits;
    __builtin_memcpy(&digits, a, sizeof digits);
    return _mm256_set1_epi32(digits);
  }
  static Sums add_products(Sums sums, Digits a, Digits b) { return _mm256_dpbusd_avx_epi32(sums, b, a); }
  static void store(Sums sums, std::int32_t* products) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(products), sums); }
};

}  // namespace

extern const KernelFunctions* const avxvnni_functions = &functions_of<Vnni256>;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::avxvnni_functions = nullptr;
#endif
