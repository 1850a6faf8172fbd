// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

#include "tile.hpp"

namespace ozbound {
namespace {

/// sdot: four products of int8 digits, added to an INT32 sum modulo 2^32.
struct Dotprod {
  using ADigit = std::int8_t;
  using Digits = int8x16_t;
  struct Sums {
    int32x4_t products;
  };
  static constexpr bool signed_b = true;
  static constexpr unsigned rows = 8, vectors = 3, columns = 4;

  static Sums zero() { return {vdupq_n_s32(0)}; }
  static Digits load(const std::uint8_t* b) { return vreinterpretq_s8_u8(vld1q_u8(b)); }
  static Digits broadcast(const std::int8_t* a) {
    int digits;
    __builtin_memcpy(&digits, a, sizeof digits);
    return vreinterpretq_s8_s32(vdupq_n_s32(digits));
  }
  static Sums add_products(Sums sums, Digits a, Digits b) { return {vdotq_s32(sums.products, a, b)}; }
  static void store(Sums sums, std::int32_t* products) { vst1q_s32(products, sums.products); }
};

}  // namespace

extern const KernelFunctions* const neon_dotprod_functions = &functions_of<Dotprod>;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::neon_dotprod_functions = nullptr;
#endif
