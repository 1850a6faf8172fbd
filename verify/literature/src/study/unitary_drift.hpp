// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "study/circuit_certificate.hpp"
#include "study/fixed_point_state.hpp"

namespace ozbound::study {

/// d = psi - phi, in doubles: the difference between the product of the gates as given and the product of their unitary
/// factors. docs/derivations/circuit.md, (C3). @pre the FP environment rounds to nearest and keeps subnormals.
class UnitaryDrift {
 public:
  explicit UnitaryDrift(std::size_t amplitudes) : drift_(amplitudes) {}

  /// @param before psi before the gate is applied. @pre facts.defect <= 1/2.
  void apply(const Gate& gate, const GateFacts& facts, const FixedPointState& before);

  /// An upper bound of ||x - (psi - d)|| plus the error of psi - d itself: the distance of x from phi.
  [[nodiscard]] double distance_upper(const State& x, const FixedPointState& psi) const;
  [[nodiscard]] double error_upper(const FixedPointState& psi) const { return add_upper(error_, psi.error_upper()); }

 private:
  State drift_;
  double error_ = 0;  ///< of drift_
};

}  // namespace ozbound::study
