// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "arena.hpp"
#include "block.hpp"
#include "combination.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "fused.hpp"
#include "fused_residues.hpp"
#include "lt_product.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/gpu/path.hpp"
#include "special_entry_writer.hpp"

namespace ozbound::gpu {

/// The kernels of one device, and the facts learnt about the device.
struct Kernels {
  FusedProduct fused;
  FusedResidues residues;
  LtProduct lt;

  explicit Kernels(int device) : fused(device), residues(device), lt(device) {}
};

/// Products of slices or residues under one plan and of one shape. The constructor chooses the kernels and the number of
/// entries of C at a time, so that launch only launches.
class ProductLauncher {
 public:
  /// Cuts C into blocks until their sums take at most `most_bytes`, or the blocks are 128 x 128. If a path cannot compute the
  /// product, takes the next path.
  ProductLauncher(const Plan& plan, Index m, Index n, Index k, double most_bytes, Path path, Kernels& kernels);

  /// Finds the fastest kernels, unless they are known. Call before the first launch. Waits for the device.
  void prepare() const;

  [[nodiscard]] Path path() const { return path_; }  ///< never automatic

  /// Bytes that launch and for_each_block take from their arena.
  [[nodiscard]] double bytes() const;

  /// C = alpha S + beta C0. Writes special entries only if their operands are given. Asynchronous; allocates nothing.
  void launch(const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue, const OperandPair& operands,
              Arena arena, cudaStream_t stream) const;

  /// Multiplies the first block of C before the host knows the plan, which has at most the moduli of this launcher's plan.
  /// @pre path is fused, by residues; the arena has bytes().
  [[nodiscard]] FusedResidues::Bytes start(const DeviceSlices& a, const DeviceSlices& b, const LaterPlan& later, Arena arena,
                                           cudaStream_t stream) const;

  /// Launches the recovery of a block of C from the bytes of its residues.
  using Recovery = std::function<void(const Combination&, int moduli, const Block& block, const FusedResidues::Bytes& bytes)>;

  /// Multiplies the other blocks of C under this plan, after `start` with the same arena, and recovers every block. @param
  /// first what start returned
  void finish(const ResiduePlan& plan, const FusedResidues::Bytes& first, const DeviceSlices& a, const DeviceSlices& b,
              Arena arena, cudaStream_t stream, const Recovery& recover) const;

  /// Multiplies C under a plan that a kernel chose; nothing if it chose none. Recovers every block for each number of moduli
  /// that the plan may have, with the combination of one bit for each operand. @pre as start.
  void launch_later(const DeviceSlices& a, const DeviceSlices& b, const LaterPlan& later, Arena arena, cudaStream_t stream,
                    const Recovery& recover) const;

  /// Calls visit(block, sums) for each block of C with the sums of every group. The sums are launched and not waited for. @pre
  /// path is not fused, which has no sums.
  template <class Visit>
  void for_each_block(const DeviceSlices& a, const DeviceSlices& b, Arena arena, cudaStream_t stream,
                      const Visit& visit) const {
    const Buffers buffers(*this, false, arena);
    for (Index row = 0; row < m_; row += rows_)
      for (Index column = 0; column < n_; column += columns_) {
        const auto block = block_at(row, column);
        visit(block, wide_sums(a, b, block, buffers, stream));
      }
  }

 private:
  /// An integer product of cuBLASLt: `digits` digits of a group's pairs, from digit `start` on.
  struct Run {
    int group;
    int first_a;
    Index start;
    Index digits;
  };

  /// Memory for the sums of a block: 64-bit sums and one 32-bit product, or 32-bit sums.
  struct Buffers {
    std::int64_t* sums = nullptr;
    std::int32_t* products = nullptr;
    std::uint8_t* workspace = nullptr;

    Buffers(const ProductLauncher& product, bool of_32_bits, Arena& arena);
  };

  [[nodiscard]] bool fuses() const;
  [[nodiscard]] Path chosen(Path wanted) const;
  [[nodiscard]] Block block_at(Index row, Index column) const;
  [[nodiscard]] std::vector<Run> runs() const;
  [[nodiscard]] bool sums_fit_32_bits() const;
  [[nodiscard]] LtProduct::Shape lt_shape(const Block& block, Index digits) const;

  void launch_run(const Run& run, const DeviceSlices& a, const DeviceSlices& b, const Block& block, std::int32_t* products,
                  std::uint8_t* workspace, cudaStream_t stream) const;
  [[nodiscard]] BlockSums<std::int64_t> wide_sums(const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                                                  const Buffers& buffers, cudaStream_t stream) const;
  [[nodiscard]] BlockSums<std::int32_t> short_sums(const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                                                   const Buffers& buffers, cudaStream_t stream) const;

  /// The number of moduli of a plan by residues; 0 for a plan by slices.
  [[nodiscard]] int moduli() const;
  void combine(const DeviceSlices& a, const DeviceSlices& b, const Block& block, const auto& sums,
               const DeviceEpilogue& epilogue, cudaStream_t stream) const;

  [[nodiscard]] std::uint8_t* residue_workspace(Arena& arena) const;
  void launch_residues(const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue,
                       const OperandPair& operands, Arena arena, cudaStream_t stream) const;

  Plan plan_;
  Combination combination_;
  Index m_, n_, k_;
  Index padded_;          ///< length of every slice of a vector
  Index rows_, columns_;  ///< of a block: multiples of DeviceSlices::vector_step
  Kernels& kernels_;
  Path path_;
  std::vector<Run> runs_;
};

}  // namespace ozbound::gpu
