// SPDX-License-Identifier: BSD-3-Clause
#include "residue_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cuda_check.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/detail/magnitude_levels.hpp"
#include "ozbound/bounds/detail/part_norms.hpp"
#include "ozbound/bounds/detail/residue_choice.hpp"
#include "residues.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 1024, warps = threads / 32, of_a_side = threads / 2;

struct Tables {
  ResidueHalves halves;                                             ///< copied to shared memory, where a read takes less time
  ResidueReduction times_inverse[max_moduli + 1][max_moduli] = {};  ///< [N][t]: as in ResidueArguments, of the first N moduli

  constexpr Tables() {
    for (int n = 2; n <= max_moduli; ++n)
      for (int t = 0; t < n; ++t) {
        std::int32_t rest = 1;
        for (int s = 0; s < n; ++s)
          if (s != t) rest = rest * (residue_moduli[s] % residue_moduli[t]) % residue_moduli[t];
        times_inverse[n][t] = ResidueReduction::of(residue_moduli[t], inverse_mod(rest, residue_moduli[t]));
      }
  }
};
__device__ const Tables tables;

/// These are the needs of one operand, the most that any of its vectors has.
struct SideNeeds {
  static constexpr std::int32_t beyond = 1 << 24;  // any exponent

  double ratio = 0;  ///< the largest ||.||_1 of a vector over the least error that its entries allow
  std::int32_t exact_bits = 0;
  std::int32_t least = beyond, top = -beyond;  ///< an ExponentRange that contains all elements

  __device__ void take(const SideNeeds& other) {
    ratio = max(ratio, other.ratio);
    exact_bits = max(exact_bits, other.exact_bits);
    least = min(least, other.least), top = max(top, other.top);
  }
  /// These needs in another lane, found by `shuffle`.
  template <class Shuffle>
  __device__ SideNeeds shuffled(const Shuffle& shuffle) const {
    return {shuffle(ratio), shuffle(exact_bits), shuffle(least), shuffle(top)};
  }
};

/// The needs of vectors first, first + of_a_side, …
__device__ SideNeeds needs_of_vectors(const FirstLook& look, const LeastSums& least, Index first, Index k, double factor) {
  SideNeeds needs;
#pragma unroll 4
  for (Index i = first; i < look.norms.count; i += of_a_side) {
    const auto sum = look.norms.word(0, i), largest = look.norms.word(2, i);  // all are read before one is used
    const int exponent = look.digits.exponents[i], last_bit = look.norms.last_bit(i);
    const auto least_sum = least.of(i);
    const bool any = least.any(i);
    if (largest != 0) needs.take({0, exponent - last_bit, last_bit, exponent - 1});
    const double error = multiply_upper(relative_sum_upper(sum), 1);
    const double allowed = multiply_lower(factor, level_one(least_sum, 1, 1, k).lower);
    if (any) needs.ratio = max(needs.ratio, ratio_upper(error, allowed));
  }
  return needs;
}

/// The needs of adjacent threads, in each of them.
template <int Lanes>
__device__ SideNeeds of_lanes(SideNeeds of) {
  for (int offset = Lanes / 2; offset > 0; offset /= 2)
    of.take(of.shuffled([offset](auto x) { return __shfl_xor_sync(~0u, x, offset); }));
  return of;
}

__device__ std::uint32_t least_of_warp(std::uint32_t x) {
  for (int offset = 16; offset > 0; offset /= 2) x = min(x, __shfl_xor_sync(~0u, x, offset));
  return x;
}

/// ResidueNeeds::fewest_moduli, by a whole warp.
__device__ int fewest_moduli(const ResidueNeeds& needs, const ResidueHalves& halves, const ResidueBits& bits) {
  static_assert(max_moduli < 32);
  const int moduli = static_cast<int>(threadIdx.x) % 32;
  return __ffs(static_cast<int>(__ballot_sync(~0u, moduli >= 2 && moduli <= max_moduli && needs.holds(halves, moduli, bits)))) -
         1;
}

/// True if native DGEMM may be chosen and certifies the target.
__device__ bool native_certifies(const NativeChoice& native, const SideNeeds& rows, const SideNeeds& columns) {
  if (native.chosen == nullptr) return false;
  const bool zero = rows.top < rows.least || columns.top < columns.least;
  return zero || (rows.least + columns.least >= native.least && rows.top + columns.top <= native.top);
}

