// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "device_array.hpp"
#include "device_slices.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound::gpu {

/// Slices in the memory of one device. Data that the host asks for is copied once.
class CudaSlices final : public Slices {
 public:
  /// Has the slices when it returns. @throws std::invalid_argument for a slice count outside 1 … max_slices.
  CudaSlices(const InputView& operand, Side side, Slicing slicing, int device, cudaStream_t stream);

  [[nodiscard]] const DeviceSlices& on_device() const { return slices_; }
  [[nodiscard]] int device() const { return device_; }

  [[nodiscard]] VectorScale scale(Index i) const override;
  [[nodiscard]] int digit(Index i, int p, Index l) const override;
  [[nodiscard]] std::int64_t sum_of_digits(Index i, int p) const override;
  [[nodiscard]] int weight_exponent(Index i, int p) const override;

  /// The most bytes that `count` vectors of `inner` elements take.
  static double bytes(Index count, Index inner, Slicing slicing);

 private:
  /// The digits of slice p of vector i, on the host.
  [[nodiscard]] const std::int8_t* digits(Index i, int p) const;

  int device_;
  DeviceArray<std::uint8_t> memory_;
  DeviceSlices slices_;

  mutable std::once_flag have_scales_, have_digits_, have_weights_;
  mutable std::vector<VectorScale> scales_;
  mutable std::vector<std::int8_t> digits_;
  mutable std::vector<std::int16_t> weights_;
};

}  // namespace ozbound::gpu
