// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "residue_tiles.hpp"

namespace ozbound::gpu {

/// A plan by residues that a kernel chose, in device memory. Kernels that read it run before the host knows the plan.
struct ChosenResidues {
  std::int32_t moduli;  ///< 0: no plan, and there is nothing to multiply
  std::int32_t bits_a, bits_b;
  ResidueReduction times_inverse[max_moduli];  ///< as in ResidueArguments
};

/// A plan in device memory for launches that do not know it.
struct LaterPlan {
  const ChosenResidues* chosen = nullptr;  ///< null: the launch knows its plan
  int expected_moduli = 0;                 ///< affects speed only
  int least_moduli = 2;                    ///< that the plan may have
};

}  // namespace ozbound::gpu
