// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "block_step.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "fused_schedule.hpp"
#include "special_entries.hpp"

namespace ozbound::gpu {

/// Shape of the fused kernel: a block computes a tile of tile_size x tile_size entries with two warpgroups that multiply, 64
/// rows each, and one that loads. Digits pass through a ring of stages of one tile each.
inline constexpr int tile_size = 128, stages = 14, stage_bytes = tile_size * 128, group_threads = 128;
inline constexpr int block_threads = 3 * group_threads, multiplying_groups = 2;
inline constexpr int entries = 64;         ///< of a tile that a thread holds
inline constexpr int digits_a_step = 128;  ///< of the inner dimension in a tile
inline constexpr int tile_scales_bytes = (2 * tile_size + 1) * 4;
/// The ring, aligned to 1024 bytes, two barriers a stage, and scales.
inline constexpr int shared_bytes = 1024 + stages * (stage_bytes + 16) + tile_scales_bytes;
static_assert(shared_bytes <= 227 * 1024);

/// What a warpgroup keeps in memory, for each of its 64 x 128 entries.
struct FusedScratch {
  static constexpr std::int64_t plane = std::int64_t{entries} * group_threads * 4;  ///< bytes of 32 bits an entry

  /// Overflow of the two accumulators, the schedule's words, head and tail of entries that are finished one by one.
  static constexpr std::int64_t overflow = 0, words = 2 * plane;
  OZB_HD static constexpr std::int64_t sums(int word_count) { return words + word_count * plane; }
  OZB_HD static constexpr std::int64_t bytes(int word_count) { return sums(word_count) + 4 * plane; }
};

struct FusedArguments {
  FusedSchedule schedule;
  DeviceSlices a, b;
  DeviceEpilogue epilogue;
  int unit_exponent;    ///< of the last diagonal, relative to rho_i sigma_j
  int row_tiles;        ///< of C
  int column_clusters;  ///< of C, each of the cluster's columns of tiles
  int panel;            ///< column_clusters that blocks walk together, row by row
  int schedule_tiles;   ///< schedule.tiles()
  int steps;            ///< of the inner dimension
  int chunk_steps;      ///< whose sums INT32 holds, with a carry
  int head_start;       ///< turns of two products that the first warpgroup is ahead of the second; 0: none
  bool alternate;       ///< every other pair walks the inner dimension backwards: what was loaded last is met first
  BlockStep step;
  /// From it on, an entry with more than 64 bits of tail is rounded rightly from its head and a tail that is rounded to odd.
  std::int64_t least_head;
  OperandPair operands;   ///< of special entries; none: these are left alone
  std::uint8_t* scratch;  ///< FusedScratch of each multiplying warpgroup of each block
};

}  // namespace ozbound::gpu
