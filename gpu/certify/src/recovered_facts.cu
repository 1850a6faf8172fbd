// SPDX-License-Identifier: BSD-3-Clause
#include "recovered_facts.hpp"

#include <algorithm>

#include "largest.cuh"
#include "ozbound/core/detail/fingerprint_term.hpp"
#include "tile_recovery.cuh"

namespace ozbound::gpu {
namespace {

using Word = unsigned long long;

__device__ Word* word(std::uint64_t* x) { return reinterpret_cast<Word*>(x); }

/// The facts that a thread has found so far: its share of C's fingerprint, and a limit that rises to the largest bound.
struct FactsSoFar {
  Word print = 0;
  float limit = 0;  ///< at most the largest bound of an entry
};

/// The entries of a thread that have to be looked at one by one, which few have. The functions are not inline, because they
/// take registers.
template <int Columns>
class RareEntries {
 public:
  __device__ RareEntries(const RecoveredFacts& of, const TileRecovery& f, unsigned block)
      : of_(of), f_(f), part_(block, f.column_tiles) {}

  /// Takes entries that were finished by doubles, or are special, or lie outside C.
  static __device__ __noinline__ FactsSoFar see_rest(const RecoveredFacts& of, const TileRecovery& f, unsigned block,
                                                     std::uint32_t rest, FactsSoFar facts) {
    const RareEntries entries(of, f, block);
    for (; rest != 0; rest &= rest - 1) entries.see(__ffs(static_cast<int>(rest)) - 1, facts);
    return facts;
  }

  /// Takes the bounds of the other entries of the threads of a warp for which `may_exceed` is true, and returns the new limit.
  /// Evaluates the one with the largest upper bound of all first. Called by all threads of the warp.
  static __device__ __noinline__ float take_largest(const RecoveredFacts& of, const TileRecovery& f, unsigned block,
                                                    bool may_exceed, std::uint32_t rest, float limit) {
    const RareEntries entries(of, f, block);
    unsigned left = may_exceed ? ~rest & ((1u << entries_each) - 1) : 0;
    for (bool first = true; __any_sync(~0u, left != 0); first = false) {
      float own = -1;
      int at = 0;
      for (unsigned others = left; others != 0; others &= others - 1) {
        const int e = __ffs(static_cast<int>(others)) - 1;
        const float upper = entries.upper(e);
        if (upper < limit) left &= ~(1u << e);  // a NaN, from Inf * 0, is below nothing
        if (!(upper < limit) && !(upper <= own)) own = upper, at = e;
      }
      float largest = own;
      for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, offset));
      double bound = 0;
      if (left != 0 && (!first || own == largest)) bound = entries.bound(at), left &= ~(1u << at);
      for (int offset = 16; offset > 0; offset /= 2) bound = fmax(bound, __shfl_xor_sync(~0u, bound, offset));
      limit = entries.raised(limit, bound);
    }
    return limit;
  }

 private:
  [[nodiscard]] __device__ Index i(int e) const { return f_.block.row + part_.i(e); }
  [[nodiscard]] __device__ Index j(int e) const { return f_.block.column + part_.j(e); }
  [[nodiscard]] __device__ double value(int e) const { return double_from_bits(f_.epilogue.c.bits(i(e), j(e))); }

  [[nodiscard]] __device__ float upper(int e) const {
    const auto &rows = of_.work.rows, &columns = of_.work.columns;
    float error = 0;
    for (int t = 0; t < 2; ++t)
      error = __fmaf_ru(rows.norms[t * rows.blocks * tile + i(e)], columns.norms[t * columns.blocks * tile + j(e)], error);
    return __fmul_ru(RoundingEstimate(of_.rounding).upper(error, value(e)), above);
  }
  [[nodiscard]] __device__ double bound(int e) const {
    return bound_at(of_.error, of_.rounding, i(e), j(e), of_.error.bound.upper(i(e), j(e)), value(e));
  }
  [[nodiscard]] __device__ float raised(float limit, double bound) const {
    if (!(bound > limit)) return limit;
    atomicMax(word(of_.work.best), bits_of(bound));
    return __double2float_rd(bound);
  }

  __device__ void see(int e, FactsSoFar& facts) const {
    if (part_.i(e) >= f_.block.rows || part_.j(e) >= f_.block.columns) return;
    const auto place = static_cast<Word>(i(e)) * static_cast<Word>(of_.error.bound.n) + static_cast<Word>(j(e));
    facts.print += fingerprint_term(value(e), fingerprint_key(place));
    if (f_.a.special[i(e)] != 0 || f_.b.special[j(e)] != 0) return;
    if (isinf(value(e))) atomicMax(word(of_.work.infinite), Word{1});
    facts.limit = raised(facts.limit, bound(e));
  }

