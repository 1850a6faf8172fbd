// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "chosen_residues.hpp"
#include "cuda_check.hpp"
#include "entry_exponent.hpp"
#include "recovery.cuh"
#include "recovery.hpp"
#include "residue_tiles.hpp"
#include "residue_triples.hpp"
#include "special_entry_writer.hpp"

// C' of the entries of a tile, from the bytes of the fused kernel. If C is C' rounded, uses integers, three moduli at a time.

namespace ozbound::gpu {

struct TileRecovery {
  DeviceSlices a, b;
  Block block;
  const std::int8_t* bytes;
  Index modulus_bytes;
  int column_tiles;
  OperandPair operands;
  DeviceEpilogue epilogue;
  SumLayout layout;                        ///< of one bit each if the plan is in device memory
  const ChosenResidues* chosen = nullptr;  ///< null: the launch knows the plan

  /// The exponent of C' without those of its row and its column; under a plan in device memory also without `more`.
  [[nodiscard]] int unit() const { return layout.weight_exponent[layout.count - 1]; }

  /// The exponent to add to those of the layout.
  [[nodiscard]] __device__ int more() const { return chosen == nullptr ? 0 : 2 - chosen->bits_a - chosen->bits_b; }
};

constexpr int recovering_threads = 256;
constexpr int entries_each = 8;  ///< that a thread recovers, in two words of bytes for each modulus

/// Half of 16 accumulators of a thread of the fused kernel: in one of its warpgroups, the entries of 4 columns and 2 rows.
template <int Columns>
struct TilePart {
  using Tile = TileBytes<Columns>;
  static constexpr int columns = 32, parts = Columns / columns;

  int thread, first_accumulator;
  Index row, column, byte;  ///< the position of the tile's half in the block of C, and that of the thread's first byte
  int first_column;         ///< of the part, in the tile

  /// @param number of the part; recovering_threads threads of a block take it
  __device__ TilePart(unsigned number, int column_tiles) : thread(static_cast<int>(threadIdx.x) / 2) {
    const int part = static_cast<int>(number) % parts, group = static_cast<int>(number) / parts % 2;
    const int tile = static_cast<int>(number) / (2 * parts);
    first_column = part * columns;
    first_accumulator = 16 * part + static_cast<int>(threadIdx.x) % 2 * entries_each;
    row = Index{tile / column_tiles} * residue_tile_rows + 64 * group, column = Index{tile % column_tiles} * Columns;
    byte = (Index{number} * recovering_threads + threadIdx.x) * entries_each;
  }
  /// True if all entries lie outside the block.
  [[nodiscard]] __device__ bool outside(const Block& of) const { return row >= of.rows || column + first_column >= of.columns; }
  [[nodiscard]] __device__ Index i(int e) const { return row + Tile::row(thread, first_accumulator + e); }
  [[nodiscard]] __device__ Index j(int e) const { return column + Tile::column(thread, first_accumulator + e); }
};

/// Finishes any entry, by doubles.
template <int Limbs>
__device__ void finish_any(const TileRecovery& f, const ResidueConstants& moduli, Index i, Index j,
                           const RecoveredInteger<Limbs>& integer) {
  if (i >= f.block.rows || j >= f.block.columns) return;
  const Index row = f.block.row + i, column = f.block.column + j;
  finish_or_write_special(f.operands, f.epilogue, row, column, f.a.special[row] != 0 || f.b.special[column] != 0, [&] {
    combine_recovered(row, column, integer.limbs(), moduli, f.layout, f.a, f.b, f.epilogue, f.more());
  });
}

/// Writes C' rounded. Returns false if it does not handle the case.
template <int Limbs>
__device__ bool round_entry(const TileRecovery& f, Index i, Index j, const RecoveredInteger<Limbs>& integer) {
  if (i >= f.block.rows || j >= f.block.columns) return false;
  const Index row = f.block.row + i, column = f.block.column + j;
  if (f.a.special[row] != 0 || f.b.special[column] != 0) return false;
  const int exponent = f.a.exponents[row] + f.b.exponents[column] + f.layout.weight_exponent[f.layout.count - 1];
  double rounded;
  if (!integer.round(exponent, rounded)) return false;
  f.epilogue.c.set_bits(row, column, bits_of(rounded));
  return true;
}

/// Finishes the entries whose bits are set, from the bytes again.
template <int Limbs, int Columns>
__device__ __noinline__ void finish_rest(const TileRecovery& f, const ResidueConstants& moduli, unsigned block,
                                         std::uint32_t rest) {
  const TilePart<Columns> part(block, f.column_tiles);
  for (; rest != 0; rest &= rest - 1) {
    const int e = __ffs(static_cast<int>(rest)) - 1;
    const auto digit_of = [&](int t) { return static_cast<double>(f.bytes[t * f.modulus_bytes + part.byte + e]); };
    finish_any(f, moduli, part.i(e), part.j(e), RecoveredInteger<Limbs>(moduli, digit_of));
  }
}

/// An integer as RN of it, and the rest: the integer less `value`, with an error below 2^-30 units in the last place of value.
struct RoundedInteger {
  double value, rest;
  bool known;  ///< false: the rest is not known

