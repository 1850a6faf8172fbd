// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "block.hpp"
#include "chosen_residues.hpp"
#include "device_slices.hpp"
#include "tensor_maps.hpp"

namespace ozbound::gpu {

/// Products of residues on Hopper (sm_90a). One persistent kernel multiplies by wgmma modulus by modulus. For each entry and
/// modulus it leaves one byte, multiplied by (P / p)^-1, for the launch_recovery that takes bytes (recovery.hpp).
class FusedResidues {
 public:
  /// Parameters that affect speed, never a byte. Negative: chosen by the shape.
  struct Tuning {
    int columns = -1;   ///< of a tile: 128, or 256 with a cluster of two
    int panel = -1;     ///< column tiles that blocks walk together
    int interval = -1;  ///< steps between two waits of blocks for each other; 0: never wait
    int lead = -1;      ///< intervals that a block may be ahead
  };

  /// The bytes of a block of C, as the kernel leaves them.
  struct Bytes {
    const std::int8_t* data = nullptr;
    std::int64_t modulus_bytes = 0;  ///< from one modulus to the next
    int columns = 128;               ///< of a tile
    int column_tiles = 0;
    int row_tiles = 0;
  };

  /// @throws CudaError naming the CUDA call that fails. A device other than Hopper is no error, but applies() is then false.
  explicit FusedResidues(int device);

  /// True if the kernel can multiply an m x n x k product.
  [[nodiscard]] bool applies(int moduli, Index m, Index n, Index k) const;

  /// Bytes of device memory, aligned to 256 bytes, that launch needs for a block of this many rows and columns.
  [[nodiscard]] std::size_t workspace(int moduli, Index rows, Index columns) const;

  /// Asynchronous; allocates nothing. @param later if given, the kernel multiplies modulo the moduli of this plan, at most
  /// `moduli`. @pre applies(); a and b have residues of at least `moduli` moduli.
  [[nodiscard]] Bytes launch(const DeviceSlices& a, const DeviceSlices& b, int moduli, const Block& block, void* workspace,
                             cudaStream_t stream) const {
    return launch(a, b, moduli, block, workspace, stream, Tuning{});
  }
  [[nodiscard]] Bytes launch(const DeviceSlices& a, const DeviceSlices& b, int moduli, const Block& block, void* workspace,
                             cudaStream_t stream, const Tuning& tuning, const LaterPlan& later = {}) const;

 private:
  bool hopper_ = false;
  int processors_ = 0;  ///< blocks that run at once
  int pairs_ = 0;       ///< clusters of two that run at once
  TensorMaps maps_;
};

}  // namespace ozbound::gpu
