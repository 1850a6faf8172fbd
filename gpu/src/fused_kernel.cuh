// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A block is 384 threads, three warpgroups of 128, and computes tiles of C of 128 x 128 entries, one after the other. The first
// warpgroup loads digits, the two others multiply. A ring of 14 stages in shared memory lies between them:
//
//   global memory: slices, a byte a digit               shared memory: a ring of 14 stages, 7 pairs, 16384 bytes each
//  +-------------------------------------+      stage    0      1      2      3      4      5            12     13
//  | B: 128 digits of each of 128 vectors|--+         +------+------+------+------+------+------+-    -+------+------+
//  +-------------------------------------+  +--TMA--> | B(q) | A(p) |B(q-1)|A(p+1)|B(q-2)|A(p+2)|  …   |  B   |  A   |
//  | A: 128 digits of each of 128 vectors|--+         +------+------+------+------+------+------+-    -+------+------+
//  +-------------------------------------+               |      |      |      |      |      |
//                     ^                                  +-D_g--+D_g-1-+-D_g--+D_g-1-+-D_g--+  neighbours are multiplied
//                     | asks for tiles                      |                    |
//  +------------------+------------------+     +------------+-------------+    +-+------------------------+
//  | warpgroup 0: 40 registers a thread  |     | warpgroup 1: rows 0 … 63 |    | warpgroup 2: rows 64 …   |
//  |   thread 0: FusedLoader             |     |   of A, all 128 of B     |    |   127 of A, all 128 of B |
//  |   threads 32 … 63: prepare_scales   |     |   FusedMultiplier, 232   |    |   FusedMultiplier, 232   |
//  |   the others: nothing               |     |   registers a thread     |    |   registers a thread     |
//  +-------------------------------------+     +--------------------------+    +--------------------------+
//
// A step is 128 digits of the inner dimension. In each step, a pair of diagonals g and g - 1 (DiagonalPair) takes its tiles in
// the order B(q), A(p), B(q-1), A(p+1), …, where p + q = g: A(p) B(q) goes to D_g, A(p) B(q-1) to D_(g-1), A(p+1) B(q-1) to
// D_g. Each tile is thus loaded once, and serves two products unless it is at an end. B lies in even stages, A in odd ones. If
// a walk ends with B, the stage of the missing A tile is announced and released empty. For each pair of diagonals the tiles
// follow step by step. Pairs follow from the least significant up; diagonal 2 comes last and alone if the number of diagonals
// is odd.
//
// Each stage has two barriers of 8 bytes (mbarrier), whose phases alternate round by round of the ring:
//
//     full(s):   1 arrival, of the loader, and 16384 bytes, of the TMA unit             waited for by both warpgroups
//     empty(s):  2 arrivals, one of each warpgroup, where the stage was last read       waited for by the loader
//
//     loader       empty(s) -> expect 16384 at full(s), ask for the tile -> s + 1
//     warpgroup    full(s)  -> 4 wgmma m64n128k32 of two tiles, asynchronous -> when the next four have begun and these are
//                              finished: arrive at empty(s)
//
// With `columns` 2 the two blocks of a cluster have one tile of rows. Each loads 64 of its 128 vectors of A, 8 KiB, into both
// blocks at once (multicast). Each full(s) of A thus gets its 16384 bytes from both blocks, and empty(s) of A has 4 arrivals,
// two from each block. With `halves` 2 each block first sums its half of the steps. The blocks then exchange half of their sums
// through the ring's memory, and each finishes half of each thread's entries.
//
// Shared memory from Ring::base, a multiple of 1024, on:
//
//     0       14 stages, 14 * 16384 bytes
//     229376  full(0) … full(13), empty(0) … empty(13), 28 * 8 bytes
//     229600  TileScales: exponents of 128 columns and 128 rows and a flag, 257 * 4 bytes, which prepare_scales fills in
//     230628  end
//
// A multiplying thread holds 64 entries of the tile three times: c1 and c2, the sums of D_g and D_(g-1), and `word`, bits that
// the carry chain has finished (FusedSchedule). Barriers of warps (barriers::), besides 0 for __syncthreads: scales_ready 1 and
// 2 and scales_read 3 and 4, one for each multiplying warpgroup, and ahead 5, at which the second waits until the first is
// head_start turns ahead.

