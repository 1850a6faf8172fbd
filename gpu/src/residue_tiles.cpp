// SPDX-License-Identifier: BSD-3-Clause
#include "residue_tiles.hpp"

#include <algorithm>
#include <array>

#include "ozbound/core/detail/residue_arithmetic.hpp"

namespace ozbound::gpu {
namespace {

/// Reductions for each number of moduli. To compute them for one product takes as long as to launch several kernels.
struct AllReductions {
  std::array<ResidueReduction, max_moduli> plain = {};
  std::array<std::array<ResidueReduction, max_moduli>, max_moduli + 1> times_inverse = {};  ///< [N][t]: of the first N moduli

  AllReductions() {
    for (std::size_t t = 0; t < max_moduli; ++t) plain[t] = ResidueReduction::of(residue_moduli[t], 1);
    for (std::size_t n = 2; n <= max_moduli; ++n) {
      const auto base = ResidueBase::of(static_cast<int>(n));
      for (std::size_t t = 0; t < n; ++t) times_inverse[n][t] = ResidueReduction::of(residue_moduli[t], base.inverse[t]);
    }
  }
};

}  // namespace

void ResidueArguments::set_reductions() {
  static const AllReductions all;
  chunk_steps = static_cast<int>((residue_int32_terms - 1) / residue_step);  // leaves room for a residue below 2^7
  std::copy_n(all.plain.begin(), moduli, plain);
  std::copy_n(all.times_inverse[static_cast<std::size_t>(moduli)].begin(), moduli, times_inverse);
}

}  // namespace ozbound::gpu
