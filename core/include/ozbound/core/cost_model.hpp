// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

/// What costs are counted in and where they come from, for the record of a decision.
struct CostOrigin {
  std::string model = "products";  ///< `products`; `calibrated`: measured here; `shipped`: measured elsewhere
  std::string unit = "products";   ///< or `seconds`
  std::string processor = {};      ///< that was measured, with `kernel`; empty where nothing was
  std::string kernel = {};
  int threads = 0;        ///< that costs are predicted for; 0 where they play no part
  std::string note = {};  ///< why a calibration is not used, where there is one

  bool operator==(const CostOrigin&) const = default;
};

/// What a way of computing C costs, in one unit for all of them. `decide` compares nothing else.
class CostModel {
 public:
  virtual ~CostModel() = default;

  [[nodiscard]] virtual CostOrigin origin() const = 0;

  /// Everything under a plan, m x n x k: of slices, making, multiplying and accumulating them.
  [[nodiscard]] virtual double planned(const Plan& plan, Index m, Index n, Index k) const = 0;
  /// The native DGEMM.
  [[nodiscard]] virtual double native(Index m, Index n, Index k) const = 0;
  /// Every entry by the exact superaccumulator.
  [[nodiscard]] virtual double exact(Index m, Index n, Index k) const = 0;
};

/// Counts a plan's products on the engines' MatrixUnit, int8_int32: the same on every machine. Native DGEMM is rated at 28 of
/// them, where the two break even on an H200 (docs/adr/0004); the superaccumulator above every plan.
class ProductCount final : public CostModel {
 public:
  [[nodiscard]] CostOrigin origin() const override { return {}; }
  [[nodiscard]] double planned(const Plan& plan, Index, Index, Index) const override { return plan.products(); }
  [[nodiscard]] double native(Index, Index, Index) const override { return 28; }
  [[nodiscard]] double exact(Index, Index, Index) const override { return 1000; }
};

}  // namespace ozbound
