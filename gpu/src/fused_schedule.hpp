// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound::gpu {

/// Two adjacent diagonals g and g - 1 of a plan as a walk over tiles of slices B(q), A(p), B(q - 1), A(p + 1), …. Neighbours in
/// the walk are multiplied: (B, A) belongs to g, (A, B) to g - 1. Each tile except the ends thus serves two products.
struct DiagonalPair {
  std::int16_t first_a = 1;  ///< p, 1-based
  std::int16_t first_b = 1;  ///< q; s_B + 1, a tile of zeros, if the walk begins with A
  std::int16_t tiles = 0;    ///< of either operand, including a missing tile
  bool ends_with_b = false;  ///< the last A tile does not exist
};

/// The carry chain, docs/derivations/slicing.md (S6), two diagonals at a time, from the least significant up. The bits that a
/// pair finishes form a field of 2 * radix_bits; two fields form a word. Diagonal 2 is alone if the number of diagonals is odd.
///
/// While the last pair is multiplied, a thread holds one word of each of its entries. Earlier words are in memory. The entry is
/// head 2^tail_bits() + tail. From its least significant bit up, the tail consists of words() words, held_fields() fields, and
/// top_bits() bits that the last pair finishes.
struct FusedSchedule {
  static constexpr int max_pairs = max_slices;

  DiagonalPair pairs[max_pairs];
  int pair_count = 0;
  int diagonals = 1;
  int radix_bits = 8;

  [[nodiscard]] OZB_HD constexpr bool last_alone() const { return diagonals % 2 != 0; }
  [[nodiscard]] OZB_HD constexpr int fields() const { return pair_count > 0 ? pair_count - 1 : 0; }
  [[nodiscard]] OZB_HD constexpr int words() const { return fields() > 0 ? (fields() - 1) / 2 : 0; }
  [[nodiscard]] OZB_HD constexpr int held_fields() const { return fields() - 2 * words(); }
  [[nodiscard]] OZB_HD constexpr int top_bits() const { return pair_count == 0 ? 0 : radix_bits * (last_alone() ? 2 : 1); }
  [[nodiscard]] OZB_HD constexpr int word_bits() const { return 4 * radix_bits; }
  /// Bits of the tail in a thread's registers: at most 48.
  [[nodiscard]] OZB_HD constexpr int held_bits() const { return 2 * radix_bits * held_fields() + top_bits(); }
  [[nodiscard]] OZB_HD constexpr int tail_bits() const { return radix_bits * (diagonals - 1); }

  /// Tiles of either operand that one step of the inner dimension takes.
  [[nodiscard]] int tiles() const;
};

FusedSchedule fused_schedule(const SplitPlan& plan);

}  // namespace ozbound::gpu
