// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

#include "tile.hpp"

namespace ozbound {
namespace {

/// sdot multiplies int8 by int8: 128 is taken off each digit of B, and 128 times A's given back.
struct Dotprod {
  using ADigit = std::int8_t;
  using Digits = int8x16_t;
  struct Sums {
    int32x4_t products;
  };
  static constexpr unsigned rows = 8, vectors = 3, columns = 4;

  static Sums zero() { return {vdupq_n_s32(0)}; }
  static Digits load(const std::uint8_t* b) { return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(b), vdupq_n_u8(0x80))); }
  static Digits broadcast(const std::int8_t* a) {
    int digits;
    __builtin_memcpy(&digits, a, sizeof digits);
    return vreinterpretq_s8_s32(vdupq_n_s32(digits));
  }
  static Sums add_products(Sums sums, Digits a, Digits b) { return {vdotq_s32(sums.products, a, b)}; }
  static void store(Sums sums, std::int32_t* products) { vst1q_s32(products, sums.products); }
};

void multiply_corrected(const std::int8_t* a, std::int64_t a_vectors, const std::uint8_t* b, std::int64_t b_vectors,
                        std::int64_t steps, std::int32_t* products) {
  constexpr unsigned columns = Dotprod::vectors * Dotprod::columns;
  multiply<Dotprod>(a, a_vectors, b, b_vectors, steps, products);
  std::uint32_t sums[Dotprod::rows];
  digit_sums(a, 0, a_vectors, steps, sums);
  for (std::int64_t i = 0; i < a_vectors; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      products[i * columns + j] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(products[i * columns + j]) + 128 * sums[i]);
}

constexpr KernelFunctions functions{Dotprod::rows,
                                    Dotprod::vectors* Dotprod::columns,
                                    multiply_corrected,
                                    slice_steps,
                                    magnitudes,
                                    digit_sums,
                                    add,
                                    add_with_columns,
                                    round_entries,
                                    round_enclosed};

}  // namespace

extern const KernelFunctions* const neon_dotprod_functions = &functions;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::neon_dotprod_functions = nullptr;
#endif