#include <cuda.h>

#include <cstdint>

#include "blocks_in_step.cuh"
#include "fused_arguments.hpp"
#include "fused_epilogue.cuh"
#include "fused_ptx.cuh"

namespace ozbound::gpu {

/// The form of clusters. One tile of rows by `columns` tiles of columns, with a block for each tile; the blocks share the tiles
/// of A. Or, with `halves` 2, one tile, of which each block sums one half of the inner dimension. `radix`: bits of a digit; 0
/// if only the schedule tells them. `limbs`: of combine's sums. `chunked`: true if sums may exceed INT32.
template <int Columns, int Halves, int Radix, int Limbs, bool Chunked>
struct FusedShape {
  static constexpr int columns = Columns, halves = Halves, radix = Radix, limbs = Limbs, cluster = Columns * Halves;
  static constexpr bool chunked = Chunked;
  static_assert(cluster <= 2 && !(Chunked && (Halves > 1 || Radix > 0)) && (Radix == 0 || Radix == 8));
};

/// A place in the ring of stages and the parity of its round. Tiles of B lie in even stages, tiles of A in odd ones.
struct RingPlace {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// The place of a pair of stages for threads that take tiles: a stage of B and the stage of A after it.
struct RingPair {
  int pair = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    if (++pair == stages / 2) {
      pair = 0;
      parity ^= 1;
    }
  }
  [[nodiscard]] __device__ static int before(int pair) { return pair == 0 ? stages / 2 - 1 : pair - 1; }
};

struct TilePlace {
  int row, column;  ///< in tiles; the column in clusters

  /// Blocks walk panels of columns, row by row, so that concurrent blocks share tiles.
  __device__ TilePlace(const FusedArguments& f, int tile) {
    const int of_panel = f.panel * f.row_tiles, panel = tile / of_panel, within = tile % of_panel;
    const int width = min(f.panel, f.column_clusters - panel * f.panel);
    row = within / width;
    column = panel * f.panel + within % width;
  }
};

/// The steps of the inner dimension of this block.
struct StepRange {
  int first, count;

  template <class Shape>
  __device__ static StepRange of(const FusedArguments& f, int rank) {
    if constexpr (Shape::halves == 1) return {0, f.steps};
    const int half = (f.steps + 1) / 2;
    return rank == 0 ? StepRange{0, half} : StepRange{half, f.steps - half};
  }
};

/// Addresses in shared memory.
struct Ring {
  std::uint32_t base;

  [[nodiscard]] __device__ std::uint32_t tile(int stage) const { return base + stage * stage_bytes; }
  [[nodiscard]] __device__ std::uint32_t full(int stage) const { return base + stages * stage_bytes + 8 * stage; }
  [[nodiscard]] __device__ std::uint32_t empty(int stage) const { return full(stages + stage); }
};

/// The thread that loads tiles into the ring.
template <class Shape>
class FusedLoader {
 public:
  __device__ FusedLoader(const CUtensorMap& a, const CUtensorMap& b, const FusedArguments& f, Ring ring, int rank)
      : a_(a),
        b_(b),
        f_(f),
        ring_(ring),
        column_rank_(Shape::columns > 1 ? rank : 0),
        range_(StepRange::of<Shape>(f, rank)),
        in_step_(f.step) {}

  __device__ void run(int cluster, int clusters) {
    const int tiles = f_.row_tiles * f_.column_clusters;
    for (int tile = cluster; tile < tiles; tile += clusters) load_tile(TilePlace(f_, tile));
    in_step_.finish(static_cast<std::int64_t>((tiles + clusters - 1) / clusters) * f_.schedule_tiles * range_.count);
  }

 private:
  static constexpr int a_part = tile_size / Shape::columns;  ///< rows of an A tile that this block loads for its cluster

