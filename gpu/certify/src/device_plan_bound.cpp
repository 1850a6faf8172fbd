// SPDX-License-Identifier: BSD-3-Clause
#include "device_plan_bound.hpp"

#include <utility>

#include "cuda_device.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

/// A copy in memory of the arena. If the arena only counts, only takes memory.
const std::int32_t* copied(const std::int32_t* exponents, Index count, Arena& arena, cudaStream_t stream) {
  auto* const copy = arena.take<std::int32_t>(count);
  if (copy != nullptr && count > 0)
    check(cudaMemcpyAsync(copy, exponents, static_cast<std::size_t>(count) * sizeof(std::int32_t), cudaMemcpyDeviceToDevice,
                          stream),
          "cudaMemcpyAsync");
  return copy;
}

}  // namespace

Index outer_products_of(const EntryBound& bound) {
  Index count = 0;
  for (const auto& term : bound.terms) count += static_cast<Index>(term.alternatives.size());
  return count;
}

CopiedPlanBound::CopiedPlanBound(PlanBound bound, int device, cudaStream_t stream)
    : DevicePlanBound(device, outer_products_of(bound.product)),
      host_(std::move(bound)),
      product_(host_.product, static_cast<Index>(host_.row_exponents.size()), static_cast<Index>(host_.column_exponents.size()),
               stream),
      row_exponents_(copy_to_device(host_.row_exponents, stream)),
      column_exponents_(copy_to_device(host_.column_exponents, stream)) {
  bound_ = {product_.bound(), row_exponents_.data(), column_exponents_.data()};
}

LookedPlanBound::LookedPlanBound(const ResidueBoundKind& kind, const FirstLooks& looks, Index k, OnHost on_host, int device,
                                 cudaStream_t stream)
    : DevicePlanBound(device, kind.outer_products()), on_host_(std::move(on_host)) {
  Arena needed;
  launch_residue_bound(kind, looks.a(), looks.b(), k, needed, stream);
  memory_ = Memory(needed.used(), stream);
  auto arena = memory_.arena();
  const auto made = launch_residue_bound(kind, looks.a(), looks.b(), k, arena, stream);
  bound_ = {made.bound, made.row_exponents, made.column_exponents};
}

PlanBound SumsBound::fetch() const {
  const auto norms = [this](const OperandReport& of, ResidueBoundKind::Of own) {
    std::vector<double> sums(static_cast<std::size_t>(of.count()), 1);
    for (Index i = 0; own == of_ && i < of.count(); ++i) sums[static_cast<std::size_t>(i)] = of.sum_upper(i);
    return Norms(std::move(sums));
  };
  EntryBound product;
  product.terms.push_back(
      {"one operand's sums",
       {{norms(report_->a, ResidueBoundKind::Of::row_sums), norms(report_->b, ResidueBoundKind::Of::column_sums)}}});
  return {std::move(product), report_->a.exponents(), report_->b.exponents()};
}

MeasuredPlanBound::MeasuredPlanBound(const SplitPlan& plan, Index k, const DeviceFacts& rows, const DeviceFacts& columns,
                                     int device, cudaStream_t stream, std::shared_ptr<const SideStream> side)
    : DevicePlanBound(device, gpu::outer_products(plan, k)), plan_(plan), k_(k), stream_(stream), side_(std::move(side)) {
  Arena needed;
  take(rows, columns, needed);
  memory_ = Memory(needed.used(), stream);
  auto arena = memory_.arena();
  bound_ = take(rows, columns, arena);
  made_.emplace(stream);
}

BoundWithScales MeasuredPlanBound::take(const DeviceFacts& rows, const DeviceFacts& columns, Arena& arena) const {
  const auto bound = launch_plan_bound(plan_, k_, rows, columns, arena, stream_);
  const auto* const row_exponents = copied(rows.exponents, rows.count, arena, stream_);
  return {bound, row_exponents, copied(columns.exponents, columns.count, arena, stream_)};
}

PlanBound MeasuredPlanBound::fetch() const {
  const CudaDevice device(device_);
  const auto stream = side_->stream();
  made_->wait_in(stream);
  const auto& bound = bound_.bound;
  const HostBlock block(bound.rows, bound_.column_exponents + bound.n, stream);
  return {bound_on_host(bound, plan_, k_, block), block.part(bound_.row_exponents, bound.m),
          block.part(bound_.column_exponents, bound.n)};
}

}  // namespace ozbound::gpu