  /// True if every number that is within `error` of the integer rounds to `value`. False: unknown.
  [[nodiscard]] __device__ bool rounds_surely(double error) const {
    const int high = __double2hiint(value);
    if (!known || ((high & 0xfffff) == 0 && __double2loint(value) == 0)) return false;  // next to a power of two, ulps differ
    const double half_ulp = __hiloint2double((high & 0x7ff00000) - (53 << 20), 0);
    return fabs(rest) + error < half_ulp * (1 - 0x1p-20);  // a much larger margin than the errors of both sides
  }
};

/// An integer of words in two's complement, lowest first, and its rounding.
template <int Words>
struct IntegerWords {
  std::uint32_t of[Words];

  /// RN of the integer. `Two`: its magnitude is below 2^103.
  template <bool Two>
  [[nodiscard]] __device__ double rounded() const {
    if constexpr (Words == 1) return static_cast<std::int32_t>(of[0]);
    if constexpr (Words == 2) return __ll2double_rn(static_cast<std::int64_t>(std::uint64_t{of[1]} << 32 | of[0]));
    if constexpr (Words >= 3) {
      const auto second = __funnelshift_r(of[1], of[2], 20);
      const double last = lower_52(of[0], of[1]);
      if constexpr (Words == 3) return __fma_rn(lower_52_with_sign(second, shifted(of[2], 20)), 0x1p52, last);
      if constexpr (Words >= 4) {
        const auto upper = __funnelshift_r(of[2], of[3], 20);
        if constexpr (Two) return __fma_rn(lower_52_with_sign(second, upper), 0x1p52, last);
        const double middle = lower_52(second, upper);
        double first = static_cast<std::int32_t>(shifted(of[3], 8));
        if constexpr (Words == 5) first = lower_52_with_sign(__funnelshift_r(of[3], of[4], 8), shifted(of[4], 8));
        return sum_of_three(first * 0x1p104, middle * 0x1p52, last);
      }
    }
    return 0;
  }

  /// The integer, rounded and with its rest.
  template <bool Two>
  [[nodiscard]] __device__ RoundedInteger rounded_with_rest() const {
    static_assert(Words >= 3);
    const auto second = __funnelshift_r(of[1], of[2], 20);
    const double last = lower_52(of[0], of[1]);
    if constexpr (Words == 3) return of_two(lower_52_with_sign(second, shifted(of[2], 20)) * 0x1p52, last);
    if constexpr (Words >= 4) {
      const auto upper = __funnelshift_r(of[2], of[3], 20);
      if constexpr (Two) return of_two(lower_52_with_sign(second, upper) * 0x1p52, last);
      double first = static_cast<std::int32_t>(shifted(of[3], 8));
      if constexpr (Words == 5) first = lower_52_with_sign(__funnelshift_r(of[3], of[4], 8), shifted(of[4], 8));
      return of_three(first * 0x1p104, lower_52(second, upper) * 0x1p52, last);
    }
  }

