// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "facts.hpp"
#include "first_looks.hpp"
#include "largest.hpp"
#include "memory.hpp"
#include "ozbound/bounds/examination.hpp"
#include "plan_bound.hpp"
#include "residue_bounds.hpp"
#include "side_stream.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// The number of outer products in a bound.
Index outer_products_of(const EntryBound& bound);

/// A plan's bound in device memory, with the exponents of its scales.
class DevicePlanBound : public RemotePlanBound, public KeptOnDevice {
 public:
  [[nodiscard]] const DeviceBound& device_bound() const final { return bound_.bound; }
  [[nodiscard]] int device() const final { return device_; }
  [[nodiscard]] const BoundWithScales& bound() const { return bound_; }
  [[nodiscard]] Index outer_products() const { return outer_products_; }

  /// The bound, if this device made and keeps it; else null.
  [[nodiscard]] static const DevicePlanBound* kept_on(int device, const RemotePlanBound* bound) {
    const auto* const kept = dynamic_cast<const DevicePlanBound*>(bound);
    return kept != nullptr && kept->device() == device ? kept : nullptr;
  }

 protected:
  DevicePlanBound(int device, Index outer_products) : device_(device), outer_products_(outer_products) {}

  int device_;
  Index outer_products_;
  BoundWithScales bound_ = {};
};

/// plan_error_upper, computed in device memory.
class MeasuredPlanBound final : public DevicePlanBound {
 public:
  /// @param side a stream for copies, which do not wait for later work of the main stream.
  MeasuredPlanBound(const SplitPlan& plan, Index k, const DeviceFacts& rows, const DeviceFacts& columns, int device,
                    cudaStream_t stream, std::shared_ptr<const SideStream> side);

  [[nodiscard]] PlanBound fetch() const override;

 private:
  BoundWithScales take(const DeviceFacts& rows, const DeviceFacts& columns, Arena& arena) const;

  SplitPlan plan_;
  Index k_;
  cudaStream_t stream_;
  Memory memory_;
  std::shared_ptr<const SideStream> side_;
  std::optional<StreamMark> made_;
};

/// A bound for residues, made in device memory from the first looks at both operands.
class LookedPlanBound final : public DevicePlanBound {
 public:
  /// Makes the same bound on the host, from the report of the looks.
  using OnHost = std::function<PlanBound()>;

  LookedPlanBound(const ResidueBoundKind& kind, const FirstLooks& looks, Index k, OnHost on_host, int device,
                  cudaStream_t stream);

  [[nodiscard]] PlanBound fetch() const override { return on_host_(); }

 private:
  Memory memory_;
  OnHost on_host_;
};

/// One operand's 1-norms as a bound (ResidueFacts), in the report of the looks. A search makes its own LookedPlanBound of them.
class SumsBound final : public RemotePlanBound {
 public:
  SumsBound(ResidueBoundKind::Of of, std::shared_ptr<const FirstLooks::Report> report) : of_(of), report_(std::move(report)) {}

  [[nodiscard]] ResidueBoundKind::Of of() const { return of_; }
  [[nodiscard]] const FirstLooks::Report& report() const { return *report_; }
  [[nodiscard]] PlanBound fetch() const override;

 private:
  ResidueBoundKind::Of of_;  ///< row_sums or column_sums
  std::shared_ptr<const FirstLooks::Report> report_;
};

/// A bound that was made in the host's memory and copied to the device.
class CopiedPlanBound final : public DevicePlanBound {
 public:
  /// @pre `device` is the current one.
  CopiedPlanBound(PlanBound bound, int device, cudaStream_t stream);

  [[nodiscard]] PlanBound fetch() const override { return host_; }

 private:
  PlanBound host_;
  BoundCopy product_;
  DeviceArray<std::int32_t> row_exponents_, column_exponents_;
};

}  // namespace ozbound::gpu
