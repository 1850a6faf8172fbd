// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "block_step.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "fused_schedule.hpp"
#include "special_entry_writer.hpp"

namespace ozbound::gpu {

/// Shape of the fused kernel. A block computes a tile of tile_size x tile_size entries. Two warpgroups multiply, 64 rows each,
/// and one loads. Digits pass through a ring of stages of one tile each.
inline constexpr int tile_size = 128, stages = 14, stage_bytes = tile_size * 128, group_threads = 128;
inline constexpr int block_threads = 3 * group_threads, multiplying_groups = 2;
inline constexpr int entries = 64;         ///< of a tile, per thread
inline constexpr int digits_a_step = 128;  ///< of the inner dimension in a tile
inline constexpr int tile_scales_bytes = (2 * tile_size + 1) * 4;
/// The ring, aligned to 1024 bytes, with two barriers per stage, and the scales.
inline constexpr int shared_bytes = 1024 + stages * (stage_bytes + 16) + tile_scales_bytes;
static_assert(shared_bytes <= 227 * 1024);

/// Data that a warpgroup keeps in memory, for each of its 64 x 128 entries.
struct FusedScratch {
  static constexpr std::int64_t plane = std::int64_t{entries} * group_threads * 4;  ///< bytes of 32 bits per entry

  /// Offsets of the overflow of the two accumulators, and of the schedule's words, head and tail of entries that are finished
  /// singly.
  static constexpr std::int64_t overflow = 0, words = 2 * plane;
  OZB_HD static constexpr std::int64_t sums(int word_count) { return words + word_count * plane; }
  OZB_HD static constexpr std::int64_t bytes(int word_count) { return sums(word_count) + 4 * plane; }
};

struct FusedArguments {
  FusedSchedule schedule;
  DeviceSlices a, b;
  DeviceEpilogue epilogue;
  int unit_exponent;    ///< exponent of the last diagonal's unit, relative to rho_i sigma_j
  int row_tiles;        ///< of C
  int column_clusters;  ///< of C, each as wide as the cluster's columns of tiles
  int panel;            ///< column_clusters that blocks walk together, row by row
  int schedule_tiles;   ///< schedule.tiles()
  int steps;            ///< of the inner dimension
  int chunk_steps;      ///< steps whose sums INT32 holds, together with a carry
  int head_start;       ///< turns of two products that the first warpgroup is ahead of the second; 0: none
  bool alternate;       ///< every other pair walks the inner dimension backwards: the tiles loaded last are used first
  BlockStep step;
  /// From this head on, an entry with more than 64 bits of tail is rounded correctly from its head and its tail rounded to odd.
  std::int64_t least_head;
  OperandPair operands;   ///< for special entries; if none, special entries are not touched
  std::uint8_t* scratch;  ///< FusedScratch of each multiplying warpgroup of each block
};

}  // namespace ozbound::gpu
