// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound::gpu {

/// Keeps blocks at one place of the inner dimension, so that the tiles that they load meet in the L2 cache: a block waits every
/// `interval` loads of both operands until every block has passed `lead` intervals fewer. Only speed depends on it: who has
/// waited long goes on.
struct BlockStep {
  unsigned* counter = nullptr;  ///< zero at first; null: nobody waits
  int interval = 16;
  int lead = 4;
};

}  // namespace ozbound::gpu
