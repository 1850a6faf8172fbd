// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "chosen_residues.hpp"
#include "first_look.hpp"
#include "ozbound/bounds/product_start.hpp"

namespace ozbound::gpu {

/// Native DGEMM, where no plan by residues is chosen.
struct NativeChoice {
  std::int32_t* chosen = nullptr;  ///< in device memory: receives 1 if native DGEMM is chosen, else 0; null: it never is
  // Native DGEMM certifies the target if the sums of both operands' exponents lie within these (native_range).
  std::int32_t least = 0, top = 0;
};

/// The choice of a plan by residues as ResidueNeeds makes it, from both looks and level 1, where an entry's allowance is
/// `factor` times its magnitude.
struct ResidueChoice {
  FirstLook a, b;
  LeastSums row_least, column_least;
  const std::uint32_t* loose;  ///< as in FirstLooks
  const std::uint64_t* largest_units;
  Index k;
  double factor;
  ProductStart start;
  ChosenResidues* chosen;  ///< the result
  std::int32_t* told;      ///< in memory that the device can write: receives the result's moduli and bits
  NativeChoice native = {};
};

/// Chooses no plan if level 1 is loose, or if the plan is none that `start` allows, or has more than most_narrow_bits bits.
/// Limits by bits do not hold where native DGEMM might be chosen but does not certify the target.
/// @pre level 1 is launched, with 32-bit sums.
void launch_residue_choice(const ResidueChoice& choice, cudaStream_t stream);

/// Sets *chosen to a plan that is known. @pre it has at most max_moduli moduli, and at most most_narrow_bits bits.
void launch_known_plan(const ResiduePlan& plan, ChosenResidues* chosen, cudaStream_t stream);

/// The moduli that a share of magnitudes usually asks for: eight bits more than it has, on both sides, for the entries that
/// allow least, and the bits of k sums. Affects speed only.
int expected_moduli(double factor, Index k, int most);

}  // namespace ozbound::gpu
