// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "device_examination.hpp"
#include "largest.hpp"
#include "ozbound/bounds/examination.hpp"
#include "plan_bound.hpp"
#include "side_stream.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// plan_error_upper in device memory, with the exponents that it is relative to.
class DevicePlanBound final : public RemotePlanBound, public KeptOnDevice {
 public:
  /// @param side for copies, which do not wait for what the stream is given after this.
  DevicePlanBound(const SplitPlan& plan, Index k, const DeviceFacts& rows, const DeviceFacts& columns, int device,
                  cudaStream_t stream, std::shared_ptr<const SideStream> side);

  [[nodiscard]] PlanBound fetch() const override;
  [[nodiscard]] const DeviceBound& there() const override { return bound_.bound; }
  [[nodiscard]] int device() const override { return device_; }
  [[nodiscard]] const ScaledBound& bound() const { return bound_; }
  [[nodiscard]] Index outer_products() const { return outer_products_; }

 private:
  ScaledBound take(const DeviceFacts& rows, const DeviceFacts& columns, Arena& arena) const;

  SplitPlan plan_;
  Index k_;
  int device_;
  cudaStream_t stream_;
  Memory memory_;
  ScaledBound bound_ = {};
  Index outer_products_;
  std::shared_ptr<const SideStream> side_;
  std::optional<StreamMark> made_;
};

}  // namespace ozbound::gpu
