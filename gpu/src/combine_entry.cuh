// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "block.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"

namespace ozbound::gpu {

inline constexpr int combining_threads = 128;

inline unsigned combining_blocks(const Block& block) {
  return static_cast<unsigned>((block.rows * block.columns + combining_threads - 1) / combining_threads);
}

/// The entry of a block for this thread, counted along C's shorter stride.
struct EntryOfThread {
  Index i, j;  ///< in the block
  bool exists;

  __device__ EntryOfThread(const Block& block, bool by_row) {
    const Index place = Index{blockIdx.x} * combining_threads + threadIdx.x;
    exists = place < block.rows * block.columns;
    i = by_row ? place % block.rows : place / block.columns;
    j = by_row ? place / block.rows : place % block.columns;
  }
};

/// Finishes entry (i, j) of C, unless it is special. `combined` computes it from its scale, C0's element and its error.
template <class Combined>
__device__ void finish_entry(Index i, Index j, const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue,
                             const Combined& combined) {
  if (!epilogue.finite_scalars() || a.special[i] != 0 || b.special[j] != 0) return;
  const auto c0 = epilogue.c0_bits(i, j);
  if (!is_finite(c0, binary64)) return;
  epilogue.finish(i, j, b.count, combined(a.exponents[i] + b.exponents[j], to_dyadic(c0, binary64), epilogue.error(i, j)));
}

}  // namespace ozbound::gpu
