// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The parts of a kernel. Each kernel file is compiled for its own instruction set. This header and the headers it shares with
// other files therefore include nothing whose inline functions the linker could use for the whole program.

#include <cstdint>

#include "ozbound/core/detail/residue_constants.hpp"

namespace ozbound {

inline constexpr int slice_lanes = 8, max_slice_count = 20;

/// The parameters of slicing, and the places of the digits.
struct SliceShape {
  enum class Digits : std::uint8_t { truncated, nearest, balanced, unsigned8 };
  Digits digits;
  int beta;
  int slices;
  int in_word;                ///< digits taken at a time: at most 48 bits; for nearest, one digit
  std::uint32_t flip_first;   ///< XOR mask from four computed bytes to the stored ones, for the first slice
  std::uint32_t flip_others;  ///< the same for the other slices
  std::int64_t slice_bytes;   ///< distance from the digits of a slice to those of the next; negative in B
  std::int64_t four_bytes;    ///< distance from four digits of a vector to its next four
  std::int64_t vector_bytes;  ///< distance from four digits of a vector to those of the next vector
};

/// The places of residues: layer_bytes from one modulus to the next; the others as in SliceShape.
struct ResidueShape {
  std::int64_t layer_bytes, four_bytes, vector_bytes;
};

/// A block of two panels. Its slices are contiguous, so that each vector has a row of slices * slice_digits digits.
struct KernelBlock {
  const std::int8_t* a;  ///< int8: the digits of the first slice in memory
  std::int64_t a_vectors;
  const std::int8_t* b;  ///< int8 if the kernel has signed_b, otherwise uint8
  std::int64_t b_vectors;
  std::int64_t slice_digits;
};

/// One dot product of parts of the rows of a block, for each pair of its vectors: Kernel::multiply.
struct KernelRun {
  std::int64_t a;       ///< start of the part in the rows of A, a multiple of Kernel::multiple
  std::int64_t b;       ///< start of the part in the rows of B
  std::int64_t digits;  ///< length of the part, also a multiple of Kernel::multiple
  std::int32_t* products;
};

struct KernelFunctions {
  std::int64_t rows;          ///< vectors of A in a panel, at most most_rows
  std::int64_t columns;       ///< vectors of B in a panel, at most most_columns
  std::int64_t a_step;        ///< adjacent digits of a vector in A
  std::int64_t multiple;      ///< divides the digits of a slice in a block; a multiple of a_step and of 4
  bool signed_b;              ///< digits of B are int8, not uint8
  std::int64_t tile_rows;     ///< most rows of a tile of C: its panels of A should stay in the cache
  std::int64_t tile_columns;  ///< most columns of a tile of C
  std::int64_t tile_bytes;    ///< most bytes of a tile's sums, unless one pair of panels needs more

  /// A thread multiplies only between start() and stop() (KernelScope).
  void (*start)();
  void (*stop)();

  /// The sums of products of every run of a block, modulo 2^32. They are added to run.products[i * columns + j], or stored
  /// there; stored sums are undefined for i >= a_vectors and j >= b_vectors.
  void (*multiply)(const KernelBlock& block, const KernelRun* runs, std::int64_t count, bool add);

  /// Adds the sums of one run, for a panel of A with each of some panels of B. The products of consecutive panels are `apart`
  /// numbers apart. For kernels that first transform A's digits, once for all these panels; null for other kernels.
  void (*multiply_panels)(const KernelBlock* blocks, std::int64_t panels, const KernelRun& run, std::int64_t apart);

  /// Digits of `lanes` vectors, `fours` times four elements. x[4 t + l][v] is element 4 t + l of vector v, zero from `lanes`
  /// on. scale[v] is the power of two that takes it to units of the last digit of the first word. @pre FloatEnvironment.
  void (*slice)(const double (*x)[slice_lanes], std::int64_t fours, const SliceShape& shape, const double* scale,
                std::int64_t lanes, std::int8_t* out);

