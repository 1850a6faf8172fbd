// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

/// The unit and the origin of costs, for the record of a decision.
struct CostOrigin {
  std::string model = "products";  ///< `products`; `calibrated`: measured here; `shipped`: measured elsewhere
  std::string unit = "products";   ///< or `seconds`
  std::string processor = {};      ///< the measured processor, with `kernel`; empty if nothing was measured
  std::string kernel = {};
  int threads = 0;        ///< number of threads that costs are predicted for; 0 if it plays no part
  std::string note = {};  ///< reason why a calibration is not used, if any

  bool operator==(const CostOrigin&) const = default;
};

/// The costs of all ways to compute C, in one unit. `decide` compares nothing else.
class CostModel {
 public:
  virtual ~CostModel() = default;

  [[nodiscard]] virtual CostOrigin origin() const = 0;

  /// Total cost of an m x n x k product under a plan: making, multiplying and accumulating slices or residues.
  /// A plan by slices with more slices, or with a larger cut, must not cost less, since `decide` finds the cheapest plans by
  /// this. Must not be NaN.
  [[nodiscard]] virtual double planned(const Plan& plan, Index m, Index n, Index k) const = 0;
  /// Cost of the native DGEMM.
  [[nodiscard]] virtual double native(Index m, Index n, Index k) const = 0;
  /// Cost of computing every entry with the exact superaccumulator.
  [[nodiscard]] virtual double exact(Index m, Index n, Index k) const = 0;
};

/// Counts the plan's products on the engines' MatrixUnit, int8_int32. The count is the same on every machine. Native DGEMM
/// counts as 28 products, the break-even point on an H200 (docs/adr/0004). The superaccumulator costs more than every plan.
class ProductCount final : public CostModel {
 public:
  [[nodiscard]] CostOrigin origin() const override { return {}; }
  [[nodiscard]] double planned(const Plan& plan, Index, Index, Index) const override { return plan.products(); }
  [[nodiscard]] double native(Index, Index, Index) const override { return 28; }
  [[nodiscard]] double exact(Index, Index, Index) const override { return 1000; }
};

}  // namespace ozbound
