// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>

#include "residue_vnni.hpp"
#include "tile.hpp"

namespace ozbound {
namespace {

/// vpdpbusd: four products of a uint8 and an int8 digit, added to an INT32 sum modulo 2^32.
struct Vnni512 {
  using ADigit = std::int8_t;
  using Digits = __m512i;
  using Sums = __m512i;
  static constexpr bool signed_b = false;
  static constexpr unsigned rows = 8, vectors = 3, columns = 16;

  static Sums zero() { return _mm512_setzero_si512(); }
  static Digits load(const std::uint8_t* b) { return _mm512_loadu_si512(b); }
  static Digits broadcast(const std::int8_t* a) {
    int digits;
    __builtin_memcpy(&digits, a, sizeof digits);
    return _mm512_set1_epi32(digits);
  }
  static Sums add_products(Sums sums, Digits a, Digits b) { return _mm512_dpbusd_epi32(sums, b, a); }
  static void store(Sums sums, std::int32_t* products) { _mm512_storeu_si512(products, sums); }
};

constexpr KernelFunctions with_residues(KernelFunctions functions) {
  functions.residues = residues_vnni;
  functions.recover_products = recover_vnni;
  return functions;
}
constexpr KernelFunctions vnni_functions = with_residues(functions_of<Vnni512>);

}  // namespace

extern const KernelFunctions* const avx512vnni_functions = &vnni_functions;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::avx512vnni_functions = nullptr;
#endif
