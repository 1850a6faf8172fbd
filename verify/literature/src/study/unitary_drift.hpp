// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "study/circuit_certificate.hpp"
#include "study/fixed_point_state.hpp"

namespace ozbound::study {

/// d = psi - phi, in doubles: how far the product of the gates as they are is from that of their unitary factors.
/// docs/derivations/circuit.md, (C3). @pre the FP environment rounds to nearest and keeps subnormals.
class UnitaryDrift {
 public:
  explicit UnitaryDrift(std::size_t amplitudes) : drift_(amplitudes) {}

  /// @param before psi, before the gate is applied to it. @pre facts.defect <= 1/2.
  void apply(const Gate& gate, const GateFacts& facts, const FixedPointState& before);

  /// Upper bounds of ||x - (psi - d)||, and of what psi - d itself may be off: of phi.
  [[nodiscard]] double distance_upper(const State& x, const FixedPointState& psi) const;
  [[nodiscard]] double error_upper(const FixedPointState& psi) const { return add_upper(error_, psi.error_upper()); }

 private:
  State drift_;
  double error_ = 0;  ///< of drift_
};

}  // namespace ozbound::study
