#pragma once

#include <cuda.h>

#include <cstdint>

#include "fused_arguments.hpp"
#include "fused_epilogue.cuh"
#include "fused_ptx.cuh"

namespace ozbound::gpu {

/// How blocks form clusters. One tile of rows by `columns` tiles of columns, whose blocks share the tiles of A; or, with
/// `halves` 2, one tile, of which each block sums one half of the inner dimension.
/// `limbs`: of combine's sums. `chunked`: whether sums may outgrow INT32.
template <int Columns, int Halves, int Limbs, bool Chunked>
struct FusedShape {
  static constexpr int columns = Columns, halves = Halves, limbs = Limbs, cluster = Columns * Halves;
  static constexpr bool chunked = Chunked;
  static_assert(cluster <= 2 && !(Chunked && Halves > 1));
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

struct TilePlace {
  int row, column;  ///< in tiles; the column in clusters

  /// Blocks walk panels of columns, row by row, so that those at work at one time share tiles.
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

/// See BlockStep. One thread of a block.
class BlocksInStep {
 public:
  __device__ explicit BlocksInStep(BlockStep step) : step_(step) {}

  __device__ void pass() {
    if (step_.counter == nullptr || ++loads_ < step_.interval) return;
    loads_ = 0;
    ++intervals_;
    atomicAdd(step_.counter, 1u);
    if (intervals_ > step_.lead) wait(static_cast<unsigned>(intervals_ - step_.lead) * gridDim.x);
  }

  /// A block that has no more tiles counts as having passed all `loads`.
  __device__ void finish(std::int64_t loads) const {
    const auto all = static_cast<int>(loads / step_.interval);
    if (step_.counter != nullptr && intervals_ < all) atomicAdd(step_.counter, static_cast<unsigned>(all - intervals_));
  }

 private:
  __device__ void wait(unsigned all) {
    constexpr int patience = 1000;  // of about a microsecond
    for (int polls = 0; polls < patience; ++polls) {
      unsigned passed;
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(passed) : "l"(step_.counter) : "memory");
      if (passed >= all) return;
      __nanosleep(32);
    }
    step_.counter = nullptr;
  }

  BlockStep step_;
  int loads_ = 0;
  int intervals_ = 0;
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

/// One warpgroup that multiplies tiles and folds sums: rows 64 * group … of the block's tile.
template <class Shape>
class FusedMultiplier {
 public:
  using Accumulators = std::int32_t[entries];

  __device__ FusedMultiplier(const FusedArguments& f, Ring ring, std::uint8_t* exponents, int rank, int group)
      : f_(f),
        ring_(ring),
        exponents_(exponents),
        rank_(rank),
        group_(group),
        range_(StepRange::of<Shape>(f, rank)),
        a_descriptor_(ptx::tile_descriptor(ring.base + group * (stage_bytes / 2))),
        b_descriptor_(ptx::tile_descriptor(ring.base)),
        a_empty_(ring.empty(0)) {
    if constexpr (Shape::columns > 1) a_empty_ = ptx::peer_address(a_empty_, thread() % Shape::columns);
  }

  __device__ void run(int cluster, int clusters) {
    const int tiles = f_.row_tiles * f_.column_clusters;
    for (int tile = cluster; tile < tiles; tile += clusters) multiply_tile(TilePlace(f_, tile));
  }

 private:
  static constexpr int no_stage = -1;

  [[nodiscard]] __device__ static int thread() { return static_cast<int>(threadIdx.x) % group_threads; }
  [[nodiscard]] __device__ std::uint8_t* scratch() const {
    const auto group = static_cast<std::int64_t>(blockIdx.x) * multiplying_groups + group_;
    return f_.scratch + group * FusedScratch::bytes(f_.schedule.words());
  }