  /// Residues of RN(x scale), |x scale| <= 2^bits, bits <= 120. The elements are laid out as for `slice`. `flip` = 0x80 stores
  /// residues plus 128 as uint8; `flip` = 0 stores them as int8.
  void (*residues)(const double (*x)[slice_lanes], std::int64_t fours, const ResidueConstants& of, const double* scale,
                   int bits, std::int64_t lanes, std::uint8_t flip, const ResidueShape& shape, std::int8_t* out);

  /// C' of at most 64 entries from the sums of their moduli, |sums| < 2^46, sums[t * stride + j], as groups of a carry chain of
  /// radix 2^limb_bits. Returns false if a result is not certain because |C'| is near P / 2.
  bool (*recover)(const std::int64_t* sums, std::int64_t stride, std::int64_t count, const ResidueConstants& of,
                  std::int64_t* groups);

  /// Like recover, but from INT32 sums: products[t * stride + j] + corrections[t * correction_stride], modulo 2^32. The
  /// function may read products, and write groups, up to the next multiple of 16 entries. Null if the kernel lacks it.
  bool (*recover_products)(const std::int32_t* products, std::int64_t stride, const std::uint32_t* corrections,
                           std::int64_t correction_stride, std::int64_t count, const ResidueConstants& of, std::int64_t* groups,
                           std::int64_t group_stride);

  /// The smallest non-zero bit pattern among |x| (all ones if there is none), and the largest (0 if there is none). Patterns of
  /// finite numbers are ordered like the numbers; those of infinities and NaN are larger.
  void (*magnitudes)(const double* x, std::int64_t count, std::uint64_t* least, std::uint64_t* top);

  /// Sums of `count` stored digits of each vector of a panel, modulo 2^32. `step` digits of a vector are adjacent. The digits
  /// are int8, or uint8 with `flip` = 0x80.
  void (*digit_sums)(const std::int8_t* digits, std::uint8_t flip, std::int64_t vectors, std::int64_t step, std::int64_t count,
                     std::uint32_t* sums);

  /// sums[j] += the INT32 number products[j] + correction, modulo 2^32.
  void (*add)(const std::int32_t* products, std::uint32_t correction, std::int64_t count, std::int64_t* sums);

  /// The same with an additional correction for each column.
  void (*add_with_columns)(const std::int32_t* products, std::uint32_t correction, const std::uint32_t* columns,
                           std::int64_t count, std::int64_t* sums);

  /// rounded[j] = sum_t sums[t * stride + j] 2^(radix_bits (groups - 1 - t)), rounded once: to nearest, ties to even, or with
  /// to_odd, if it is inexact, to the neighbour whose last bit is set.
  /// @pre The most significant sum plus the carry into it is below 2^51, the others are below 2^51 each, groups <=
  /// most_fast_groups(radix_bits), FloatEnvironment.
  void (*round)(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count, bool to_odd,
                double* rounded);

  /// The same to nearest. decided[j] is 1 only if every number within errors[j] >= 0 of the sum rounds to rounded[j]. It may be
  /// 0 if such a number comes within 2^-40 of half a last place. @pre As for round; the sum's last bit has the weight 1.
  void (*round_enclosed)(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count,
                         const double* errors, double* rounded, std::uint8_t* decided);
};

inline constexpr unsigned most_rows = 32, most_columns = 48;
inline constexpr unsigned panel_slack_bytes = 1024;  ///< bytes that may be read beyond a panel

/// Number of bits in a double that holds a finished part of a carry chain. There are two such parts beside the head.
inline constexpr int chunk_bits = 48;
constexpr int most_fast_groups(int radix_bits) { return 2 * (chunk_bits / radix_bits) + 1; }

/// The functions of each instruction set, each compiled from its own source; null if this program is for another processor.
extern const KernelFunctions* const amx_functions;
extern const KernelFunctions* const avx512vnni_functions;
extern const KernelFunctions* const avxvnni_functions;
extern const KernelFunctions* const avx512bw_functions;
extern const KernelFunctions* const avx2_functions;
extern const KernelFunctions* const sse2_functions;
extern const KernelFunctions* const neon_dotprod_functions;
extern const KernelFunctions* const portable_functions;

}  // namespace ozbound
