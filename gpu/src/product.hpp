#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "arena.hpp"
#include "block.hpp"
#include "combination.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound::gpu {

/// Products of slices under one plan and of one shape: which kernels, and how many entries of C at a time. Everything is
/// decided here, so that launching only launches.
class Product {
 public:
  /// Blocks of C are cut until their sums take no more than `most_bytes`, or are 128 x 128.
  Product(const SplitPlan& plan, Index m, Index n, Index k, double most_bytes);

  /// Bytes that launch takes from its arena.
  [[nodiscard]] double bytes() const;

  /// C = alpha S + beta C0 where it is not special. Asynchronous; allocates nothing.
  void launch(const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue, Arena arena,
              cudaStream_t stream) const;

  /// Calls visit(block, sums) with the sums of every group of each block of C, launched and not waited for.
  template <class Visit>
  void for_each_block(const DeviceSlices& a, const DeviceSlices& b, Arena arena, cudaStream_t stream,
                      const Visit& visit) const {
    auto* const data = arena.take<std::int64_t>(most_sums());
    for (Index row = 0; row < m_; row += rows_)
      for (Index column = 0; column < n_; column += columns_) {
        const Block block{row, column, std::min(rows_, m_ - row), std::min(columns_, n_ - column)};
        visit(block, sum(a, b, block, data, stream));
      }
  }

 private:
  [[nodiscard]] Index most_sums() const { return combination_.groups.count * rows_ * columns_; }
  [[nodiscard]] BlockSums<std::int64_t> sum(const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                                            std::int64_t* data, cudaStream_t stream) const;

  Combination combination_;
  Index m_, n_;
  Index rows_, columns_;  ///< of a block: multiples of DeviceSlices::vector_step
};

}  // namespace ozbound::gpu
