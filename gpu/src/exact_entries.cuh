// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "device_epilogue.hpp"
#include "ozbound/core/detail/exact_dot.hpp"

namespace ozbound::gpu {

inline constexpr int exact_lanes = 32;  ///< threads of the warp that finishes an entry; the warp is a whole block

/// Every lane's sums of the parts of its products. Each lane uses its own memory banks.
using ExactBins = std::int64_t[ExactDot::bins][exact_lanes];

/// Computes entries of C = alpha A B + beta C0 as core's finish_exactly does: the exact dot product, rounded once.
struct ExactEntries {
  DeviceMatrix a, b;  ///< m x k, k x n
  Index k;
  DeviceEpilogue epilogue;

  /// Called by the whole warp. @pre the entry is not special.
  __device__ void finish(Index i, Index j, ExactBins& bins) const {
    constexpr Index most_terms = Index{1} << 27;  // terms whose parts can be summed without a carry
    ExactDot dot;
    for (Index start = 0; start < k; start += most_terms) {
      sum_parts(i, j, start, min(start + most_terms, k), bins);
      if (threadIdx.x == 0) dot.add(dot_of(bins));
      __syncwarp();
    }
    if (threadIdx.x == 0) epilogue.c.set_bits(i, j, dot.round(epilogue.scalars(), to_dyadic(epilogue.c0_bits(i, j), binary64)));
  }

 private:
  /// Leaves the sums of all lanes in the bins of the first lane.
  __device__ void sum_parts(Index i, Index j, Index begin, Index end, ExactBins& bins) const {
    const int lane = static_cast<int>(threadIdx.x);
    for (auto& bin : bins) bin[lane] = 0;
    constexpr int ahead = 8;  // elements that a lane loads before it uses them: the bins leave room for few warps
    for (Index first = begin + lane; first < end; first += ahead * exact_lanes) {
      std::uint64_t of_a[ahead], of_b[ahead];
#pragma unroll
      for (int r = 0; r < ahead; ++r) {
        const Index l = first + r * exact_lanes;
        of_a[r] = l < end ? a.bits(i, l) : 0, of_b[r] = l < end ? b.bits(l, j) : 0;
      }
#pragma unroll
      for (int r = 0; r < ahead; ++r) {
        const auto x = to_dyadic(of_a[r], binary64), y = to_dyadic(of_b[r], binary64);
        if (x.magnitude == 0 || y.magnitude == 0) continue;
        const auto parts = ExactDot::parts_of(x, y);
        for (int t = 0; t < 5; ++t) bins[parts.bin + t][lane] += parts.of[t];
      }
    }
    __syncwarp();
    for (int t = lane; t < ExactDot::bins; t += exact_lanes) {
      std::int64_t sum = 0;
      for (int other = 0; other < exact_lanes; ++other) sum += bins[t][(other + t) % exact_lanes];
      bins[t][0] = sum;
    }
    __syncwarp();
  }

  __device__ static ExactDot dot_of(const ExactBins& bins) {
    ExactDot dot;
    for (int t = 0; t < ExactDot::bins; ++t) dot.add_to_bin(t, bins[t][0]);
    return dot;
  }
};

}  // namespace ozbound::gpu