 private:
  __device__ static RoundedInteger of_two(double high, double low) {
    const TwoSum sum(high, low);
    return {sum.sum, sum.error, true};
  }
  /// Each TwoSum is exact. What they leave has no more than a few bits of `high` below its last one.
  __device__ static RoundedInteger of_three(double high, double middle, double low) {
    const double value = sum_of_three(high, middle, low);
    const TwoSum first(high, -value), second(first.sum, middle), third(second.sum, low);
    const double rest = third.sum + (first.error + (second.error + third.error));
    return {value, rest, fabs(value) >= fabs(high) * 0x1p-20};
  }
  __device__ static std::uint32_t shifted(std::uint32_t word, int bits) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(word) >> bits);
  }
  /// The lower 52 bits of a pair of words, as an unsigned integer; and as a signed integer with the uppermost of them as its
  /// sign.
  [[nodiscard]] __device__ static double lower_52(std::uint32_t low, std::uint32_t high) {
    return __hiloint2double(static_cast<int>(0x43300000 | (high & 0xfffff)), static_cast<int>(low)) - 0x1p52;
  }
  [[nodiscard]] __device__ static double lower_52_with_sign(std::uint32_t low, std::uint32_t high) {
    return lower_52(low, high ^ 0x80000) - 0x1p51;
  }
};

/// C' of four entries whose bytes are in `bytes`, one word for each modulus.
template <int Triples>
class FourIntegers {
 public:
  static constexpr int weight_words = words_of_weights(Triples), words = words_of_products(Triples);

  __device__ FourIntegers(const ResidueTriples& triples, const std::uint32_t (&bytes)[3 * Triples]) : triples_(triples) {
#pragma unroll
    for (int t = 0; t < Triples; ++t) {
      const auto* const of = bytes + 3 * t;
      const auto first = __byte_perm(of[0], of[1], 0x5140), last = __byte_perm(of[0], of[1], 0x7362);
      const std::uint32_t of_entry[4] = {__byte_perm(first, of[2], 0x4410), __byte_perm(first, of[2], 0x5532),
                                         __byte_perm(last, of[2], 0x6610), __byte_perm(last, of[2], 0x7732)};
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const std::int64_t x = dp4a(of_entry[e], triples.low[t], dp4a(of_entry[e], triples.high[t], 0) << 8);
#pragma unroll
        for (int w = 0; w < weight_words; ++w) sums_[e][w] += x * triples.weight[t][w];
      }
    }
  }

  /// C' of entry e. Returns true if the subtracted multiple of P is known to be the nearest.
  __device__ bool reduce(int e, IntegerWords<words>& integer) const {
    constexpr int last = weight_words - 1;
    constexpr float middle = 3 << 22;
    const auto top = (sums_[e][last] + (last > 0 ? sums_[e][last > 0 ? last - 1 : 0] >> 32 : 0)) >> triples_.shift;
    const float share = static_cast<float>(static_cast<std::int32_t>(top)) * triples_.reciprocal;
    const float shifted = share + middle;
    const std::int64_t multiple = __float_as_int(middle) - __float_as_int(shifted);
    std::int64_t carry = 0;
#pragma unroll
    for (int w = 0; w < words; ++w) {
      carry += multiple * triples_.product[w];
      if (w < weight_words) carry += sums_[e][w < weight_words ? w : 0];
      integer.of[w] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return fabsf(share - (shifted - middle)) < 0.5F - 0x1p-8F;
  }

 private:
  __device__ static std::int32_t dp4a(std::uint32_t of_signs, std::uint32_t without, std::int32_t sum) {
    std::int32_t result;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(of_signs), "r"(without), "r"(sum));
    return result;
  }

  const ResidueTriples& triples_;
  std::int64_t sums_[4][weight_words] = {};
};

/// The exponents of the rows and columns of a thread's entries, without the unit (TileRecovery).
struct PartExponents {
  std::int32_t rows[2], columns[4];  ///< rows r and r + 8; columns c, c + 1, c + 8, c + 9

  /// From the operands. Reads without a branch, so that the reads of several vectors overlap.
  __device__ PartExponents(const TileRecovery& f, Index row, Index column) {
#pragma unroll
    for (int t = 0; t < 2; ++t) rows[t] = of(f.a, f.block.row, row + 8 * t, f.block.rows);
#pragma unroll
    for (int t = 0; t < 4; ++t) columns[t] = of(f.b, f.block.column, column + 8 * (t / 2) + t % 2, f.block.columns);
  }

