// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

/// Digits of the vectors of an operand (rows of A, columns of B) in device memory: digit p of element l of vector i is the byte
/// digits[i * pitch() + place(p) * padded + l], zero from l = inner on.
///
/// A's slices lie in order, B's in reverse, so that the pairs of a diagonal lie side by side and are one integer dot product of
/// length pairs * padded. Memory is allocated, and zero, up to a multiple of vector_step vectors: tiles need no bounds checks.
struct DeviceSlices {
  static constexpr Index vector_step = 128;
  static constexpr Index digit_step = 128;

  std::int8_t* digits = nullptr;             ///< unsigned digits (Encoding::unsigned_digit) are the same bytes, read as uint8
  std::int32_t* exponents = nullptr;         ///< [count]: rho_i = 2^exponents[i]
  std::uint8_t* special = nullptr;           ///< [count]: 1 where the vector holds a NaN or an infinity; its digits are zero
  std::int16_t* weight_exponents = nullptr;  ///< [i * slices + p - 1] for encodings without a common ratio, else null
  std::uint64_t* tops = nullptr;             ///< [count]: the largest magnitude's bits, as binary64; what scales come from
  std::uint32_t* any_special = nullptr;      ///< one word: not zero where any vector is special; for launch_specials
  Index count = 0;                           ///< m or n
  Index inner = 0;                           ///< k
  Index padded = digit_step;                 ///< inner rounded up to a multiple of digit_step, at least digit_step
  int slices = 1;                            ///< 1 … max_slices
  bool reversed = false;                     ///< B's

  [[nodiscard]] OZB_HD constexpr Index pitch() const { return slices * padded; }
  [[nodiscard]] OZB_HD constexpr int place(int p) const { return reversed ? slices - p : p - 1; }
};

}  // namespace ozbound::gpu