  __device__ void multiply_tile(TilePlace place) {
    Accumulators c1, c2, word;
#pragma unroll
    for (int i = 0; i < entries; ++i) c1[i] = c2[i] = word[i] = 0;
    clear_overflow(0);
    const int pairs = f_.schedule.pair_count;
    for (int t = 0; t < pairs; ++t) {
#pragma unroll
      for (int i = 0; i < entries; ++i) c2[i] = 0;
      clear_overflow(1);
      multiply_pair(f_.schedule.pairs[t], c1, c2);
      if (t + 1 < pairs) finish_field(t, c1, c2, word);
    }
    if (pairs > 0) finish_last_pair(c1, c2);
    if (f_.schedule.last_alone()) multiply_alone(c1);
    finish_tile(place, c1, c2, word);
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

  /// Some steps of a pair of diagonals. A tile is released when the product after its last one has begun.
  template <bool EndsWithB>
  __device__ void walk(int tiles, int steps, Accumulators& c1, Accumulators& c2) {
    ptx::settle(c1);
    ptx::settle(c2);
    int last_a = no_stage, last_b = no_stage;
    const auto release_last = [&] {
      if (last_a == no_stage) return;
      release_b(last_b);
      release_a(last_a);
      last_a = no_stage;
    };
    for (int s = 0; s < steps; ++s) {
      int b = await_tile(), a = await_tile();
      multiply(c1, a, b);
      release_last();
      for (int h = 1; h < tiles - EndsWithB; ++h) {
        const int next_b = await_tile();
        multiply(c2, a, next_b);
        release_b(b);
        b = next_b;
        const int next_a = await_tile();
        multiply(c1, next_a, b);
        release_a(a);
        a = next_a;
      }
      if constexpr (EndsWithB) {
        const int next_b = await_tile();
        multiply(c2, a, next_b);
        release_b(b);
        b = next_b;
        release_a(await_tile());  // there is none
      }
      last_a = a;
      last_b = b;
    }
    ptx::wgmma_wait<0>();
    ptx::settle(c1);
    ptx::settle(c2);
    release_last();
  }

  /// The same for diagonal 2: one product a step.
  __device__ void walk_alone(int steps, Accumulators& c1) {
    ptx::settle(c1);
    int last_a = no_stage, last_b = no_stage;
    for (int s = 0; s < steps; ++s) {
      const int b = await_tile(), a = await_tile();
      multiply(c1, a, b);
      if (last_a != no_stage) {
        release_b(last_b);
        release_a(last_a);
      }
      last_a = a;
      last_b = b;
    }
    ptx::wgmma_wait<0>();
    ptx::settle(c1);
    if (last_a == no_stage) return;
    release_b(last_b);
    release_a(last_a);
  }

  /// c += A tile * B tile, when it is next waited for; the products before are finished.
  __device__ void multiply(Accumulators& c, int a, int b) {
    const auto a_tile = a_descriptor_ + static_cast<std::uint64_t>(a * (stage_bytes >> 4));
    const auto b_tile = b_descriptor_ + static_cast<std::uint64_t>(b * (stage_bytes >> 4));
    ptx::wgmma_fence();
#pragma unroll
    for (int x = 0; x < digits_a_step / 32; ++x) ptx::wgmma(c, a_tile + 2 * x, b_tile + 2 * x);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();
  }

  __device__ int await_tile() {
    ptx::barrier_wait(ring_.full(at_.stage), at_.parity);
    const int stage = at_.stage;
    at_.advance();
    return stage;
  }

  __device__ void release_b(int stage) {
    if (thread() == 0) ptx::barrier_arrive(ring_.empty(stage));
  }

  /// To every block that this tile of A came from.
  __device__ void release_a(int stage) {
    if constexpr (Shape::columns > 1) {
      if (thread() < Shape::columns) ptx::barrier_arrive_peer(a_empty_ + 8 * stage);
    } else {
      release_b(stage);
    }
  }

  // The carry chain ----------------------------------------------------------------------------------------------------------

  /// c1 = D_g and a carry, c2 = D_(g-1): the bits that they finish; c1 becomes what is carried into D_(g-2).
  __device__ std::uint32_t fold(std::int32_t& c1, std::int32_t c2, std::int32_t& high1, std::int32_t high2) const {
    const int radix = f_.schedule.radix_bits;
    const std::uint32_t mask = (1u << radix) - 1;
    const auto first = widened(c1, high1);
    const auto second = widened(c2, high2) + (first >> radix);
    set(second >> radix, c1, high1);
    const auto high = static_cast<std::uint32_t>(second) << radix;
    return ((static_cast<std::uint32_t>(first) & mask) | (high & ~mask)) & ((1u << 2 * radix) - 1);
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
    if (first && t > 0) keep_word(t / 2 - 1, word);
    const std::uint32_t before = first ? 0 : ~0u;
    const int place = first ? 0 : 2 * f_.schedule.radix_bits;
#pragma unroll
    for (int group = 0; group < entries / 4; ++group) {
      auto high1 = overflow(0, group), high2 = overflow(1, group);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const int e = 4 * group + x;
        const auto field = fold(c1[e], c2[e], high1.part[x], high2.part[x]);
        word[e] = static_cast<std::int32_t>((static_cast<std::uint32_t>(word[e]) & before) | field << place);
      }
      set_overflow(0, group, high1);
    }
    ptx::settle(c1);
  }

  /// Leaves the bits that are finished in c2, and in c1 the head, or what is carried into it.
  __device__ void finish_last_pair(Accumulators& c1, Accumulators& c2) {
    const int radix = f_.schedule.radix_bits;
    const bool alone = f_.schedule.last_alone();
#pragma unroll
    for (int group = 0; group < entries / 4; ++group) {
      auto high1 = overflow(0, group), high2 = overflow(1, group);
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const int e = 4 * group + x;
        if (alone) {
          c2[e] = static_cast<std::int32_t>(fold(c1[e], c2[e], high1.part[x], high2.part[x]));
        } else {
          const auto first = widened(c1[e], high1.part[x]);
          set(widened(c2[e], high2.part[x]) + (first >> radix), c1[e], high1.part[x]);
          c2[e] = static_cast<std::int32_t>(first & ((1 << radix) - 1));
        }
      }
      set_overflow(0, group, high1);
    }
    ptx::settle(c1);
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