  /// From summands that lie side by side: those of the first row and of the first column. @pre the entries are in the block, or
  /// outside C
  __device__ PartExponents(const std::int32_t* of_row, const std::int32_t* of_column) {
    rows[0] = of_row[0], rows[1] = of_row[8];
    const auto first = *reinterpret_cast<const int2*>(of_column), second = *reinterpret_cast<const int2*>(of_column + 8);
    columns[0] = first.x, columns[1] = first.y, columns[2] = second.x, columns[3] = second.y;
  }

 private:
  static __device__ std::int32_t of(const DeviceSlices& slices, Index first, Index inside, Index count) {
    const Index i = first + min(inside, count - 1);
    const auto exponent = slices.exponents[i];
    return EntryExponent::of(exponent, slices.special[i] != 0, inside >= count);
  }
};

/// The errors of a thread's entries under a bound of residues: two terms, each an outer product.
class ErrorsOfTile {
 public:
  /// @param bound null: there are no errors @param unit exponent of C' without those of its row and column
  __device__ ErrorsOfTile(const DeviceBound* bound, int unit) {
    if (bound == nullptr) return;
    bound_ = *bound;
    applies_ = bound_.terms == 2 && bound_.ends[0] == 1 && bound_.ends[1] == 2;
    to_integer_ = power_of_two(-unit);
  }

  /// False if the bound has another form. Then every error is unknown.
  [[nodiscard]] __device__ bool applies() const { return applies_; }

  struct Pair {
    double of[2];
  };
  [[nodiscard]] __device__ Pair row(Index i) const { return pair(bound_.rows, bound_.m, i); }
  [[nodiscard]] __device__ Pair column(Index j) const { return pair(bound_.columns, bound_.n, j); }

  /// DeviceBound::upper in units of C'.
  [[nodiscard]] __device__ double error(const Pair& row, const Pair& column) const {
    const double total = add_upper(multiply_upper(row.of[0], column.of[0]), multiply_upper(row.of[1], column.of[1]));
    return (total < bound_.uniform ? total : bound_.uniform) * to_integer_;
  }

 private:
  [[nodiscard]] __device__ Pair pair(const double* norms, Index count, Index at) const {
    return applies_ && at < count ? Pair{norms[at], norms[count + at]} : Pair{};
  }

  DeviceBound bound_ = {};
  bool applies_ = false;
  double to_integer_ = 0;
};

/// Looks at no entry: the least that round_part asks of a seer.
struct Unseen {
  struct Part {
    __device__ void see(double, int) {}
    __device__ void end(std::uint32_t, unsigned) {}
  };

  __device__ static PartExponents exponents(const TileRecovery& f, Index row, Index column) { return {f, row, column}; }
  __device__ static Part part(Index, Index) { return {}; }
};