  const RecoveredFacts& of_;
  const TileRecovery& f_;
  TilePart<Columns> part_;
};

/// Finds the facts of the entries that a thread recovers. An upper bound in binary32 rules out most threads' entries as below
/// the largest so far. Called by all threads of a warp.
template <int Columns>
class FactsOfEntries {
 public:
  __device__ FactsOfEntries(const RecoveredFacts& of, const TileRecovery& f) : of_(of), f_(f) { read_limit(); }

  /// The facts of the entries of a TilePart.
  class Part {
   public:
    __device__ Part(FactsOfEntries& all, Index row, Index column) : all_(all) {
      const auto n = static_cast<Word>(all.of_.error.bound.n);
      key_ = fingerprint_key(static_cast<Word>(row) * n + static_cast<Word>(column));
      const auto &rows = all.of_.work.rows, &columns = all.of_.work.columns;
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const float* const of_rows = rows.norms + t * rows.blocks * tile + row;
        const float* const of_columns = columns.norms + t * columns.blocks * tile + column;
        const auto first = *reinterpret_cast<const float2*>(of_columns);
        const auto second = *reinterpret_cast<const float2*>(of_columns + 8);
        const float of_row = fmaxf(of_rows[0], of_rows[8]);
        error_ = __fmaf_ru(of_row, fmaxf(fmaxf(first.x, first.y), fmaxf(second.x, second.y)), error_);
      }
    }

    __device__ void see(double value, int e) {
      const auto further = static_cast<Word>(8 * (e / 4) + e % 2) * fingerprint_step;
      const auto key = key_ + further + (e / 2 % 2 != 0 ? all_.of_.next_row_key : 0);
      all_.facts_.print += fingerprint_term_of_one_nan(bits_of(value), key);
      largest_ = max(largest_, __double2hiint(value) & 0x7fffffff);
    }

    __device__ void end(std::uint32_t rest, unsigned block) {
      if (rest != 0) all_.facts_ = RareEntries<Columns>::see_rest(all_.of_, all_.f_, block, rest, all_.facts_);
      const float upper = RoundingEstimate(all_.of_.rounding).upper(error_, __hiloint2double(largest_, -1));
      const bool may_exceed = !(__fmul_ru(upper, above) < all_.facts_.limit);
      if (__any_sync(~0u, may_exceed))
        all_.facts_.limit = RareEntries<Columns>::take_largest(all_.of_, all_.f_, block, may_exceed, rest, all_.facts_.limit);
    }

   private:
    FactsOfEntries& all_;
    Word key_;         ///< of the first entry
    float error_ = 0;  ///< at least the errors of all entries; a NaN, from Inf * 0, is below nothing
    int largest_ = 0;  ///< upper word of the largest magnitude
  };

  [[nodiscard]] __device__ PartExponents exponents(const TileRecovery& f, Index row, Index column) const {
    return {of_.rows + (f.block.row + row), of_.columns + (f.block.column + column)};
  }
  [[nodiscard]] __device__ Part part(Index row, Index column) { return {*this, row, column}; }

  /// Reads the largest bound so far, that of all threads.
  __device__ void read_limit() {
    facts_.limit = __double2float_rd(double_from_bits(*static_cast<const volatile std::uint64_t*>(of_.work.best)));
  }

  /// Adds the fingerprint of the entries to that of all threads.
  __device__ void store_print(unsigned warp) {
    Word print = facts_.print;
    for (int offset = 16; offset > 0; offset /= 2) print += __shfl_xor_sync(~0u, print, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(word(of_.work.prints) + warp % LargestWork::print_words, print);
  }

 private:
  const RecoveredFacts& of_;
  const TileRecovery& f_;
  FactsSoFar facts_;
};

/// Few blocks take all parts of C, `parts` in number, so that a launch for another plan ends soon, and few threads add facts.
template <int Triples, int Limbs, int Columns, bool Two>
__global__ void __launch_bounds__(recovering_threads, 2)
    round_tiles_with_facts(const __grid_constant__ TileRecovery f, const __grid_constant__ ResidueConstants moduli,
                           const __grid_constant__ ResidueTriples triples, int unit, unsigned parts,
                           const __grid_constant__ RecoveredFacts facts) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();  // the previous kernel has written the bytes
#endif
  if (f.chosen != nullptr && f.chosen->moduli != triples.moduli) return;
  constexpr unsigned parts_between_reads = 8;  // many reads of the one word that all blocks share take long
  FactsOfEntries<Columns> found(facts, f);
  unsigned until_read = parts_between_reads;
