// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "ozbound/bounds/examination.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/product.hpp"
#include "ozbound/core/residue_plan.hpp"

namespace ozbound {

/// A device records this about a product C = A B of doubles that it decided and computed in a stream, without its host.
struct StreamRecord {
  bool native = false;           ///< native DGEMM computed C; the plan, its bound and the worst entry are then not set
  ResiduePlan plan = {0, 0, 0};  ///< otherwise the plan that was chosen
  OperandRecord operands;
  OuterRanges ranges;
  PlanBound bound;
  Worst worst;       ///< before the last rounding
  ResultFacts of_c;  ///< for native DGEMM the fingerprint alone
};

/// A product that a device decides and computes in a stream.
class LaunchedProduct {
 public:
  virtual ~LaunchedProduct() = default;

  /// Waits for the product. Returns nothing if neither a plan nor native DGEMM was chosen; C then has its old elements.
  [[nodiscard]] virtual std::optional<StreamRecord> wait() const = 0;
};

/// A device that can decide and compute products in a caller's stream. Several threads may use it at once.
class StreamLauncher {
 public:
  virtual ~StreamLauncher() = default;

  /// Launches C = A B, or returns null if the device does not decide such products on its own: other targets than `dgemm` and
  /// the componentwise ones, scalars, matrices of floats as C, places outside the device. Nothing is launched then.
  /// @param stream a cudaStream_t that is not captured. It must outlive the result, and the matrices the work.
  [[nodiscard]] virtual std::unique_ptr<LaunchedProduct> launch(const RealProduct& product, const Target& target,
                                                                void* stream) const = 0;

  /// Waits for all work of a stream.
  virtual void wait(void* stream) const = 0;
};

}  // namespace ozbound