  __device__ void load_tile(TilePlace place) {
    row_ = place.row * tile_size + column_rank_ * a_part;
    column_ = (place.column * Shape::columns + column_rank_) * tile_size;
    for (int t = 0; t < f_.schedule.pair_count; ++t) load_pair(f_.schedule.pairs[t], f_.alternate && t % 2 != 0);
    if (f_.schedule.last_alone())
      for (int s = 0; s < range_.count; ++s) load_both(1, 1, range_.first + s, true);
  }

  __device__ void load_pair(DiagonalPair pair, bool backwards) {
    for (int s = 0; s < range_.count; ++s) {
      const int step = range_.first + (backwards ? range_.count - 1 - s : s);
      for (int h = 0; h < pair.tiles; ++h)
        load_both(pair.first_a + h, pair.first_b - h, step, !(pair.ends_with_b && h + 1 == pair.tiles));
    }
  }

  __device__ void load_both(int p, int q, int step, bool with_a) {
    const int padded = static_cast<int>(f_.a.padded);
    await_empty();
    ptx::barrier_expect(ring_.full(at_.stage), stage_bytes);
    ptx::load_box(ring_.tile(at_.stage), b_, (f_.b.slices - q) * padded + step * digits_a_step, column_, ring_.full(at_.stage));
    at_.advance();
    await_empty();
    if (with_a)
      load_a((p - 1) * padded + step * digits_a_step);
    else
      ptx::barrier_arrive(ring_.full(at_.stage));
    at_.advance();
    in_step_.pass();
  }

  __device__ void load_a(int x) {
    ptx::barrier_expect(ring_.full(at_.stage), stage_bytes);
    const auto to = ring_.tile(at_.stage) + column_rank_ * (stage_bytes / Shape::columns);
    if constexpr (Shape::columns > 1)
      ptx::load_box_multicast(to, a_, x, row_, ring_.full(at_.stage), (1 << Shape::columns) - 1);
    else
      ptx::load_box(to, a_, x, row_, ring_.full(at_.stage));
  }

  __device__ void await_empty() { ptx::barrier_wait(ring_.empty(at_.stage), at_.parity ^ 1); }

  const CUtensorMap& a_;
  const CUtensorMap& b_;
  const FusedArguments& f_;
  Ring ring_;
  int column_rank_;
  StepRange range_;
  BlocksInStep in_step_;
  RingPlace at_;
  int row_ = 0;
  int column_ = 0;
};

/// The warp that prepares the scales of tiles while other warps multiply.
template <class Shape>
__device__ void prepare_scales(const FusedArguments& f, TileScales scales, int rank, int cluster, int clusters) {
  const TileScales::Common common(f);
  const int tiles = f.row_tiles * f.column_clusters, lane = static_cast<int>(threadIdx.x) % 32;
  for (int tile = cluster; tile < tiles; tile += clusters) {
    const TilePlace place(f, tile);
    const Index column = Index{place.column} * Shape::columns + (Shape::columns > 1 ? rank : 0);
    if (tile != cluster) scales.await_read();
    scales.fill(f, common, Index{place.row} * tile_size, column * tile_size, lane);
    scales.announce();
  }
}

/// One warpgroup that multiplies tiles and folds sums: rows 64 * group … of the block's tile.
template <class Shape>
class FusedMultiplier {
 public:
  using Accumulators = std::int32_t[entries];

  __device__ FusedMultiplier(const FusedArguments& f, Ring ring, TileScales scales, int rank, int group)
      : f_(f),
        ring_(ring),
        scales_(scales),
        rank_(rank),
        group_(group),
        range_(StepRange::of<Shape>(f, rank)),
        a_empty_(Shape::columns > 1 ? ptx::peer_address(ring.empty(1), thread() % Shape::columns) : 0) {}

  __device__ __forceinline__ void run(int cluster, int clusters) {
    const int tiles = f_.row_tiles * f_.column_clusters;
    for (int tile = cluster; tile < tiles; tile += clusters) {
      multiply_tile(TilePlace(f_, tile));
      if (tile + clusters < tiles) scales_.release(group_);
    }
  }

