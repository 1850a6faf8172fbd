// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound::gpu {

/// Keeps blocks at about the same place of the inner dimension, so that the tiles they load are shared in the L2 cache. Every
/// `interval` loads of both operands, a block waits until all blocks are at most `lead` intervals behind. Affects speed only: a
/// block that has waited long continues.
struct BlockStep {
  unsigned* counter = nullptr;  ///< zero at first; null: no block waits
  int interval = 16;
  int lead = 4;
};

}  // namespace ozbound::gpu
