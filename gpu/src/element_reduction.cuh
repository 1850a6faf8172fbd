// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "bytes.cuh"
#include "ozbound/core/detail/residue_constants.hpp"
#include "ozbound/core/residues.hpp"

// Residues of integers on the device, modulus by modulus (docs/derivations/residues.md, R3, R7).

namespace ozbound::gpu {

/// Bits of the float 3 2^22, whose last bit is 1. Adding an integer below 2^22 to the bits gives the bits of the sum.
inline constexpr std::int32_t middle_bits = 0x4b400000;
inline constexpr float middle = 3 << 22;

/// Constants for reducing elements modulo p. The first four words suffice for integers below 2^63, and are read at once.
struct alignas(16) ElementReduction {
  std::uint32_t weights[2];  ///< int8: residue of 256^i at byte i
  float reciprocal;          ///< 1 / p
  std::int32_t minus_p;
  std::uint32_t upper[2];  ///< int8: residue of 2^56 256^i at byte i

#ifdef __CUDACC__
  /// A word whose lowest byte is z mod p, balanced, from middle_bits + z. For |z| < 2^19 the rounding errors of binary32 do not
  /// matter (R7). For p = 256 a tie has the same byte either way.
  [[nodiscard]] __device__ std::int32_t rest(std::int32_t shifted) const {
    const float quotient = __fmaf_rn(__int_as_float(shifted) - middle, reciprocal, middle);
    return shifted + __float_as_int(quotient) * minus_p;
  }

  /// Reduces an integer below 2^63, given as signed bytes: eight products below 2^14 each.
  [[nodiscard]] __device__ std::int32_t rest(std::uint64_t signed_bytes) const {
    return rest(sum(signed_bytes, weights, middle_bits));
  }

  /// Reduces low + 2^56 high.
  [[nodiscard]] __device__ std::int32_t rest(std::uint64_t low, std::uint64_t high) const {
    return rest(sum(high, upper, sum(low, weights, middle_bits)));
  }

 private:
  __device__ static std::int32_t sum(std::uint64_t bytes, const std::uint32_t (&weights)[2], std::int32_t total) {
    const auto low = static_cast<std::uint32_t>(bytes), high = static_cast<std::uint32_t>(bytes >> 32);
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(total) : "r"(low), "r"(weights[0]));
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(total) : "r"(high), "r"(weights[1]));
    return total;
  }
#endif
};

struct ElementReductions {
  ElementReduction of[max_moduli];

  explicit ElementReductions(const ResidueConstants& moduli) {
    for (int t = 0; t < max_moduli; ++t)
      of[t] = {{moduli.byte_weights[t][0], moduli.byte_weights[t][1]},
               static_cast<float>(moduli.reciprocal[t]),
               -static_cast<std::int32_t>(moduli.modulus[t]),
               {moduli.byte_weights[t][2], moduli.byte_weights[t][3]}};
  }
};

#ifdef __CUDACC__

/// The bytes of an integer below 2^63, each as a signed byte.
__device__ inline std::uint64_t bytes_with_signs(std::uint64_t integer) {
  constexpr std::uint64_t bias = 0x0080808080808080;  // bytes above 127 carry
  return (integer + bias) ^ bias;
}

/// The lowest bytes of four words.
__device__ inline std::uint32_t lowest_bytes(const std::uint32_t (&words)[4]) {
  return __byte_perm(__byte_perm(words[0], words[1], 0x0040), __byte_perm(words[2], words[3], 0x0040), 0x5410);
}

#endif

}  // namespace ozbound::gpu
