// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cuda_check.hpp"
#include "device_array.hpp"
#include "largest.cuh"
#include "level_two.cuh"

namespace ozbound::gpu {
namespace {

// If level 1 is loose, an entry is expensive. The search looks only at tiles whose largest ratio may be the largest of all, by
// bounds in binary32. It begins with the tile of the largest bound.

using Word = unsigned long long;
constexpr int threads = EntryTiles::threads;
constexpr float infinity = __builtin_huge_valf();

/// The search's data about all tiles of entries, in device memory.
struct Tiles {
  float* ceilings;  ///< [count]: an upper bound of the ratios in each tile
  Word* top;        ///< the bits of the largest ceiling, with its tile in the low half
  Word* taken;      ///< number of tiles looked at or skipped
  Index count;
};

/// An upper bound of the ratio of an entry. `error` is an upper bound of the entry's error. @pre the row is neither zero nor
/// special.
__device__ float ceiling(const DeviceMagnitudes& of, const EntryTarget& target, Index i, Index j, float error) {
  if (error == 0 || of.one.column_sums[j] == 0) return 0;  // zero or special
  float m = 0;
  if (target.row_norms != nullptr) {
    m = __fmul_rd(__double2float_rd(target.row_norms[i]), __double2float_rd(target.column_norms[j]));
  } else {
    m = relative_sum_lower(of.one, of.one.sum(i, j));
    const float leading = of.leading == nullptr ? 0 : of.leading[i + j * of.leading_pitch];
    if (leading >= of.leading_least) m = fmaxf(m, __fmul_rd(leading, of.leading_share));
  }
  const float factor = fminf(__double2float_rd(target.factor), 0x1.fffffep127f);  // factor may be +Inf
  const float share = __fmul_rd(__fmul_rd(factor, below), m);
  return error < infinity && share > 0 ? __fmul_ru(error, __frcp_ru(share)) : infinity;
}

/// The blocks of a tile in y share its columns. A thread takes one row.
__global__ void __launch_bounds__(search_threads)
    find_ceilings(const __grid_constant__ BoundWithScales error, const __grid_constant__ DeviceMagnitudes of,
                  const __grid_constant__ EntryTarget target, const __grid_constant__ LargestWork work,
                  const __grid_constant__ Tiles tiles) {
  constexpr int side = EntryTiles::side;
  static_assert(side % together == 0 && tile % side == 0);
  __shared__ TileEstimate::Shared shared;
  const Index block = blockIdx.x % work.rows.blocks, first = blockIdx.x / work.rows.blocks * tile;
  const TileEstimate estimate(error.bound, work.rows, block, work.columns, first / tile, shared);
  const Index i = block * tile + threadIdx.x, across = EntryTiles::across(of.one.m);
  const bool counts = i < of.one.m && of.one.row_sums[i] != 0;
  const int share = tile / static_cast<int>(gridDim.y), begin = static_cast<int>(blockIdx.y) * share;
  Word top = 0;
  for (int s = begin; s < begin + share && first + s < of.one.n; s += side) {
    float largest = 0;
    for (int half = 0; half < side; half += together) {
      float errors[together];
      estimate.find(s + half, errors);
#pragma unroll
      for (int r = 0; r < together; ++r) {
        const Index j = first + s + half + r;
        if (counts && j < of.one.n) largest = fmaxf(largest, ceiling(of, target, i, j, errors[r]));
      }
    }
    for (int offset = side / 2; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, offset));
    const Index place = i / side + (first + s) / side * across;
    if (i < of.one.m && threadIdx.x % side == 0) tiles.ceilings[place] = largest;
    if (i < of.one.m) top = max(top, Word{__float_as_uint(largest)} << 32 | static_cast<std::uint32_t>(place));
  }
  for (int offset = 16; offset > 0; offset /= 2) top = max(top, __shfl_xor_sync(~0u, top, offset));
  if (threadIdx.x % 32 == 0) atomicMax(tiles.top, top);
}

/// Lets `largest` take the entries of a tile. Called by all threads.
__device__ void look_at(Index t, const BoundWithScales& error, const DeviceMagnitudes& of, const EntryTarget& target,
                        const LargestWork& work, EntryTiles::Shared& shared, LargestEntry& largest) {
  const EntryTiles entries(of, shared);
  const auto bounds = entries.bounds(t);
  if (!entries.inside(t)) return;
  const Index i = entries.row(t), j = entries.column(t);
  const double relative = error_at(error, of.one, i, j, error.bound.upper(i, j));
  const double ratio = ratio_upper(relative, allowed_at(of.one, target, i, j, bounds));
  take(largest, {ratio, i * of.one.n + j});
  if (ratio > double_from_bits(*static_cast<const volatile std::uint64_t*>(work.best)))
    atomicMax(reinterpret_cast<Word*>(work.best), bits_of(ratio));
}

/// First pass: the tile with the largest ceiling. Second pass, by many blocks: the tiles whose ceilings are at least the
/// largest ratio so far.
template <bool First>
__global__ void __launch_bounds__(threads)
    look_at_tiles(const __grid_constant__ BoundWithScales error, const __grid_constant__ DeviceMagnitudes of,
                  const __grid_constant__ EntryTarget target, const __grid_constant__ LargestWork work,
                  const __grid_constant__ Tiles tiles) {
  __shared__ EntryTiles::Shared shared;
  __shared__ Index start;
  __shared__ unsigned candidates;
  LargestEntry largest;
  if constexpr (First) {
    look_at(static_cast<std::uint32_t>(*tiles.top), error, of, target, work, shared, largest);
  } else {
    constexpr int group = 32;
    while (true) {
      if (threadIdx.x == 0) start = static_cast<Index>(atomicAdd(tiles.taken, Word{group}));
      __syncthreads();
      const Index first = start;
      if (first >= tiles.count) break;
      if (threadIdx.x < group) {
        const Index t = first + threadIdx.x;
        const double best = double_from_bits(*static_cast<const volatile std::uint64_t*>(work.best));
        const bool may = t < tiles.count && tiles.ceilings[t] > 0 && static_cast<double>(tiles.ceilings[t]) >= best;
        const unsigned all = __ballot_sync(~0u, may);
        if (threadIdx.x == 0) candidates = all;
      }
      __syncthreads();
      for (unsigned rest = candidates; rest != 0; rest &= rest - 1)
        look_at(first + __ffs(static_cast<int>(rest)) - 1, error, of, target, work, shared, largest);
      __syncthreads();
    }
  }
  reduce(largest);
  if (threadIdx.x == 0) work.parts[blockIdx.x + (First ? 0 : 1)] = largest;
}

}  // namespace

