// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Products of residues, one modulus after the other, by wgmma. The kernel keeps one byte per modulus of an entry's sum.
//
// A block is 384 threads, three warpgroups of 128. Its items are (modulus t, tile of C), of 128 rows by 128 or 256 columns. The
// first warpgroup loads residues, the two others multiply, 64 rows each. A ring of stages in shared memory lies between them:
//
//   global memory: residues, modulus by modulus, a byte each       shared memory: a ring of 4 stages of 48 KiB (256 columns),
//  +-----------------------------------------------+               or 6 of 32 KiB (128 columns)
//  | A(t): 128 residues of each of 128 rows        |--+          +-----------+-----------+-   -+-----------+
//  +-----------------------------------------------+  +--TMA-->  |  A  |  B  |  A  |  B  |  …  |  A  |  B  |
//  | B(t): 128 residues of each of 128, 256 columns|--+          +-----------+-----------+-   -+-----------+
//  +-----------------------------------------------+                step 0      step 1            step 3, then 4, …
//                                                                      |
//       int32 sums of a tile in registers: 64 or 128 a thread    <-----+  4 wgmma of 32 residues a step
//                                                                      |
//       c = (sum times (P / p)^-1) mod p, an int8                <-----+  at the end of the inner dimension
//                                                                      |
//       bytes in global memory, 16 of a thread side by side,     <-----+
//       in the order of the accumulators (TileBytes)
//
// Each stage has two barriers of 8 bytes (mbarrier), whose phases alternate round by round of the ring:
//
//     full(s):   1 arrival, of the loader, and stage_bytes, of the TMA unit          waited for by both warpgroups
//     empty(s):  2 arrivals of each block of the cluster, one of each warpgroup      waited for by the loader
//
// With a cluster of two, the tiles of its blocks lie one below the other. Each block loads its own tile of A and half of the
// tile of B, which goes to both blocks at once (multicast).
//
// INT32 holds 131071 products of residues. After chunk_steps steps the sums are reduced modulo p, and the summation continues
// from there.

#include <cuda.h>

#include <cstdint>

#include "block_step.hpp"
#include "blocks_in_step.cuh"
#include "chosen_residues.hpp"
#include "fused_ptx.cuh"
#include "residue_tiles.hpp"

namespace ozbound::gpu {

template <int Columns, int Cluster>
struct ResidueShape {
  static constexpr int columns = Columns, cluster = Cluster, accumulators = Columns / 2;
  static constexpr int a_bytes = residue_tile_rows * residue_step, b_bytes = Columns * residue_step;
  static constexpr int stage_bytes = a_bytes + b_bytes, stages = Columns == 256 ? 4 : 6;
  static constexpr int shared_bytes = 1024 + stages * (stage_bytes + 16);
  static constexpr int loader_registers = 40, multiplier_registers = 232;
};

/// An item: a tile of C, and a modulus.
struct ResidueItem {
  int modulus, row, column;  ///< rows in clusters of tiles

  /// Blocks walk panels of columns, row by row, so that concurrent blocks share tiles.
  __device__ ResidueItem(const ResidueArguments& f, int item) {
    const int tiles = f.row_clusters * f.column_tiles, tile = item % tiles;
    const int of_panel = f.panel * f.row_clusters, panel = tile / of_panel, within = tile % of_panel;
    const int width = min(f.panel, f.column_tiles - panel * f.panel);
    modulus = item / tiles;
    row = within / width;
    column = panel * f.panel + within % width;
  }
};

template <class Shape>
struct ResidueRing {
  std::uint32_t base;

