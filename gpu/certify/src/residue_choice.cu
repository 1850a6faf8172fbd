// SPDX-License-Identifier: BSD-3-Clause
#include "residue_choice.hpp"

#include <cstdint>

#include "cuda_check.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/detail/magnitude_levels.hpp"
#include "ozbound/bounds/detail/part_norms.hpp"
#include "ozbound/bounds/detail/residue_choice.hpp"
#include "residues.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 1024, warps = threads / 32;

struct Tables {
  ResidueHalves halves;  ///< copied to shared memory, where a read takes less time
  std::int16_t modulus[max_moduli] = {};
  std::uint8_t inverse[max_moduli + 1][max_moduli] = {};  ///< [N][t]: (P / p_t)^-1 mod p_t of the first N moduli

  constexpr Tables() {
    for (int t = 0; t < max_moduli; ++t) modulus[t] = static_cast<std::int16_t>(residue_moduli[t]);
    for (int n = 2; n <= max_moduli; ++n)
      for (int t = 0; t < n; ++t) {
        std::int32_t rest = 1;
        for (int s = 0; s < n; ++s)
          if (s != t) rest = rest * (residue_moduli[s] % residue_moduli[t]) % residue_moduli[t];
        inverse[n][t] = static_cast<std::uint8_t>(inverse_mod(rest, residue_moduli[t]));
      }
  }
};
__device__ const Tables tables;

/// What one operand asks for.
struct SideNeeds {
  double ratio = 0;  ///< the largest ||.||_1 of a vector over the least error that its entries allow
  std::int32_t exact_bits = 0;

  __device__ void take(const SideNeeds& other) {
    ratio = max(ratio, other.ratio);
    exact_bits = max(exact_bits, other.exact_bits);
  }
};

/// The needs of a thread's vectors.
__device__ SideNeeds needs_of_vectors(const FirstLook& look, const LeastSums& least, Index k, double factor) {
  SideNeeds needs;
  for (Index i = threadIdx.x; i < look.norms.count; i += threads) {
    if (look.norms.word(2, i) != 0) needs.exact_bits = max(needs.exact_bits, look.digits.exponents[i] - look.norms.last_bit(i));
    if (!least.any(i)) continue;
    const double error = multiply_upper(relative_sum_upper(look.norms.word(0, i)), 1);
    const double allowed = multiply_lower(factor, level_one(least.of(i), 1, 1, k).lower);
    needs.ratio = max(needs.ratio, ratio_upper(error, allowed));
  }
  return needs;
}

/// The needs of all threads, in every thread of the first warp.
__device__ SideNeeds of_block(SideNeeds needs, SideNeeds (&shared)[warps]) {
  const auto of_warp = [](SideNeeds of) {
    for (int offset = 16; offset > 0; offset /= 2)
      of.take({__shfl_xor_sync(~0u, of.ratio, offset), __shfl_xor_sync(~0u, of.exact_bits, offset)});
    return of;
  };
  needs = of_warp(needs);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = needs;
  __syncthreads();
  return of_warp(shared[threadIdx.x % warps]);
}

/// The least rank of a choice. Called by a whole warp.
__device__ std::uint32_t least_rank(const ResidueNeeds& needs) {
  auto least = ResidueNeeds::no_choice;
  for (int which = static_cast<int>(threadIdx.x); which < ResidueNeeds::choices; which += 32)
    least = min(least, needs.rank(which));
  for (int offset = 16; offset > 0; offset /= 2) least = min(least, __shfl_xor_sync(~0u, least, offset));
  return least;
}

/// ResidueNeeds::fewest_moduli, by a whole warp.
__device__ int fewest_moduli(const ResidueNeeds& needs, const ResidueHalves& halves, const ResidueBits& bits) {
  static_assert(max_moduli < 32);
  const int moduli = static_cast<int>(threadIdx.x) % 32;
  return __ffs(static_cast<int>(__ballot_sync(~0u, moduli >= 2 && moduli <= max_moduli && needs.holds(halves, moduli, bits)))) -
         1;
}

/// The plan, or one without moduli. Called by a whole warp.
__device__ ResiduePlan plan_for(const ResidueChoice& f, const ResidueNeeds& needs, const ResidueHalves& halves) {
  const ResiduePlan none{0, 0, 0};
  const auto rank = least_rank(needs);
  if (rank == ResidueNeeds::no_choice || *f.loose != 0) return none;
  const auto bits = needs.ranked(rank);
  const int moduli = fewest_moduli(needs, halves, bits);
  if (moduli < 2 || moduli > f.start.most_moduli || moduli > f.start.most_by_bits[(bits.sum() + 1) / 2]) return none;
  const auto spent = needs.spend(halves, bits, moduli);
  return max(spent.a, spent.b) > most_narrow_bits ? none : ResiduePlan{moduli, spent.a, spent.b};
}

__global__ void __launch_bounds__(threads) choose_residues(const __grid_constant__ ResidueChoice f) {
  __shared__ SideNeeds of_rows[warps], of_columns[warps];
  __shared__ int moduli;
  constexpr int limbs = sizeof(ResidueHalves) / sizeof(std::uint64_t);
  __shared__ std::uint64_t halves[limbs];
  if (threadIdx.x < limbs) halves[threadIdx.x] = reinterpret_cast<const std::uint64_t*>(&tables.halves)[threadIdx.x];
  const auto rows = of_block(needs_of_vectors(f.a, f.row_least, f.k, f.factor), of_rows);
  const auto columns = of_block(needs_of_vectors(f.b, f.column_least, f.k, f.factor), of_columns);
  if (threadIdx.x < 32) {
    const ResidueNeeds needs{columns.ratio, rows.ratio, rows.exact_bits, columns.exact_bits, *f.largest_units, f.k};
    const auto plan = plan_for(f, needs, reinterpret_cast<const ResidueHalves&>(halves));
    if (threadIdx.x == 0) {
      moduli = plan.moduli;
      f.chosen->moduli = plan.moduli, f.chosen->bits_a = plan.bits_a, f.chosen->bits_b = plan.bits_b;
      f.told[0] = plan.moduli, f.told[1] = plan.bits_a, f.told[2] = plan.bits_b;
    }
  }
  __syncthreads();
  const int t = static_cast<int>(threadIdx.x);
  if (t < moduli) f.chosen->times_inverse[t] = ResidueReduction::of(tables.modulus[t], tables.inverse[moduli][t]);
}

}  // namespace

void launch_residue_choice(const ResidueChoice& choice, cudaStream_t stream) {
  choose_residues<<<1, threads, 0, stream>>>(choice);
  check_launch("choose_residues");
}

}  // namespace ozbound::gpu
