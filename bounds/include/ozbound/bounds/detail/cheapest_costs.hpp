// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/core/cost_model.hpp"

namespace ozbound {

/// The costs of several engines as one model, so that one decision serves all. Each way costs as much as on the engine where it
/// is cheapest. All engines count in the same unit.
class CheapestCosts final : public CostModel {
 public:
  struct Of {
    const CostModel* costs;  ///< must outlive this
    bool native;             ///< true if a native DGEMM accompanies the engine
    bool residues;           ///< true if the engine has residues
  };

  /// @throws std::invalid_argument if the list is empty, or units differ.
  explicit CheapestCosts(std::vector<Of> engines);

  [[nodiscard]] CostOrigin origin() const override { return engines_.front().costs->origin(); }
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] double native(Index m, Index n, Index k) const override;
  [[nodiscard]] double exact(Index m, Index n, Index k) const override;

  /// The engine that carries out a decision made by these costs in the least time; the first one if several tie. The same
  /// engine finishes the entries that slices leave open.
  [[nodiscard]] std::size_t engine_for(const Decision& decision) const;

  /// The cost of the decision on that engine.
  [[nodiscard]] double cost_on(std::size_t engine, const Decision& decision) const;

 private:
  std::vector<Of> engines_;
};

}  // namespace ozbound
