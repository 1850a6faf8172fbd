// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What a kernel consists of. Every instruction set's file is compiled for it alone, so this header and those that it shares
// with others include nothing whose inline functions the linker could take for the whole program.

#include <cstdint>

#include "ozbound/core/detail/residue_constants.hpp"

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
  std::int64_t four_bytes;    ///< from four digits of a vector to its next four
  std::int64_t vector_bytes;  ///< from four digits of a vector to those of the next one
};

/// Where residues go: bytes from one modulus to the next, and as in SliceShape.
struct ResidueShape {
  std::int64_t layer_bytes, four_bytes, vector_bytes;
};

/// A block of two panels. Its slices lie one after the other, so that a vector has a row of slices * slice_digits digits.
struct KernelBlock {
  const std::int8_t* a;  ///< int8, the digits of the first slice that lies there
  std::int64_t a_vectors;
  const std::int8_t* b;  ///< int8 where the kernel has signed_b, uint8 otherwise
  std::int64_t b_vectors;
  std::int64_t slice_digits;
};

/// One dot product of parts of the rows of a block, for each of its pairs of vectors: Kernel::multiply.
struct KernelRun {
  std::int64_t a;       ///< where the part begins in the rows of A, a multiple of Kernel::multiple
  std::int64_t b;       ///< in those of B
  std::int64_t digits;  ///< of the part, a multiple as well
  std::int32_t* products;
};

struct KernelFunctions {
  std::int64_t rows;          ///< vectors of A in a panel, at most most_rows
  std::int64_t columns;       ///< vectors of B in a panel, at most most_columns
  std::int64_t a_step;        ///< digits of a vector that lie side by side in A
  std::int64_t multiple;      ///< of which the digits of a slice in a block are one; of a_step and of 4
  bool signed_b;              ///< digits of B are int8, not uint8
  std::int64_t tile_rows;     ///< of C, at most: their panels of A are to stay in the cache
  std::int64_t tile_columns;  ///< of C, at most
  std::int64_t tile_bytes;    ///< of a tile's sums, at most where that is more than one pair of panels

  /// A thread multiplies between them (KernelScope).
  void (*start)();
  void (*stop)();

  /// Sums of products of every run of a block, modulo 2^32: added to run.products[i * columns + j], or stored there, where they
  /// are undefined for i >= a_vectors and j >= b_vectors.
  void (*multiply)(const KernelBlock& block, const KernelRun* runs, std::int64_t count, bool add);

  /// The same of one run of a panel of A with each of some panels of B, their products `apart` from those before, which are
  /// added to: of kernels that make something of A's digits first, once for all of these. Null of others.
  void (*multiply_panels)(const KernelBlock* blocks, std::int64_t panels, const KernelRun& run, std::int64_t apart);

  /// Digits of `lanes` vectors, `fours` times four elements: x[4 t + l][v] is element 4 t + l of vector v, zero from `lanes`
  /// on, and scale[v] the power of two that takes it to units of the last digit of the first word. @pre FloatEnvironment.
  void (*slice)(const double (*x)[slice_lanes], std::int64_t fours, const SliceShape& shape, const double* scale,
                std::int64_t lanes, std::int8_t* out);

  /// Residues of RN(x scale), |x scale| <= 2^bits, bits <= 120, of elements that lie as those of `slice`. `flip` = 0x80 stores
  /// them as uint8, 128 more, and 0 as int8.
  void (*residues)(const double (*x)[slice_lanes], std::int64_t fours, const ResidueConstants& of, const double* scale,
                   int bits, std::int64_t lanes, std::uint8_t flip, const ResidueShape& shape, std::int8_t* out);

  /// C' of at most 64 entries from the sums of their moduli, |sums| < 2^46, sums[t * stride + j], as groups of a carry chain of
  /// radix 2^limb_bits; false where that is not sure, |C'| being near P / 2.
  bool (*recover)(const std::int64_t* sums, std::int64_t stride, std::int64_t count, const ResidueConstants& of,
                  std::int64_t* groups);

  /// As recover, but the sums are INT32: products[t * stride + j] + corrections[t * correction_stride], modulo 2^32. The
  /// function may read products, and write groups, up to the next multiple of 16 entries. Null where a kernel has none.
  bool (*recover_products)(const std::int32_t* products, std::int64_t stride, const std::uint32_t* corrections,
                           std::int64_t correction_stride, std::int64_t count, const ResidueConstants& of, std::int64_t* groups,
                           std::int64_t group_stride);

  /// The least of |x|'s bits that are not zero, all ones where there are none, and the largest, 0 where there are none: a
  /// finite number's are in its order, and those of infinities and NaN above them.
  void (*magnitudes)(const double* x, std::int64_t count, std::uint64_t* least, std::uint64_t* top);

  /// Sums of `count` stored digits of each vector of a panel, modulo 2^32, of which `step` lie side by side: int8, or uint8
  /// with `flip` = 0x80.
  void (*digit_sums)(const std::int8_t* digits, std::uint8_t flip, std::int64_t vectors, std::int64_t step, std::int64_t count,
                     std::uint32_t* sums);

  /// sums[j] += the INT32 number products[j] + correction, modulo 2^32.
  void (*add)(const std::int32_t* products, std::uint32_t correction, std::int64_t count, std::int64_t* sums);

  /// The same with a correction of each column's own.
  void (*add_with_columns)(const std::int32_t* products, std::uint32_t correction, const std::uint32_t* columns,
                           std::int64_t count, std::int64_t* sums);

  /// rounded[j] = sum_t sums[t * stride + j] 2^(radix_bits (groups - 1 - t)), rounded once: to nearest, ties to even, or, with
  /// to_odd, to the neighbour whose last bit is set where it is not exact.
  /// @pre The most significant sum and what is carried to it are below 2^51 together, the others below 2^51 each, groups <=
  /// most_fast_groups(radix_bits), FloatEnvironment.
  void (*round)(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count, bool to_odd,
                double* rounded);

  /// The same to nearest; decided[j] is 1 only where all that lies within errors[j] >= 0 of the sum is rounded to rounded[j],
  /// and may be 0 where that is closer than 2^-40 of half a last place. @pre As of round; the sum's last bit weighs 1.
  void (*round_enclosed)(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count,
                         const double* errors, double* rounded, std::uint8_t* decided);
};

inline constexpr unsigned most_rows = 32, most_columns = 48;
inline constexpr unsigned panel_slack_bytes = 1024;  ///< that may be read beyond a panel

/// Bits that a double holds of the finished part of a carry chain; there are two parts beside its head.
inline constexpr int chunk_bits = 48;
constexpr int most_fast_groups(int radix_bits) { return 2 * (chunk_bits / radix_bits) + 1; }

/// Made from one source each, for one instruction set each; null where this program is for another processor.
extern const KernelFunctions* const amx_functions;
extern const KernelFunctions* const avx512vnni_functions;
extern const KernelFunctions* const avxvnni_functions;
extern const KernelFunctions* const avx512bw_functions;
extern const KernelFunctions* const avx2_functions;
extern const KernelFunctions* const sse2_functions;
extern const KernelFunctions* const neon_dotprod_functions;
extern const KernelFunctions* const portable_functions;

}  // namespace ozbound
