// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/residue_plan.hpp"

namespace ozbound {

/// The plan of a product that starts before it is decided, or limits of a plan that is not known yet.
struct ProductStart {
  int most_moduli = 0;   ///< of the plan
  int least_moduli = 2;  ///< a plan that needs fewer takes this many
  /// The most moduli at which a plan by residues is expected to be the cheapest way, by the bits that its target asks for: half
  /// of both operands' bits together, rounded up.
  std::uint8_t most_by_bits[most_residue_bits + 1] = {};
  ResiduePlan known = {0, 0, 0};  ///< without moduli: the plan is chosen within these limits
};

}  // namespace ozbound