 private:
  [[nodiscard]] __device__ static int thread() { return static_cast<int>(threadIdx.x) % group_threads; }
  [[nodiscard]] __device__ std::uint8_t* scratch() const {
    const auto group = static_cast<std::int64_t>(blockIdx.x) * multiplying_groups + group_;
    return f_.scratch + group * FusedScratch::bytes(f_.schedule.words());
  }

  __device__ __forceinline__ void multiply_tile(TilePlace place) {
    Accumulators c1, c2, word;
#pragma unroll
    for (int i = 0; i < entries; ++i) c1[i] = word[i] = 0;
    clear_overflow(0);
    begin_tile();
    const int pairs = f_.schedule.pair_count;
    for (int t = 0; t < pairs; ++t) {
#pragma unroll
      for (int i = 0; i < entries; ++i) c2[i] = 0;
      clear_overflow(1);
      multiply_pair(f_.schedule.pairs[t], c1, c2);
      if (t + 1 < pairs) finish_field(t, c1, c2, word);
    }
    if (pairs > 0)
      finish_last_pair(c1, c2);
    else
      clear(c2);
    if (f_.schedule.last_alone()) multiply_alone(c1);
    finish_tile(place, c1, c2, word);
  }

  __device__ static void clear(Accumulators& c) {
#pragma unroll
    for (int i = 0; i < entries; ++i) c[i] = 0;
  }

  /// Makes the second group wait for the first to get ahead. One group then multiplies while the other folds or writes.
  __device__ void begin_tile() {
    if (f_.head_start == 0) return;
    if (group_ == 0)
      until_ahead_ = f_.head_start;
    else
      ptx::sync(barriers::ahead, multiplying_groups * group_threads);
  }
  __device__ void go_ahead() {
    if (--until_ahead_ == 0) ptx::arrive(barriers::ahead, multiplying_groups * group_threads);
  }

  // Products -----------------------------------------------------------------------------------------------------------------

  __device__ void multiply_pair(DiagonalPair pair, Accumulators& c1, Accumulators& c2) {
    for (int first = 0; first < range_.count; first += f_.chunk_steps) {
      const int end = Shape::chunked ? min(range_.count, first + f_.chunk_steps) : range_.count;
      if (pair.ends_with_b)
        walk<true>(pair.tiles, end - first, c1, c2);
      else
        walk<false>(pair.tiles, end - first, c1, c2);
      if (!Shape::chunked) break;
      if (end < range_.count) {
        take_overflow(0, c1);
        take_overflow(1, c2);
      }
    }
  }

  __device__ void multiply_alone(Accumulators& c1) {
    for (int first = 0; first < range_.count; first += f_.chunk_steps) {
      const int end = Shape::chunked ? min(range_.count, first + f_.chunk_steps) : range_.count;
      walk_alone(end - first, c1);
      if (!Shape::chunked) break;
      if (end < range_.count) take_overflow(0, c1);
    }
  }

  /// Walks some steps of a pair of diagonals. Releases a tile when the product after its last one has begun.
  template <bool EndsWithB>
  __device__ void walk(int tiles, int steps, Accumulators& c1, Accumulators& c2) {
    ptx::settle(c1);
    ptx::settle(c2);
    int turns = tiles - 1 - EndsWithB;
    asm volatile("" : "+r"(turns));  // keeps it in a register, without repeated loads
    for (int s = 0; s < steps; ++s) {
      await_b();
      await_a();
      multiply(c1, at_.pair, at_.pair);
      if (s > 0) release_last<EndsWithB>();
      for (int h = 0; h < turns; ++h) {
        const int pair = at_.pair;
        at_.advance();
        await_b();
        multiply(c2, pair, at_.pair);
        release_b(pair);
        await_a();
        multiply(c1, at_.pair, at_.pair);
        release_a(pair);
        go_ahead();
      }
      if constexpr (EndsWithB) {
        const int pair = at_.pair;
        at_.advance();
        await_b();
        multiply(c2, pair, at_.pair);
        release_b(pair);
        await_a();  // an empty stage
        release_a(at_.pair);
      }
      at_.advance();
    }
    ptx::wgmma_wait<0>();
    ptx::settle(c1);
    ptx::settle(c2);
    finish_walk<EndsWithB>(steps);
  }