  [[nodiscard]] __device__ std::uint32_t a(int stage) const { return base + stage * Shape::stage_bytes; }
  [[nodiscard]] __device__ std::uint32_t b(int stage) const { return a(stage) + Shape::a_bytes; }
  [[nodiscard]] __device__ std::uint32_t full(int stage) const { return base + Shape::stages * Shape::stage_bytes + 8 * stage; }
  [[nodiscard]] __device__ std::uint32_t empty(int stage) const { return full(Shape::stages + stage); }
};

/// A place in the ring and the parity of its round.
template <class Shape>
struct ResiduePlace {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == Shape::stages) stage = 0, parity ^= 1;
  }
};

/// The thread that loads tiles into the ring.
template <class Shape>
__device__ void load_residues(const CUtensorMap& a, const CUtensorMap& b, const ResidueArguments& f, ResidueRing<Shape> ring,
                              int rank, int items, int cluster, int clusters) {
  constexpr int b_part = Shape::columns / Shape::cluster;  // vectors of a tile of B that this block loads
  BlocksInStep in_step(f.step);
  ResiduePlace<Shape> at;
  for (int item = cluster; item < items; item += clusters) {
    const ResidueItem of(f, item);
    const int row = of.modulus * f.vectors_a + (of.row * Shape::cluster + rank) * residue_tile_rows;
    const int column = of.modulus * f.vectors_b + of.column * Shape::columns + rank * b_part;
    for (int step = 0; step < f.steps; ++step) {
      ptx::barrier_wait(ring.empty(at.stage), at.parity ^ 1);
      const auto full = ring.full(at.stage), to_b = ring.b(at.stage) + rank * b_part * residue_step;
      ptx::barrier_expect(full, Shape::stage_bytes);
      ptx::load_box(ring.a(at.stage), a, step * residue_step, row, full);
      if constexpr (Shape::cluster > 1)
        ptx::load_box_multicast(to_b, b, step * residue_step, column, full, (1 << Shape::cluster) - 1);
      else
        ptx::load_box(to_b, b, step * residue_step, column, full);
      at.advance();
      in_step.pass();
    }
  }
  in_step.finish(static_cast<std::int64_t>((items + clusters - 1) / clusters) * f.steps);
}

/// One warpgroup that multiplies: rows 64 * group … of the block's tile.
template <class Shape>
class ResidueMultiplier {
 public:
  __device__ ResidueMultiplier(const ResidueArguments& f, const ResidueReduction* times_inverse, ResidueRing<Shape> ring,
                               int rank, int group)
      : f_(f),
        times_inverse_(times_inverse),
        ring_(ring),
        rank_(rank),
        group_(group),
        empty_(Shape::cluster > 1 ? ptx::peer_address(ring.empty(0), thread() % Shape::cluster) : ring.empty(0)) {}

  __device__ __forceinline__ void run(int items, int cluster, int clusters) {
    for (int item = cluster; item < items; item += clusters) multiply(ResidueItem(f_, item));
  }

 private:
  using Accumulators = std::int32_t[Shape::accumulators];

  [[nodiscard]] __device__ static int thread() { return static_cast<int>(threadIdx.x) % 128; }

  __device__ __forceinline__ void multiply(const ResidueItem& item) {
    Accumulators c;
#pragma unroll
    for (int i = 0; i < Shape::accumulators; ++i) c[i] = ResidueReduction::raised_zero;
    int last = -1, in_chunk = 0;
    for (int step = 0; step < f_.steps; ++step) {
      ptx::barrier_wait(ring_.full(at_.stage), at_.parity);
      ptx::wgmma_fence();
      ptx::wgmma_tile(c, ptx::tile_descriptor(ring_.a(at_.stage)) + group_ * (64 * residue_step / 16),
                      ptx::tile_descriptor(ring_.b(at_.stage)));
      ptx::wgmma_commit();
      ptx::wgmma_wait<1>();
      if (last >= 0) release(last);
      last = at_.stage;
      at_.advance();
      if (++in_chunk < f_.chunk_steps || step + 1 == f_.steps) continue;
      finish(c, last);
      const auto& modulus = f_.plain[item.modulus];
#pragma unroll
      for (int i = 0; i < Shape::accumulators; ++i)
        c[i] = static_cast<std::int8_t>(modulus.rest(c[i])) ^ ResidueReduction::raised_zero;
      last = -1, in_chunk = 0;
    }
    finish(c, last);
    store(item, c);
  }

