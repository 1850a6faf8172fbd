// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/core/cost_model.hpp"

namespace ozbound {

/// The costs of several engines as one: a way of computing C costs what it does on the engine where it costs least, so that one
/// decision is made for all. All count in the same unit.
class CheapestCosts final : public CostModel {
 public:
  struct Of {
    const CostModel* costs;  ///< must outlive this
    bool native;             ///< whether there is a native DGEMM to go with the engine
    bool residues;           ///< whether the engine has residues
  };

  /// @throws std::invalid_argument if there are none, or units differ.
  explicit CheapestCosts(std::vector<Of> engines);

  [[nodiscard]] CostOrigin origin() const override { return engines_.front().costs->origin(); }
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] double native(Index m, Index n, Index k) const override;
  [[nodiscard]] double exact(Index m, Index n, Index k) const override;

  /// The engine on which a decision that was made by these costs is carried out in the least time: what is left open by slices
  /// is finished on the same one. Of several, the first.
  [[nodiscard]] std::size_t engine_for(const Decision& decision) const;

  /// What the decision costs there.
  [[nodiscard]] double cost_on(std::size_t engine, const Decision& decision) const;

 private:
  std::vector<Of> engines_;
};

}  // namespace ozbound
