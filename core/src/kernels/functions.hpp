// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What a kernel consists of. Every instruction set's file is compiled for it alone, so this header and those that it shares
// with others include nothing whose inline functions the linker could take for the whole program.

#include <cstdint>

namespace ozbound {

inline constexpr int slice_lanes = 8, max_slice_count = 20;

/// How vectors are sliced, and where their digits go.
struct SliceShape {
  enum class Digits : std::uint8_t { truncated, nearest, balanced, unsigned8 };
  Digits digits;
  int beta;
  int slices;
  int in_word;                ///< digits that are taken at a time: at most 48 bits, one of nearest
  std::uint32_t flip_first;   ///< what the stored bytes of four digits differ in from digits: of the first slice
  std::uint32_t flip_others;  ///< of the others
  std::int64_t slice_bytes;   ///< from the digits of a slice to those of the next; negative in B
  std::int64_t step_bytes;    ///< from a step of a slice to the next
};

struct KernelFunctions {
  std::int64_t rows;     ///< vectors of A in a panel, at most most_rows
  std::int64_t columns;  ///< vectors of B in a panel, at most most_columns

  /// Kernel::multiply.
  void (*multiply)(const std::int8_t* a, std::int64_t a_vectors, const std::uint8_t* b, std::int64_t b_vectors,
                   std::int64_t steps, std::int32_t* products);

  /// Digits of `lanes` vectors over some steps: x[4 t + l][v] is element l of step t of vector v, zero from `lanes` on, and
  /// scale[v] the power of two that takes it to units of the last digit of the first word. @pre FloatEnvironment.
  void (*slice)(const double (*x)[slice_lanes], std::int64_t steps, const SliceShape& shape, const double* scale,
                std::int64_t lanes, std::int8_t* out);

  /// The least of |x|'s bits that are not zero, all ones where there are none, and the largest, 0 where there are none: a
  /// finite number's are in its order, and those of infinities and NaN above them.
  void (*magnitudes)(const double* x, std::int64_t count, std::uint64_t* least, std::uint64_t* top);

  /// Sums of the stored digits of each vector of a panel, modulo 2^32: int8, or uint8 with `flip` = 0x80.
  void (*digit_sums)(const std::int8_t* digits, std::uint8_t flip, std::int64_t vectors, std::int64_t steps,
                     std::uint32_t* sums);

  /// sums[j] += the INT32 number products[j] + correction, modulo 2^32.
  void (*add)(const std::int32_t* products, std::uint32_t correction, std::int64_t count, std::int64_t* sums);

  /// The same with a correction of each column's own.
  void (*add_with_columns)(const std::int32_t* products, std::uint32_t correction, const std::uint32_t* columns,
                           std::int64_t count, std::int64_t* sums);

  /// rounded[j] = sum_t sums[t * stride + j] 2^(radix_bits (groups - 1 - t)), rounded once: to nearest, ties to even, or, with
  /// to_odd, to the neighbour whose last bit is set where it is not exact.
  /// @pre |sums| < 2^50, groups <= most_fast_groups(radix_bits), FloatEnvironment.
  void (*round)(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count, bool to_odd,
                double* rounded);

  /// The same to nearest; decided[j] is 1 only where all that lies within errors[j] >= 0 of the sum is rounded to rounded[j],
  /// and may be 0 where that is closer than 2^-40 of half a last place. @pre As of round; the sum's last bit weighs 1.
  void (*round_enclosed)(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count,
                         const double* errors, double* rounded, std::uint8_t* decided);
};

inline constexpr unsigned most_rows = 8, most_columns = 48;
inline constexpr unsigned panel_slack_bytes = 256;  ///< that may be read beyond a panel

/// Bits that a double holds of the finished part of a carry chain; there are two parts beside its head.
inline constexpr int chunk_bits = 48;
constexpr int most_fast_groups(int radix_bits) { return 2 * (chunk_bits / radix_bits) + 1; }

/// Made from one source each, for one instruction set each; null where this program is for another processor.
extern const KernelFunctions* const avx512vnni_functions;
extern const KernelFunctions* const avxvnni_functions;
extern const KernelFunctions* const avx512bw_functions;
extern const KernelFunctions* const avx2_functions;
extern const KernelFunctions* const sse2_functions;
extern const KernelFunctions* const neon_dotprod_functions;
extern const KernelFunctions* const portable_functions;

}  // namespace ozbound