  /// Walks some steps of diagonal 2: one product in each.
  __device__ void walk_alone(int steps, Accumulators& c1) {
    ptx::settle(c1);
    for (int s = 0; s < steps; ++s) {
      await_b();
      await_a();
      multiply(c1, at_.pair, at_.pair);
      if (s > 0) release_last<false>();
      at_.advance();
    }
    ptx::wgmma_wait<0>();
    ptx::settle(c1);
    finish_walk<false>(steps);
  }

  /// Releases the last tiles of the step before the pair at_.
  template <bool EndsWithB>
  __device__ void release_last() {
    const int b = RingPair::before(at_.pair);
    release_b(b);
    release_a(EndsWithB ? RingPair::before(b) : b);
  }
  template <bool EndsWithB>
  __device__ void finish_walk(int steps) {
    if (steps > 0) release_last<EndsWithB>();
  }

  /// Starts c += A tile * B tile, which is complete after the next wait. The previous products are complete on return.
  __device__ void multiply(Accumulators& c, int a, int b) {
    constexpr int pair_step = 2 * (stage_bytes >> 4);
    ptx::wgmma_fence();
    ptx::wgmma_tile(c, a_tiles() + a * pair_step, b_tiles() + b * pair_step);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();
  }

  /// Descriptors of the first pair's tiles.
  [[nodiscard]] __device__ std::uint32_t a_tiles() const {
    return ptx::tile_descriptor(ring_.tile(1)) + group_ * (stage_bytes >> 5);
  }
  [[nodiscard]] __device__ std::uint32_t b_tiles() const { return ptx::tile_descriptor(ring_.tile(0)); }

  __device__ void await_b() const { ptx::barrier_wait(ring_.full(0) + 16 * at_.pair, at_.parity); }
  __device__ void await_a() const { ptx::barrier_wait(ring_.full(1) + 16 * at_.pair, at_.parity); }

  __device__ void release_b(int pair) {
    if (thread() == 0) ptx::barrier_arrive(ring_.empty(0) + 16 * pair);
  }

  /// Releases a tile of A in every block that loaded a part of it.
  __device__ void release_a(int pair) {
    if constexpr (Shape::columns > 1) {
      if (thread() < Shape::columns) ptx::barrier_arrive_peer(a_empty_ + 16 * pair);
    } else {
      if (thread() == 0) ptx::barrier_arrive(ring_.empty(1) + 16 * pair);
    }
  }

  // The carry chain ----------------------------------------------------------------------------------------------------------

  // The products of the first pairs are folded into words, one field for each pair. The bits of the last pair stay separate.
  // The code for all entries is straight-line code that runs once and takes as long to fetch as to run, so that every
  // instruction counts.

