// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "arena.hpp"
#include "chosen_residues.hpp"
#include "device_epilogue.hpp"
#include "first_look.hpp"

namespace ozbound::gpu {

/// The ingredients of a bound of residues: ||a_i||_1 in every column, ||b_j||_1 in every row (ResidueFacts), or the error of a
/// plan (residue_error_upper).
struct ResidueBoundKind {
  enum class Of { row_sums, column_sums, plan };

  Of of;
  int bits_a = 0, bits_b = 0;              ///< of the plan
  const ChosenResidues* chosen = nullptr;  ///< in device memory; if not null, replaces these bits

  [[nodiscard]] OZB_HD constexpr Index outer_products() const { return of == Of::plan ? 2 : 1; }
};

/// A bound relative to 2^(row_exponents[i] + column_exponents[j]), made from both looks, equal to core's bit for bit. Takes its
/// memory from the arena, and launches unless the arena only counts.
struct LookedBound {
  DeviceBound bound;
  const std::int32_t* row_exponents;
  const std::int32_t* column_exponents;
};
LookedBound launch_residue_bound(const ResidueBoundKind& kind, const FirstLook& a, const FirstLook& b, Index k, Arena& arena,
                                 cudaStream_t stream);

}  // namespace ozbound::gpu
