// SPDX-License-Identifier: BSD-3-Clause
#include "recovery.hpp"

#include <type_traits>

#include "combine_entry.cuh"
#include "cuda_check.hpp"
#include "entries.cuh"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/detail/residue_constants.hpp"

// C' from its residues by doubles that are integers, exact in any order below 2^53 (docs/derivations/residues.md, R6, R7).

namespace ozbound::gpu {
namespace {

/// z - p RN(z / p), for |z| < 2^46: the balanced residue, but for 256, whose ties may come as +128.
__device__ double rest_of(double z, double p, double reciprocal) { return z - rint(z * reciprocal) * p; }

/// Whether an integer of limbs in radix 2^bits, most significant first and each below 2^53, is above 0.
template <int Limbs>
__device__ bool is_positive(const std::int64_t (&limbs)[Limbs], int bits) {
  std::int64_t carry = 0;
  bool rest = false;
  for (int g = Limbs - 1; g > 0; --g) {
    carry += limbs[g];
    rest = rest || (carry & ((std::int64_t{1} << bits) - 1)) != 0;
    carry >>= bits;
  }
  carry += limbs[0];
  return carry > 0 || (carry == 0 && rest);
}

/// C' as limbs in radix 2^limb_bits, most significant first: below 2^51 each, not carried.
template <int Limbs>
struct RecoveredInteger {
  std::int64_t limbs[Limbs];

  /// @param sum_of gives the sum of a modulus, below 2^Bits.
  template <int Bits, class SumOf>
  __device__ static RecoveredInteger of(const ResidueConstants& moduli, const SumOf& sum_of) {
    double limb[Limbs] = {};
    for (int t = 0; t < moduli.count; ++t) {
      const double p = moduli.modulus[t], reciprocal = moduli.reciprocal[t];
      double z = static_cast<double>(sum_of(t));
      if (Bits > 38) z = rest_of(z, p, reciprocal);  // so that its product is below 2^46 too
      const double c = rest_of(z * moduli.inverse[t], p, reciprocal);
#pragma unroll
      for (int g = 0; g < Limbs; ++g) limb[g] += c * moduli.weight[t][g];
    }
    const double share = limb[0] * moduli.reciprocal_product, quotient = rint(share);
    RecoveredInteger result;
#pragma unroll
    for (int g = 0; g < Limbs; ++g) result.limbs[g] = __double2ll_rn(limb[g] - quotient * moduli.product[g]);
    if (fabs(share - quotient) > 0.5 - 0x1p-8) result.take_nearest(moduli);
    return result;
  }

  /// The same as groups of a carry chain of a radix of so many bits, carried: from 0 to the radix less 1 but for the first.
  __device__ void carry(int bits) {
#pragma unroll
    for (int g = Limbs - 1; g > 0; --g) {
      limbs[g - 1] += limbs[g] >> bits;
      limbs[g] &= (std::int64_t{1} << bits) - 1;
    }
  }

  /// The groups that residue_layout has, at groups[g * stride]; `carried` as recovered_groups.
  __device__ void to_groups(const ResidueConstants& moduli, bool carried, std::int64_t* groups, Index stride) {
    const int r = moduli.limb_bits;
    if (Limbs < 4 || moduli.groups == Limbs) {
      if (carried) carry(r);
#pragma unroll
      for (int g = 0; g < Limbs; ++g) groups[g * stride] = limbs[g];
      return;
    }
    if constexpr (Limbs == 4) {  // of 32 <= r <= 36 bits, into groups of 48
      const int a = 48 - r, b = 96 - 2 * r;
      carry(r);
      groups[2 * stride] = limbs[3] | (limbs[2] & ((std::int64_t{1} << a) - 1)) << r;
      groups[stride] = limbs[2] >> a | (limbs[1] & ((std::int64_t{1} << b) - 1)) << (r - a);
      groups[0] = (limbs[1] >> b) + limbs[0] * (std::int64_t{1} << (r - b));
    }
  }

