// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

/// Digits of the vectors of an operand (rows of A, columns of B) in device memory. Digit p of element l of vector i is the byte
/// digits[i * pitch() + offset(p) + l], zero from l = inner on.
///
/// A's slices lie in order, B's in reverse. The pairs of a diagonal thus lie side by side and form one integer dot product of
/// length pairs * padded. Residues (core/residues.hpp) lie modulus by modulus: "digit" p is the residue modulo the p-th
/// modulus. Memory is allocated, and zero, up to a multiple of vector_step vectors, so that tiles need no bounds checks.
struct DeviceSlices {
  static constexpr Index vector_step = 128;
  static constexpr Index digit_step = 128;

  std::int8_t* digits = nullptr;             ///< unsigned digits (Encoding::unsigned_digit) are the same bytes, read as uint8
  std::int32_t* exponents = nullptr;         ///< [count]: rho_i = 2^exponents[i]
  std::uint8_t* special = nullptr;           ///< [count]: 1 if the vector holds a NaN or an infinity; its digits are zero
  std::int16_t* weight_exponents = nullptr;  ///< [i * slices + p - 1] for encodings without a common ratio, else null
  std::uint64_t* tops = nullptr;             ///< [count]: the bits of the largest magnitude, as binary64, from which scales are
                                             ///< computed
  std::uint32_t* any_special = nullptr;      ///< one word, for launch_specials: not zero if any vector is special
  Index count = 0;                           ///< m or n
  Index inner = 0;                           ///< k
  Index padded = digit_step;                 ///< inner rounded up to a multiple of digit_step, at least digit_step
  int slices = 1;                            ///< 1 … max_slices; for residues the number of moduli
  bool reversed = false;                     ///< true for B's slices
  Index modulus_vectors = 0;                 ///< for residues, the vectors for which each modulus has memory; 0 for slices

  /// Bytes from one vector to the next.
  [[nodiscard]] OZB_HD constexpr Index pitch() const { return modulus_vectors > 0 ? padded : slices * padded; }
  /// Bytes from a vector's first byte to its digit p of element 0.
  [[nodiscard]] OZB_HD constexpr Index offset(int p) const {
    return modulus_vectors > 0 ? (p - 1) * modulus_vectors * padded : place(p) * padded;
  }
  [[nodiscard]] OZB_HD constexpr int place(int p) const { return reversed ? slices - p : p - 1; }
};

}  // namespace ozbound::gpu