  /// With c1 = D_g plus a carry, and c2 = D_(g-1): adds the bits that they finish to the word at 2^place. c1 becomes the carry
  /// into D_(g-2).
  __device__ void fold_field(int place, std::int32_t& word, std::int32_t& c1, std::int32_t c2, std::int32_t& high1,
                             std::int32_t high2) const {
    if constexpr (Shape::radix == 8) {
      const int second = c2 + (c1 >> 8);
      word = insert_byte(insert_byte(word, c1, place), second, place + 8);
      c1 = second >> 8;
    } else {
      const int radix = f_.schedule.radix_bits;
      word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) + fold(radix, place, c1, c2, high1, high2));
    }
  }

  /// Folds c1 and c2, where `second_bits` bits of c2 are finished. c1 becomes the carry, or the head.
  __device__ std::uint32_t fold(int second_bits, int place, std::int32_t& c1, std::int32_t c2, std::int32_t& high1,
                                std::int32_t high2) const {
    const int radix = Shape::radix > 0 ? Shape::radix : f_.schedule.radix_bits;
    const auto mask = [](int bits) { return (1u << bits) - 1; };
    const auto first = widened(c1, high1);
    const auto second = widened(c2, high2) + (first >> radix);
    set(second >> second_bits, c1, high1);
    return (static_cast<std::uint32_t>(first) & mask(radix)) * (1u << place) +
           (static_cast<std::uint32_t>(second) & mask(second_bits)) * (1u << place << radix);
  }

  /// Replaces the byte of `word` at 2^place by the lowest byte of x.
  __device__ static std::int32_t insert_byte(std::int32_t word, std::int32_t x, int place) {
    const auto selector = 0x3210u + ((4u - static_cast<unsigned>(place) / 8) << (place / 2));
    return static_cast<std::int32_t>(__byte_perm(static_cast<unsigned>(word), static_cast<unsigned>(x), selector));
  }

  using Wide = std::conditional_t<Shape::chunked, std::int64_t, std::int32_t>;
  __device__ static Wide widened(std::int32_t low, std::int32_t high) {
    if constexpr (Shape::chunked) return low + (static_cast<std::int64_t>(high) << 16);
    return low;
  }
  __device__ static void set(Wide sum, std::int32_t& low, std::int32_t& high) {
    if constexpr (Shape::chunked) {
      low = static_cast<std::int32_t>(sum & 0xffff);
      high = static_cast<std::int32_t>(sum >> 16);
    } else {
      low = sum;
    }
  }

  __device__ void finish_field(int t, Accumulators& c1, const Accumulators& c2, Accumulators& word) {
    const bool first = t % 2 == 0;  // of the word's two fields
    if (first && t > 0) {
      keep_word(t / 2 - 1, word);
      clear(word);
    }
    const int place = first ? 0 : 2 * f_.schedule.radix_bits;
#pragma unroll
    for (int group = 0; group < entries / 4; ++group) {
      auto high1 = overflow(0, group), high2 = overflow(1, group);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const int e = 4 * group + x;
        fold_field(place, word[e], c1[e], c2[e], high1.part[x], high2.part[x]);
      }
      set_overflow(0, group, high1);
    }
    ptx::settle(c1);
    ptx::settle(word);
  }

  /// Leaves the finished bits, at most 16, of entries 2 i and 2 i + 1 in the halves of c2[i]. Leaves the head, or the carry
  /// into it, in c1.
  __device__ void finish_last_pair(Accumulators& c1, Accumulators& c2) {
    const int second_bits = f_.schedule.last_alone() ? f_.schedule.radix_bits : 0;
#pragma unroll
    for (int group = 0; group < entries / 4; ++group) {
      auto high1 = overflow(0, group), high2 = overflow(1, group);
      std::uint32_t top[4];
#pragma unroll
      for (int x = 0; x < 4; ++x)
        top[x] = fold(second_bits, 0, c1[4 * group + x], c2[4 * group + x], high1.part[x], high2.part[x]);
#pragma unroll
      for (int x = 0; x < 2; ++x)
        c2[2 * group + x] = static_cast<std::int32_t>(__byte_perm(top[2 * x], top[2 * x + 1], 0x5410));
      set_overflow(0, group, high1);
    }
    ptx::settle(c1);
  }
  [[nodiscard]] __device__ static std::uint32_t top_bits(const Accumulators& c2, int e) {
    const auto both = static_cast<std::uint32_t>(c2[e / 2]);
    return e % 2 == 0 ? both & 0xffff : both >> 16;
  }

  // Memory -------------------------------------------------------------------------------------------------------------------

  struct Overflow {
    std::int32_t part[4] = {};
  };

  [[nodiscard]] __device__ int4* plane(std::int64_t offset, int group) const {
    return reinterpret_cast<int4*>(scratch() + offset) + group * group_threads + thread();
  }
  [[nodiscard]] __device__ int4* overflow_at(int accumulator, int group) const {
    return plane(FusedScratch::overflow + accumulator * FusedScratch::plane, group);
  }

  [[nodiscard]] __device__ Overflow overflow(int accumulator, int group) const {
    if constexpr (!Shape::chunked) return {};
    const int4 four = *overflow_at(accumulator, group);
    return {{four.x, four.y, four.z, four.w}};
  }
  [[nodiscard]] __device__ std::int32_t overflow_of(int accumulator, int e) const {
    if constexpr (!Shape::chunked) return 0;
    return reinterpret_cast<const std::int32_t*>(overflow_at(accumulator, e / 4))[e % 4];
  }
  __device__ void set_overflow(int accumulator, int group, const Overflow& high) {
    if constexpr (Shape::chunked) *overflow_at(accumulator, group) = {high.part[0], high.part[1], high.part[2], high.part[3]};
  }
  __device__ void clear_overflow(int accumulator) {
    if constexpr (Shape::chunked)
      for (int group = 0; group < entries / 4; ++group) set_overflow(accumulator, group, {});
  }

  /// Moves all but the low 16 bits of the sums into memory, before further products might overflow INT32.
  __device__ void take_overflow(int accumulator, Accumulators& c) {
#pragma unroll
    for (int group = 0; group < entries / 4; ++group) {
      auto high = overflow(accumulator, group);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        high.part[x] += c[4 * group + x] >> 16;
        c[4 * group + x] &= 0xffff;
      }
      set_overflow(accumulator, group, high);
    }
    ptx::settle(c);
  }

  __device__ void keep_word(int w, const Accumulators& word) {
#pragma unroll
    for (int group = 0; group < entries / 4; ++group)
      *plane(FusedScratch::words + w * FusedScratch::plane, group) = {word[4 * group], word[4 * group + 1], word[4 * group + 2],
                                                                      word[4 * group + 3]};
  }

  // Entries ------------------------------------------------------------------------------------------------------------------

  using Epilogue = FusedEpilogue<Shape::limbs, Wide>;
  using Sum = typename Epilogue::Sum;

  [[nodiscard]] __device__ Sum joined(std::int32_t c1, std::int32_t high, std::uint32_t top, std::int32_t word) const {
    return {widened(c1, high),
            static_cast<std::uint32_t>(word) | std::uint64_t{top} << (2 * f_.schedule.radix_bits * f_.schedule.held_fields())};
  }

  /// Moves the next `Count` of `Size` sums to the front. The earlier sums are lost.
  template <int Size, int Count>
  __device__ static void shift(Accumulators& c) {
#pragma unroll
    for (int t = 0; t < Size - Count; ++t) c[t] = c[t + Count];
  }

  [[nodiscard]] __device__ Index first_row(TilePlace place) const { return Index{place.row} * tile_size + group_ * 64; }
  [[nodiscard]] __device__ Index first_column(TilePlace place) const {
    return (Index{place.column} * Shape::columns + (Shape::columns > 1 ? rank_ : 0)) * tile_size;
  }

  __device__ __forceinline__ void finish_tile(TilePlace place, Accumulators& c1, Accumulators& c2, Accumulators& word) {
    const auto own = [&](int t, int e) { return joined(c1[t], overflow_of(0, e), top_bits(c2, t), word[t]); };
    const auto advance = [&](auto count) {
      shift<entries, count.value>(c1);
      shift<entries / 2, count.value / 2>(c2);
      shift<entries, count.value>(word);
    };
    EntriesPlace entries_at{scales_, scratch(), thread(), group_, first_row(place), first_column(place)};
    if constexpr (Shape::halves == 1) {
      scales_.await(group_);
      Epilogue(f_, entries_at).finish(own, advance);
    } else {
      entries_at.first = rank_ * half;
      entries_at.end = entries_at.first + half;
      exchange(c1, c2, word, advance);
      scales_.await(group_);
      Epilogue(f_, entries_at).finish([&](int t, int e) { return sum_of(own(t, e), received(e % half)); }, advance);
    }
  }

  // Two halves of the inner dimension: each block finishes one half of every thread's entries -----------------------------

  static constexpr int half = entries / 2;

  __device__ std::uint32_t slot(int i) const { return ring_.base + ((group_ * 3 * half + i) * group_threads + thread()) * 4; }

  /// Sends the sums that the other block finishes. Moves the sums that this block finishes to the front.
  template <class Advance>
  __device__ void exchange(Accumulators& c1, Accumulators& c2, Accumulators& word, const Advance& advance) const {
    ptx::cluster_barrier();  // both rings are empty
    if (rank_ == 0) {
      send<half>(c1, c2, word);
    } else {
      send<0>(c1, c2, word);
      advance(std::integral_constant<int, half>{});
    }
    ptx::cluster_barrier();
  }

  template <int First>
  __device__ void send(const Accumulators& c1, const Accumulators& c2, const Accumulators& word) const {
    const auto peer = ptx::peer_address(slot(0), rank_ ^ 1) - slot(0);
#pragma unroll
    for (int e = 0; e < half; ++e) {
      ptx::store_peer(peer + slot(e), c1[First + e]);
      ptx::store_peer(peer + slot(half + e), word[First + e]);
    }
#pragma unroll
    for (int i = 0; i < half / 2; ++i) ptx::store_peer(peer + slot(2 * half + i), c2[First / 2 + i]);
  }

  __device__ Sum received(int e) const {
    const auto both = static_cast<std::uint32_t>(ptx::load_shared(slot(2 * half + e / 2)));
    return joined(ptx::load_shared(slot(e)), 0, e % 2 == 0 ? both & 0xffff : both >> 16, ptx::load_shared(slot(half + e)));
  }

  __device__ Sum sum_of(Sum x, Sum y) const {
    const int bits = f_.schedule.held_bits();
    const auto tail = x.tail + y.tail;
    return {x.head + y.head + static_cast<Wide>(tail >> bits), tail & ((std::uint64_t{1} << bits) - 1)};
  }

  const FusedArguments& f_;
  Ring ring_;
  TileScales scales_;
  int rank_;
  int group_;
  StepRange range_;
  std::uint32_t a_empty_;  ///< the first pair's barrier in the cluster block whose stages this thread releases
  RingPair at_;
  int until_ahead_ = 0;
};

