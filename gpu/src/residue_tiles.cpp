// SPDX-License-Identifier: BSD-3-Clause
#include "residue_tiles.hpp"

#include "ozbound/core/detail/residue_arithmetic.hpp"

namespace ozbound::gpu {

void ResidueArguments::set_reductions() {
  chunk_steps = static_cast<int>((residue_int32_terms - 1) / residue_step);  // leaves room for a residue below 2^7
  const auto base = ResidueBase::of(moduli);
  for (int t = 0; t < moduli; ++t) {
    plain[t] = ResidueReduction::of(residue_moduli[t], 1);
    times_inverse[t] = ResidueReduction::of(residue_moduli[t], base.inverse[t]);
  }
}

}  // namespace ozbound::gpu