#pragma unroll 1
  for (unsigned part = blockIdx.x; part < parts; part += gridDim.x) {
    round_part<Triples, Limbs, Columns, Two, false>(f, moduli, triples, unit + f.more(), part, found);
    if (--until_read == 0) found.read_limit(), until_read = parts_between_reads;
  }
  found.store_print(blockIdx.x * (recovering_threads / 32) + threadIdx.x / 32);
}

/// Reduces to the largest norm of one side and its vector: the norm's bits above those of the vector. Called by all threads.
__device__ Word largest_norm(const SideEstimates& side, int term) {
  __shared__ Word warps[32];
  Word largest = 0;
  const Index count = side.blocks * tile;
  for (Index i = threadIdx.x; i < count; i += blockDim.x)
    largest = max(largest, Word{__float_as_uint(side.norms[term * count + i])} << 32 | static_cast<Word>(i));
  for (int offset = 16; offset > 0; offset /= 2) largest = max(largest, __shfl_xor_sync(~0u, largest, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = largest;
  __syncthreads();
  for (unsigned w = 0; w < blockDim.x / 32; ++w) largest = max(largest, warps[w]);
  return largest;
}

/// Raises the largest bound so far to those of the entries with the largest norms, as if C were 0, which is no more than they
/// are. Most other entries then are below it from the start. One block.
__global__ void __launch_bounds__(1024)
    raise_limit(const __grid_constant__ RecoveredFacts of, const __grid_constant__ DeviceSpecials specials) {
  const Word rows[2] = {largest_norm(of.work.rows, 0), largest_norm(of.work.rows, 1)};
  const Word columns[2] = {largest_norm(of.work.columns, 0), largest_norm(of.work.columns, 1)};
  if (threadIdx.x >= 4) return;
  const auto i = static_cast<Index>(rows[threadIdx.x % 2] & 0xffffffff),
             j = static_cast<Index>(columns[threadIdx.x / 2] & 0xffffffff);
  if (i >= of.error.bound.m || j >= of.error.bound.n || specials.at(i, j)) return;
  const double bound = bound_at(of.error, of.rounding, i, j, of.error.bound.upper(i, j), 0);
  if (bound > 0) atomicMax(word(of.work.best), bits_of(bound));
}

constexpr unsigned most_blocks = 528;  // a few for each multiprocessor

template <int Columns>
void launch_tiles(const TileRecovery& f, int moduli, const FusedResidues::Bytes& bytes, const RecoveredFacts& facts,
                  cudaStream_t stream) {
  const unsigned parts = parts_of<Columns>(bytes);
  with_triples(moduli, [&](auto triples, auto limbs) {
    with_two<triples>(moduli, [&](auto two) {
      launch_early(round_tiles_with_facts<triples, limbs, Columns, two>, std::min(parts, most_blocks), stream, f,
                   residue_constants(moduli), ResidueTriples::of(moduli), f.unit(), parts, facts);
    });
  });
}

}  // namespace

RecoveredFacts RecoveredFacts::take(Arena& arena, Index m, Index n) {
  constexpr Index outers = 2;
  RecoveredFacts facts;
  facts.work = LargestWork::take(arena, outers, m, n);
  facts.rows = arena.take<std::int32_t>(facts.work.rows.blocks * tile);
  facts.columns = arena.take<std::int32_t>(facts.work.columns.blocks * tile);
  facts.next_row_key = 8 * static_cast<std::uint64_t>(n) * fingerprint_step;
  return facts;
}

void RecoveredFacts::prepare(const DeviceSpecials& specials, cudaStream_t stream) const {
  launch_estimates(error, nullptr, nullptr, work, stream, {rows, columns, specials});
  raise_limit<<<1, 1024, 0, stream>>>(*this, specials);
  check_launch("raise_limit");
}

bool finds_facts(const DeviceEpilogue& epilogue) { return is_known_plain(epilogue) && epilogue.bound == nullptr; }

void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const FusedResidues::Bytes& bytes, const DeviceEpilogue& epilogue,
                     const OperandPair& operands, const ChosenResidues* chosen, const RecoveredFacts& facts,
                     cudaStream_t stream) {
  const TileRecovery f{
      a, b, block, bytes.data, bytes.modulus_bytes, bytes.column_tiles, operands, epilogue, combination.layout, chosen};
  if (bytes.columns == 256)
    launch_tiles<256>(f, moduli, bytes, facts, stream);
  else
    launch_tiles<128>(f, moduli, bytes, facts, stream);
  check_launch("round_tiles_with_facts");
}

}  // namespace ozbound::gpu
