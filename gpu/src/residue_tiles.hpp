// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "block_step.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/residues.hpp"

namespace ozbound::gpu {

inline constexpr int residue_tile_rows = 128, residue_step = 128;

/// The layout of the bytes of a tile of 128 x Columns entries. Two warpgroups of 64 rows lie one after the other. A thread of a
/// warpgroup has the 16 bytes of accumulators 16 q … 16 q + 15 at 128 * 16 * q + 16 * thread.
///
/// Accumulator i of thread h of a warpgroup, of m64nNk32, is the entry of row 16 (h / 32) + h % 32 / 4 + 8 (i / 2 % 2) and
/// column 8 (i / 4) + 2 (h % 4) + i % 2.
template <int Columns>
struct TileBytes {
  static constexpr std::int64_t of_group = 64 * Columns, of_tile = 2 * of_group;

  OZB_HD static constexpr std::int64_t of(int row_tile, int column_tile, int column_tiles, int group) {
    return (std::int64_t{row_tile} * column_tiles + column_tile) * of_tile + group * of_group;
  }
  OZB_HD static constexpr int row(int thread, int accumulator) {
    return 16 * (thread / 32) + thread % 32 / 4 + 8 * (accumulator / 2 % 2);
  }
  OZB_HD static constexpr int column(int thread, int accumulator) {
    return 8 * (accumulator / 4) + 2 * (thread % 4) + accumulator % 2;
  }
};

/// Reduces a factor times INT32 sums modulo p, in three instructions. z = sum of bytes times 256^i factor mod p, shifted to
/// become the significand of a float F = 3 2^22 + z - …. One FMA rounds the quotient of F by p to a float whose last bit is 1.
struct ResidueReduction {
  std::uint32_t weights = 0;  ///< int8: for byte i of v + 2^31, the residue of 256^i factor
  std::int32_t offset = 0;    ///< bits of the float of a multiple of 256 p near 3 2^22, and -2^31 factor mod p
  float reciprocal = 0;       ///< 1 / p
  float constant = 0;         ///< 3 2^22 minus that multiple over p: an integer
  std::int32_t minus_p = 0;

  OZB_HD static constexpr ResidueReduction of(std::int32_t p, std::int32_t factor) {
    constexpr std::int32_t middle = 3 << 22;
    const std::int32_t multiple = 256 * p * ((middle + 128 * p) / (256 * p));
    ResidueReduction r;
    std::int64_t power = factor;
    for (int i = 0; i < 4; ++i, power = power * 256 % p)
      r.weights |= static_cast<std::uint32_t>(balanced(power, p) & 0xff) << (8 * i);
    r.offset = static_cast<std::int32_t>(bits_of(static_cast<float>(multiple))) +
               balanced(-static_cast<std::int64_t>(power_mod(31, p)) * factor, p);
    r.reciprocal = 1 / static_cast<float>(p);
    const std::int32_t quotient = multiple / p;
    r.constant = static_cast<float>(middle - quotient);
    r.minus_p = -p;
    return r;
  }

  /// The bits of v + 2^31 modulo 2^32 for v = 0. Sums begin with it, so that no instruction has to add it later.
  static constexpr std::int32_t raised_zero = -0x7fffffff - 1;

#ifdef __CUDACC__
  /// A word whose lowest byte is congruent to factor v modulo p, as an int8, from the bits of v + 2^31. It differs from the
  /// balanced residue by a multiple of p, which is 0 unless v / p is next to a tie.
  [[nodiscard]] __device__ std::int32_t rest(std::int32_t raised) const {
    std::int32_t z;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(z) : "r"(raised), "r"(weights), "r"(offset));
    return z + __float_as_int(__fmaf_rn(__int_as_float(z), reciprocal, constant)) * minus_p;
  }
#endif
};

struct ChosenResidues;

struct ResidueArguments {
  int row_clusters, column_tiles;  ///< of C; a cluster's tiles lie one below the other
  int panel;                       ///< column tiles that blocks walk together, row by row
  int moduli;
  int vectors_a, vectors_b;  ///< vectors between one modulus and the next
  int steps;                 ///< of the inner dimension
  int chunk_steps;           ///< steps between reductions of the sums
  BlockStep step;
  std::int8_t* bytes;            ///< bytes of modulus t at t * modulus_bytes, laid out as TileBytes
  std::int64_t modulus_bytes;    ///< bytes of all tiles of one modulus
  const ChosenResidues* chosen;  ///< a plan of at most `moduli` moduli that the kernel reads; null: all moduli, as known here
  ResidueReduction plain[max_moduli], times_inverse[max_moduli];

  /// Sets the members that depend on the number of moduli. INT32 holds the sums of chunk_steps steps plus an earlier residue.
  void set_reductions();

  [[nodiscard]] OZB_HD int tiles() const { return row_clusters * column_tiles; }
  [[nodiscard]] OZB_HD int items() const { return tiles() * moduli; }
};

}  // namespace ozbound::gpu
