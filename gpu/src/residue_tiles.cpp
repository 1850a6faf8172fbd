// SPDX-License-Identifier: BSD-3-Clause
#include "residue_tiles.hpp"

#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/dyadic.hpp"

namespace ozbound::gpu {

ResidueReduction ResidueReduction::of(std::int32_t p, std::int32_t factor) {
  constexpr std::int32_t middle = 3 << 22;
  const std::int32_t multiple = 256 * p * ((middle + 128 * p) / (256 * p));
  ResidueReduction r;
  std::int64_t power = factor;
  for (int i = 0; i < 4; ++i, power = power * 256 % p)
    r.weights |= static_cast<std::uint32_t>(balanced(power, p) & 0xff) << (8 * i);
  r.offset = static_cast<std::int32_t>(bits_of(static_cast<float>(multiple))) +
             balanced(-static_cast<std::int64_t>(power_mod(31, p)) * factor, p);
  r.reciprocal = 1 / static_cast<float>(p);
  r.constant = static_cast<float>(middle - multiple / p);
  r.minus_p = -p;
  return r;
}

void ResidueArguments::set_reductions() {
  chunk_steps = static_cast<int>((residue_int32_terms - 1) / residue_step);  // leaves room for a residue below 2^7
  const auto base = ResidueBase::of(moduli);
  for (int t = 0; t < moduli; ++t) {
    plain[t] = ResidueReduction::of(residue_moduli[t], 1);
    times_inverse[t] = ResidueReduction::of(residue_moduli[t], base.inverse[t]);
  }
}

}  // namespace ozbound::gpu