  /// Moves all but the low 16 bits of sums that INT32 could not add to into memory.
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

  [[nodiscard]] __device__ Sum joined(std::int32_t c1, std::int32_t high, std::int32_t c2, std::int32_t word) const {
    const auto top = static_cast<std::uint64_t>(static_cast<std::uint32_t>(c2));
    return {widened(c1, high),
            static_cast<std::uint32_t>(word) | top << (2 * f_.schedule.radix_bits * f_.schedule.held_fields())};
  }

  /// The next entries to the front; those there are gone.
  __device__ static void shift(Accumulators& c) {
#pragma unroll
    for (int t = 0; t < entries - entries_together; ++t) c[t] = c[t + entries_together];
  }

  [[nodiscard]] __device__ TileExponents exponents() const { return {exponents_, group_}; }
  [[nodiscard]] __device__ Index first_row(TilePlace place) const { return Index{place.row} * tile_size + group_ * 64; }
  [[nodiscard]] __device__ Index first_column(TilePlace place) const {
    return (Index{place.column} * Shape::columns + (Shape::columns > 1 ? rank_ : 0)) * tile_size;
  }

  __device__ void finish_tile(TilePlace place, Accumulators& c1, Accumulators& c2, Accumulators& word) {
    const Epilogue epilogue(f_, scratch(), thread(), first_row(place), first_column(place));
    const auto own = [&](int t, int e) { return joined(c1[t], overflow_of(0, e), c2[t], word[t]); };
    const auto advance = [&] {
      shift(c1);
      shift(c2);
      shift(word);
    };
    exponents().fill(f_, first_row(place), first_column(place), thread());
    if constexpr (Shape::halves == 1) {
      epilogue.finish(exponents(), own, advance);
    } else {
      ptx::cluster_barrier();  // both rings are drained
      if (group_ != rank_) send(c1, c2, word);
      ptx::cluster_barrier();
      if (group_ == rank_)
        epilogue.finish(
            exponents(), [&](int t, int e) { return sum_of(own(t, e), received(e)); }, advance);
    }
  }

  // Two halves: each block finishes the rows of one warpgroup, rank's ---------------------------------------------------------

  __device__ std::uint32_t slot(int part, int e) const {
    return ring_.base + ((part * entries + e) * group_threads + thread()) * 4;
  }

  __device__ void send(const Accumulators& c1, const Accumulators& c2, const Accumulators& word) const {
    const auto peer = ptx::peer_address(slot(0, 0), rank_ ^ 1) - slot(0, 0);
#pragma unroll
    for (int e = 0; e < entries; ++e) {
      ptx::store_peer(peer + slot(0, e), c1[e]);
      ptx::store_peer(peer + slot(1, e), c2[e]);
      ptx::store_peer(peer + slot(2, e), word[e]);
    }
  }

  __device__ Sum received(int e) const {
    return joined(ptx::load_shared(slot(0, e)), 0, ptx::load_shared(slot(1, e)), ptx::load_shared(slot(2, e)));
  }

  __device__ Sum sum_of(Sum x, Sum y) const {
    const int bits = f_.schedule.held_bits();
    const auto tail = x.tail + y.tail;
    return {x.head + y.head + static_cast<Wide>(tail >> bits), tail & ((std::uint64_t{1} << bits) - 1)};
  }

  const FusedArguments& f_;
  Ring ring_;
  std::uint8_t* exponents_;  ///< of TileExponents
  int rank_;
  int group_;
  StepRange range_;
  std::uint64_t a_descriptor_;
  std::uint64_t b_descriptor_;
  std::uint32_t a_empty_;
  RingPlace at_;
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
  cudaGridDependencySynchronize();  // what ran before has written the slices
  if (group == 0) {
    ptx::give_registers<40>();
    if (threadIdx.x == 0) FusedLoader<Shape>(a, b, f, ring, rank).run(cluster, clusters);
    __syncwarp();
    if constexpr (Shape::halves > 1) {  // those of finish_tile
      ptx::cluster_barrier();
      ptx::cluster_barrier();
    }
  } else {
    ptx::take_registers<232>();
    FusedMultiplier<Shape>(f, ring, memory + (ring.full(2 * stages) - ptx::shared_address(memory)), rank, group - 1)
        .run(cluster, clusters);
  }
  if constexpr (Shape::cluster > 1) ptx::cluster_barrier();
#endif
}

}  // namespace ozbound::gpu