/// One block's part of C. @pre every block runs at once, or BlockStep::counter is null.
template <class Shape>
__global__ __launch_bounds__(block_threads, 1) void fused_product(const __grid_constant__ CUtensorMap a,
                                                                  const __grid_constant__ CUtensorMap b,
                                                                  const __grid_constant__ FusedArguments f) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::uint8_t memory[];
  const Ring ring{(ptx::shared_address(memory) + 1023) & ~1023u};
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / group_threads, 0);
  const int rank = Shape::cluster > 1 ? ptx::cluster_rank() : 0;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::barrier_init(ring.full(s), 1);
      ptx::barrier_init(ring.empty(s), multiplying_groups * (s % 2 != 0 ? Shape::columns : 1));
    }
    ptx::barrier_init_fence();
    ptx::prefetch_map(a);
    ptx::prefetch_map(b);
  }
  __syncthreads();
  if constexpr (Shape::cluster > 1) ptx::cluster_barrier();
  const int cluster = static_cast<int>(blockIdx.x) / Shape::cluster, clusters = static_cast<int>(gridDim.x) / Shape::cluster;
  cudaGridDependencySynchronize();  // the previous kernel has written the slices
  const TileScales scales(memory + (ring.full(2 * stages) - ptx::shared_address(memory)));
  if (group == 0) {
    ptx::give_registers<40>();
    if (threadIdx.x == 0)
      FusedLoader<Shape>(a, b, f, ring, rank).run(cluster, clusters);
    else if (threadIdx.x / 32 == 1)
      prepare_scales<Shape>(f, scales, rank, cluster, clusters);
    __syncwarp();
    if constexpr (Shape::halves > 1) {  // for the barriers of finish_tile
      ptx::cluster_barrier();
      ptx::cluster_barrier();
    }
  } else {
    ptx::take_registers<232>();
    FusedMultiplier<Shape>(f, ring, scales, rank, group - 1).run(cluster, clusters);
  }
  if constexpr (Shape::cluster > 1) ptx::cluster_barrier();
#endif
}

}  // namespace ozbound::gpu