  __device__ __forceinline__ void finish(Accumulators& c, int last) {
    ptx::wgmma_wait<0>();
    ptx::settle(c);
    release(last);
  }

  /// Stores the bytes of 16 accumulators at a time. The bytes of all threads lie side by side.
  __device__ __forceinline__ void store(const ResidueItem& item, const Accumulators& c) const {
    const auto modulus = times_inverse_[item.modulus];
    auto* const to = reinterpret_cast<uint4*>(f_.bytes + item.modulus * f_.modulus_bytes +
                                              TileBytes<Shape::columns>::of(item.row * Shape::cluster + rank_, item.column,
                                                                            f_.column_tiles, group_)) +
                     thread();
#pragma unroll
    for (int q = 0; q < Shape::accumulators / 16; ++q) {
      std::uint32_t words[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const auto low = [&](int e) { return static_cast<std::uint32_t>(modulus.rest(c[16 * q + 4 * w + e])); };
        words[w] = __byte_perm(__byte_perm(low(0), low(1), 0x0040), __byte_perm(low(2), low(3), 0x0040), 0x5410);
      }
      __stcg(to + q * 128, make_uint4(words[0], words[1], words[2], words[3]));
    }
  }

  __device__ void release(int stage) const {
    if (thread() >= Shape::cluster) return;
    if constexpr (Shape::cluster > 1)
      ptx::barrier_arrive_peer(empty_ + 8 * stage);
    else
      ptx::barrier_arrive(empty_ + 8 * stage);
  }

  const ResidueArguments& f_;
  const ResidueReduction* times_inverse_;
  ResidueRing<Shape> ring_;
  int rank_, group_;
  std::uint32_t empty_;  ///< empty(0) of the block in the cluster whose stages this thread releases
  ResiduePlace<Shape> at_;
};

/// One block's items. @pre every block runs at once, or BlockStep::counter is null.
template <class Shape>
__global__ void __launch_bounds__(384, 1)
    multiply_residues(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      const __grid_constant__ ResidueArguments f) {
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::uint8_t shared[];
  const ResidueRing<Shape> ring{(ptx::shared_address(shared) + 1023) & ~1023u};
  const int rank = Shape::cluster > 1 ? ptx::cluster_rank() : 0;
  const int cluster = static_cast<int>(blockIdx.x) / Shape::cluster, clusters = static_cast<int>(gridDim.x) / Shape::cluster;
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 128, 0);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Shape::stages; ++stage) {
      ptx::barrier_init(ring.full(stage), 1);
      ptx::barrier_init(ring.empty(stage), 2 * Shape::cluster);
    }
    ptx::barrier_init_fence();
  }
  __syncthreads();
  if constexpr (Shape::cluster > 1) ptx::cluster_barrier();
  cudaGridDependencySynchronize();  // the previous kernel has written the residues
  const int items = f.chosen == nullptr ? f.items() : f.tiles() * f.chosen->moduli;
  if (group == 0) {
    ptx::give_registers<Shape::loader_registers>();
    if (threadIdx.x == 0) load_residues<Shape>(a, b, f, ring, rank, items, cluster, clusters);
  } else {
    ptx::take_registers<Shape::multiplier_registers>();
    const auto* const times_inverse = f.chosen == nullptr ? f.times_inverse : f.chosen->times_inverse;
    ResidueMultiplier<Shape>(f, times_inverse, ring, rank, group - 1).run(items, cluster, clusters);
  }
  if constexpr (Shape::cluster > 1) ptx::cluster_barrier();  // no block ends while another still writes its memory
#endif
}

}  // namespace ozbound::gpu
