// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device_epilogue.hpp"
#include "device_slices.hpp"

namespace ozbound::gpu {

/// VectorNorms in device memory: the same integers as in core, under the scales of truncated digits.
struct LookNorms {
  static constexpr int words_each = 4;
  static constexpr std::int32_t no_last_bit = 1 << 20;  ///< core's value of the same name

  std::uint64_t* words =
      nullptr;  ///< of vector i the sum, the sum of squares, the maximum and floor_squares at [count * 0 … 3 + i]
  std::int32_t* above_last_bits = nullptr;  ///< [count]: no_last_bit less the position of a vector's last bit; 0 for zeros
  Index count = 0;

  [[nodiscard]] OZB_HD std::int32_t last_bit(Index i) const { return no_last_bit - above_last_bits[i]; }
  [[nodiscard]] OZB_HD std::uint64_t& word(int which, Index i) const { return words[which * count + i]; }
};

/// The least sum of level 1 in the rows of C, or in its columns, among entries that are neither zero nor special. Memory that
/// is 0 holds none.
struct LeastSums {
  std::uint32_t* complements = nullptr;  ///< [count]: 2^32 - 1 less the sum

  [[nodiscard]] OZB_HD bool any(Index i) const { return complements[i] != 0; }
  [[nodiscard]] OZB_HD std::uint32_t of(Index i) const { return ~complements[i]; }  ///< @pre any(i)
};

/// Results of one pass over an operand: everything that is needed before a plan is known.
struct FirstLook {
  static constexpr int print_words = 32;

  DeviceSlices digits;              ///< floor(2^7 |x| / rho) under the scales of truncated digits; exponents, specials and tops
  std::int64_t* sums = nullptr;     ///< [count]: sums of the digits; 0 only for vectors of zeros and special vectors
  std::uint64_t* prints = nullptr;  ///< [print_words]: their sum modulo 2^64 is the matrix's fingerprint
  LookNorms norms;
};

/// An operand's vectors (count x inner). Element (i, l) has the number i * by_vector + l * by_element in its matrix.
struct LookJob {
  DeviceMatrix vectors;
  FirstLook look;
  Index by_vector, by_element;
};
/// Fills both looks. @pre sums, prints, words and above_last_bits are 0.
void launch_first_looks(const LookJob& a, const LookJob& b, cudaStream_t stream);

}  // namespace ozbound::gpu