/// The plan, or one without moduli. Called by a whole warp.
/// @param limited the limits by bits hold
__device__ ResiduePlan plan_for(const ResidueChoice& f, const ResidueNeeds& needs, std::uint32_t rank,
                                const ResidueHalves& halves, bool limited) {
  const ResiduePlan none{0, 0, 0};
  if (rank == ResidueNeeds::no_choice || *f.loose != 0) return none;
  const auto bits = needs.ranked(rank);
  const int fewest = fewest_moduli(needs, halves, bits), moduli = max(fewest, f.start.least_moduli);
  if (fewest < 2 || moduli > f.start.most_moduli) return none;
  if (limited && moduli > f.start.most_by_bits[(bits.sum() + 1) / 2]) return none;
  const auto spent = needs.spend(halves, bits, moduli);
  return max(spent.a, spent.b) > most_narrow_bits ? none : ResiduePlan{moduli, spent.a, spent.b};
}

__global__ void __launch_bounds__(threads) choose_residues(const __grid_constant__ ResidueChoice f) {
  constexpr int limbs = sizeof(ResidueHalves) / sizeof(std::uint64_t), ranking_warps = (ResidueNeeds::choices + 31) / 32;
  __shared__ SideNeeds of_warps[warps];
  __shared__ std::uint32_t ranks[ranking_warps];
  __shared__ std::uint64_t halves[limbs];
  __shared__ int moduli;
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  if (t < limbs) halves[t] = reinterpret_cast<const std::uint64_t*>(&tables.halves)[t];
  const auto own = t < of_a_side ? needs_of_vectors(f.a, f.row_least, t, f.k, f.factor)
                                 : needs_of_vectors(f.b, f.column_least, t - of_a_side, f.k, f.factor);
  const auto of_warp = of_lanes<32>(own);
  if (t % 32 == 0) of_warps[warp] = of_warp;
  __syncthreads();
  if (warp < ranking_warps) {
    const auto side = of_lanes<16>(of_warps[t % 32]);  // A's in the first half of a warp, B's in the second
    const auto rows = side.shuffled([](auto x) { return __shfl_sync(~0u, x, 0); });
    const auto columns = side.shuffled([](auto x) { return __shfl_sync(~0u, x, 16); });
    const ResidueNeeds needs{columns.ratio, rows.ratio, rows.exact_bits, columns.exact_bits, *f.largest_units, f.k};
    const auto rank = least_of_warp(t < ResidueNeeds::choices ? needs.rank(t) : ResidueNeeds::no_choice);
    if (t % 32 == 0) ranks[warp] = rank;
    asm volatile("barrier.sync 1, %0;" ::"n"(32 * ranking_warps) : "memory");
    if (warp == 0) {
      auto least = ranks[0];
      for (int w = 1; w < ranking_warps; ++w) least = min(least, ranks[w]);
      const bool native = native_certifies(f.native, rows, columns), limited = native || f.native.chosen == nullptr;
      const auto plan = plan_for(f, needs, least, reinterpret_cast<const ResidueHalves&>(halves), limited);
      if (t == 0) {
        if (f.native.chosen != nullptr) *f.native.chosen = native && plan.moduli == 0 ? 1 : 0;
        moduli = plan.moduli;
        f.chosen->moduli = plan.moduli, f.chosen->bits_a = plan.bits_a, f.chosen->bits_b = plan.bits_b;
        f.told[0] = plan.moduli, f.told[1] = plan.bits_a, f.told[2] = plan.bits_b;
      }
    }
  }
  __syncthreads();
  if (t < moduli) f.chosen->times_inverse[t] = tables.times_inverse[moduli][t];
}

__global__ void take_plan(const ResiduePlan plan, ChosenResidues* chosen) {
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) chosen->moduli = plan.moduli, chosen->bits_a = plan.bits_a, chosen->bits_b = plan.bits_b;
  if (t < plan.moduli) chosen->times_inverse[t] = tables.times_inverse[plan.moduli][t];
}

}  // namespace

int expected_moduli(double factor, Index k, int most) {
  constexpr double worst_entries = 8, bits_each = 7.8;
  const double bits = 2 * (worst_entries - std::log2(factor)) + std::log2(static_cast<double>(k)) + 1;
  return static_cast<int>(std::clamp(std::ceil(bits / bits_each), 2.0, static_cast<double>(most)));
}

void launch_known_plan(const ResiduePlan& plan, ChosenResidues* chosen, cudaStream_t stream) {
  static_assert(max_moduli <= 32);
  take_plan<<<1, 32, 0, stream>>>(plan, chosen);
  check_launch("take_plan");
}

void launch_residue_choice(const ResidueChoice& choice, cudaStream_t stream) {
  choose_residues<<<1, threads, 0, stream>>>(choice);
  check_launch("choose_residues");
}

}  // namespace ozbound::gpu
