// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/split_plan.hpp"
#include "special_entry_writer.hpp"
#include "tensor_maps.hpp"

namespace ozbound::gpu {

/// The fused kernel for Hopper (sm_90a). It multiplies slices by wgmma, folds the sums of diagonals exactly in registers and
/// rounds once. The result equals core's combine bit for bit.
class FusedProduct {
 public:
  /// Parameters that affect speed, never a bit. Negative: chosen by the shape.
  struct Tuning {
    int cluster = -1;     ///< 1: one block a tile; 2: two tiles that share A; 3: two blocks a tile, each half of k
    int panel = -1;       ///< columns of tiles that blocks walk together
    int interval = -1;    ///< loads between two waits of blocks for each other; 0: never wait
    int lead = -1;        ///< intervals that a block may be ahead
    int alternate = -1;   ///< every other pair of diagonals walks k backwards
    int head_start = -1;  ///< turns of two products that a block's first warpgroup is ahead of its second
  };

  /// @throws std::runtime_error naming the CUDA call that fails. A device other than Hopper is no error, but applies() is then
  /// false.
  explicit FusedProduct(int device);

  /// True if the kernel can compute an m x n x k product under this plan: exact accumulation, int8 digits with a common ratio.
  [[nodiscard]] bool applies(const SplitPlan& plan, Index m, Index n, Index k) const;

  /// Bytes of device memory that launch needs.
  [[nodiscard]] std::size_t workspace(const SplitPlan& plan) const;

  /// C = alpha S + beta C0, asynchronously and without allocating. `workspace` is aligned to 256 bytes. If the operands are
  /// given, whose slices a and b are, writes special entries too; otherwise does not touch them.
  /// @pre applies(), and a and b are sliced as the plan says.
  void launch(const DeviceSlices& a, const DeviceSlices& b, const SplitPlan& plan, const DeviceEpilogue& epilogue,
              const OperandPair& operands, void* workspace, cudaStream_t stream) const {
    launch(a, b, plan, epilogue, operands, workspace, stream, Tuning{});
  }
  void launch(const DeviceSlices& a, const DeviceSlices& b, const SplitPlan& plan, const DeviceEpilogue& epilogue,
              const OperandPair& operands, void* workspace, cudaStream_t stream, const Tuning& tuning) const;

 private:
  bool hopper_ = false;
  int processors_ = 0;  ///< blocks that run at once
  int pairs_ = 0;       ///< clusters of two that run at once
  TensorMaps maps_;
};

}  // namespace ozbound::gpu