/// Finishes a thread's entries, each C' rounded. Entries that are not normal, or not certain, are finished by doubles;
/// with `Ziv`, also those that Ziv's test does not decide at once. Called by all threads of a block, or none.
/// @param unit exponent of C' without those of its row and column
/// @param seer is told of the entries: seer.part(row, column), of C, makes an object that is told of each entry by
/// see(value, e), of accumulator e, and in the end by end(rest, block) which entries were finished by doubles: bit e of `rest`,
/// also set for those outside C. seer.exponents(f, row, column), of the block, reads the exponents.
template <int Triples, int Limbs, int Columns, bool Two, bool Ziv, class Seer>
__device__ void round_part(const TileRecovery& f, const ResidueConstants& moduli, const ResidueTriples& triples, int unit,
                           unsigned block, Seer& seer) {
  const TilePart<Columns> part(block, f.column_tiles);
  if (part.outside(f.block)) return;
  const auto* from = reinterpret_cast<const uint2*>(f.bytes + part.byte);
  uint2 words[3 * Triples];
#pragma unroll
  for (int t = 0; t < 3 * Triples; ++t, from += f.modulus_bytes / 8)
    words[t] = t < 3 * Triples - 2 || t < triples.moduli ? __ldcs(from) : uint2{0, 0};
  // Bit 0 of accumulator number e distinguishes columns, bit 1 rows. Each further four accumulators are eight columns further.
  const Index row = part.i(0), column = part.j(0);
  const PartExponents exponents = seer.exponents(f, row, column);
  auto* const c = static_cast<double*>(f.epilogue.c.data) + f.epilogue.c.at(f.block.row + row, f.block.column + column);
  const Index next_row = 8 * f.epilogue.c.row_stride, next_column = f.epilogue.c.col_stride;
  std::uint32_t rest = 0;
  auto seen = seer.part(f.block.row + row, f.block.column + column);
  const ErrorsOfTile errors(Ziv ? f.epilogue.bound : nullptr, unit);
  const ErrorsOfTile::Pair errors_of_row[2] = {errors.row(f.block.row + row), errors.row(f.block.row + row + 8)};
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    std::uint32_t bytes[3 * Triples];
#pragma unroll
    for (int t = 0; t < 3 * Triples; ++t) bytes[t] = w == 0 ? words[t].x : words[t].y;
    const FourIntegers<Triples> integers(triples, bytes);
    const Index j = f.block.column + column + 8 * w;
    const ErrorsOfTile::Pair errors_of_column[2] = {errors.column(j), errors.column(j + 1)};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      IntegerWords<FourIntegers<Triples>::words> integer;
      bool sure = integers.reduce(e, integer);
      double value;
      if constexpr (Ziv) {
        const auto rounded = integer.template rounded_with_rest<Two>();
        value = rounded.value;
        const double error = errors.error(errors_of_row[e / 2], errors_of_column[e % 2]);
        sure = sure && errors.applies() && rounded.rounds_surely(error);
      } else {
        value = integer.template rounded<Two>();
      }
      const int exponent = exponents.rows[e / 2] + exponents.columns[2 * w + e % 2] + unit;
      const int high = __double2hiint(value), field = (high >> 20 & 0x7ff) + exponent;
      const bool normal = field >= 1 && field <= 2046 && value != 0;
      if (sure && normal) {
        const double entry =
            __hiloint2double(static_cast<int>(static_cast<std::uint32_t>(high) + (static_cast<std::uint32_t>(exponent) << 20)),
                             __double2loint(value));
        c[(e / 2) * next_row + (8 * w + e % 2) * next_column] = entry;
        seen.see(entry, 4 * w + e);
      } else {
        rest |= 1u << (4 * w + e);
      }
    }
  }
  if (rest != 0) finish_rest<Limbs, Columns>(f, moduli, block, rest);
  seen.end(rest, block);
}

/// The number of parts of a block of C.
template <int Columns>
unsigned parts_of(const FusedResidues::Bytes& bytes) {
  return static_cast<unsigned>(Index{bytes.row_tiles} * bytes.column_tiles * (Columns / 16));
}

/// Launches a kernel of recovering_threads threads that may begin before the previous kernel ends.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), unsigned blocks, cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(recovering_threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "cudaLaunchKernelEx");
}

/// True if the host knows that C is C' rounded, where there is no bound or Ziv's test allows it.
inline bool is_known_plain(const DeviceEpilogue& epilogue) {
  return epilogue.alpha_at == nullptr && epilogue.beta_at == nullptr && epilogue.c.is_double && epilogue.alpha == 1 &&
         epilogue.beta == 0;
}

/// Calls launch(triples, limbs), both integral constants, for this many moduli.
template <int Triples = 1, class Launch>
void with_triples(int moduli, const Launch& launch) {
  if constexpr (Triples < ResidueTriples::most)
    if (triples_of(moduli) > Triples) return with_triples<Triples + 1>(moduli, launch);
  constexpr int fewest = residue_limbs_of(3 * Triples - 2), most = residue_limbs_of(3 * Triples);
  if (residue_limbs_of(moduli) == fewest)
    launch(std::integral_constant<int, Triples>(), std::integral_constant<int, fewest>());
  else
    launch(std::integral_constant<int, Triples>(), std::integral_constant<int, most>());
}

/// Calls launch(two), an integral constant: whether C' of this many moduli is below 2^103 for sure.
template <int Triples, class Launch>
void with_two(int moduli, const Launch& launch) {
  constexpr int most_of_two = 13;
  constexpr bool never_two = 3 * Triples - 2 > most_of_two, always_two = 3 * Triples <= most_of_two;
  if (always_two || (!never_two && moduli <= most_of_two))
    launch(std::bool_constant<!never_two>());
  else
    launch(std::bool_constant<always_two>());
}

}  // namespace ozbound::gpu