 private:
  /// Adds or subtracts P until 2 |C'| < P, which holds one of these numbers alone: where the share is near a half, rint may
  /// have been one off.
  __device__ void take_nearest(const ResidueConstants& moduli) {
    for (const int sign : {1, -1}) {
      std::int64_t beyond[Limbs];  // 2 sign C' - P
#pragma unroll
      for (int g = 0; g < Limbs; ++g) beyond[g] = 2 * sign * limbs[g] - static_cast<std::int64_t>(moduli.product[g]);
      if (!is_positive(beyond, moduli.limb_bits)) continue;
#pragma unroll
      for (int g = 0; g < Limbs; ++g) limbs[g] -= sign * static_cast<std::int64_t>(moduli.product[g]);
    }
  }
};

/// Sums of k products: those in INT32 are of at most residue_int32_terms.
template <class Sum>
constexpr int bits_of_sums = sizeof(Sum) == sizeof(std::int32_t) ? 31 : 46;

template <int Limbs, class Sum>
__global__ void __launch_bounds__(combining_threads)
    recover_entries(const __grid_constant__ ResidueConstants moduli, const __grid_constant__ SumLayout layout,
                    const DeviceSlices a, const DeviceSlices b, const Block block, const BlockSums<Sum> sums,
                    const DeviceEpilogue epilogue) {
  const EntryOfThread at(block, by_row(epilogue.c));
  if (!at.exists) return;
  finish_entry(block.row + at.i, block.column + at.j, a, b, epilogue, [&](int scale, Dyadic c0, double error) {
    const auto sum_of = [&](int t) { return sums.at(t, at.i, at.j); };
    std::int64_t groups[Limbs];
    RecoveredInteger<Limbs>::template of<bits_of_sums<Sum>>(moduli, sum_of).to_groups(moduli, false, groups, 1);
    return combine(groups, 1, layout, scale, epilogue.scalars(), c0, error);
  });
}

template <int Limbs>
__global__ void __launch_bounds__(combining_threads)
    recover_groups(const __grid_constant__ ResidueConstants moduli, const Block block, const BlockSums<std::int64_t> sums) {
  const EntryOfThread at(block, false);
  if (!at.exists) return;
  const auto sum_of = [&](int t) { return sums.at(t, at.i, at.j); };
  RecoveredInteger<Limbs>::template of<46>(moduli, sum_of).to_groups(moduli, true, &sums.at(0, at.i, at.j), sums.group_stride);
}

/// Calls launch(std::integral_constant<int, limbs>) for the limbs of so many moduli.
template <class Launch>
void with_limbs(int moduli, const Launch& launch) {
  switch (residue_limbs_of(moduli)) {
    case 1: return launch(std::integral_constant<int, 1>());
    case 2: return launch(std::integral_constant<int, 2>());
    case 3: return launch(std::integral_constant<int, 3>());
    default: return launch(std::integral_constant<int, 4>());
  }
}

template <class Sum>
void launch(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
            const BlockSums<Sum>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream) {
  with_limbs(moduli, [&](auto limbs) {
    recover_entries<limbs, Sum><<<combining_blocks(block), combining_threads, 0, stream>>>(
        residue_constants(moduli), combination.layout, a, b, block, sums, epilogue);
  });
  check_launch("recover_entries");
}

}  // namespace

void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const BlockSums<std::int64_t>& sums, const DeviceEpilogue& epilogue,
                     cudaStream_t stream) {
  launch(combination, moduli, a, b, block, sums, epilogue, stream);
}

void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const BlockSums<std::int32_t>& sums, const DeviceEpilogue& epilogue,
                     cudaStream_t stream) {
  launch(combination, moduli, a, b, block, sums, epilogue, stream);
}

void launch_recovered_groups(int moduli, const Block& block, const BlockSums<std::int64_t>& sums, cudaStream_t stream) {
  with_limbs(moduli, [&](auto limbs) {
    recover_groups<limbs><<<combining_blocks(block), combining_threads, 0, stream>>>(residue_constants(moduli), block, sums);
  });
  check_launch("recover_groups");
}

}  // namespace ozbound::gpu