void launch_worst_loose_entry(const BoundWithScales& error, const DeviceMagnitudes& of, const EntryTarget& target,
                              const LargestWork& work, cudaStream_t stream) {
  const Index count = EntryTiles::across(of.one.m) * EntryTiles::across(of.one.n);
  const DeviceArray<float> ceilings(count, stream);
  const DeviceArray<Word> words(2, stream);
  const Tiles tiles{ceilings.data(), words.data(), words.data() + 1, count};
  check(cudaMemsetAsync(words.data(), 0, 2 * sizeof(Word), stream), "cudaMemsetAsync");
  launch_estimates(error, of.one.rows.exponents, of.one.columns.exponents, work, stream);
  const auto shares = static_cast<unsigned>(blocks_of_a_tile(work.tiles(), tile / EntryTiles::side, 8192));
  find_ceilings<<<dim3(static_cast<unsigned>(work.tiles()), shares), search_threads, 0, stream>>>(error, of, target, work,
                                                                                                  tiles);
  check_launch("find_ceilings");
  look_at_tiles<true><<<1, threads, 0, stream>>>(error, of, target, work, tiles);
  check_launch("look_at_tiles");
  constexpr Index enough_blocks = 1024;
  const Index blocks = std::min({count, work.parts_count - 1, enough_blocks});
  look_at_tiles<false><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(error, of, target, work, tiles);
  check_launch("look_at_tiles");
  launch_reduction(work, blocks + 1, stream);
}

}  // namespace ozbound::gpu
