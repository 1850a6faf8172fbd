// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "device_array.hpp"
#include "device_slices.hpp"
#include "ozbound/core/residue_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound::gpu {

/// Residues in the memory of one device. Data that the host asks for is copied once.
class CudaResidues final : public Residues {
 public:
  /// Has the residues when it returns. @throws std::invalid_argument for a form of complex integers, which this engine does not
  /// support, or an invalid form; std::length_error if they have more bytes than an Index can count.
  CudaResidues(const InputView& operand, Side side, ResidueForm form, int device, cudaStream_t stream);

  [[nodiscard]] const DeviceSlices& on_device() const { return residues_; }
  [[nodiscard]] int device() const { return device_; }

  [[nodiscard]] VectorScale scale(Index i) const override;
  [[nodiscard]] int residue(Index i, int t, Index l) const override;

  /// The most bytes that `count` vectors of `inner` elements take.
  static double bytes(Index count, Index inner, ResidueForm form);

 private:
  int device_;
  DeviceArray<std::uint8_t> memory_;
  DeviceSlices residues_;

  mutable std::once_flag have_scales_, have_bytes_;
  mutable std::vector<VectorScale> scales_;
  mutable std::vector<std::int8_t> bytes_;
};

}  // namespace ozbound::gpu
