#pragma once

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

/// What a way of computing C costs, in units of one slice product of the same shape on the engines' MatrixUnit, int8_int32.
/// `decide` compares nothing else.
class CostModel {
 public:
  virtual ~CostModel() = default;

  /// Slicing, integer products and accumulation under a plan, m x n x k.
  [[nodiscard]] virtual double slices(const SplitPlan& plan, Index m, Index n, Index k) const = 0;
  /// The native DGEMM.
  [[nodiscard]] virtual double native(Index m, Index n, Index k) const = 0;
  /// Every entry by the exact superaccumulator.
  [[nodiscard]] virtual double exact(Index m, Index n, Index k) const = 0;
};

/// Counts products. Native DGEMM is rated at 28 of them, where the two break even on an H200 (docs/adr/0004); the
/// superaccumulator above every plan.
class ProductCount final : public CostModel {
 public:
  [[nodiscard]] double slices(const SplitPlan& plan, Index, Index, Index) const override { return plan.products(); }
  [[nodiscard]] double native(Index, Index, Index) const override { return 28; }
  [[nodiscard]] double exact(Index, Index, Index) const override { return 1000; }
};

}  // namespace ozbound
