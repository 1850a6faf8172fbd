// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_check.hpp"
#include "entries.cuh"
#include "recovery.cuh"
#include "recovery.hpp"

namespace ozbound::gpu {
namespace {

/// c_t from sums of products that are below 2^Bits.
template <int Bits, class SumOf>
struct DigitsOfSums {
  const ResidueConstants& moduli;
  SumOf sum_of;

  __device__ double operator()(int t) const {
    const double p = moduli.modulus[t], reciprocal = moduli.reciprocal[t];
    double z = static_cast<double>(sum_of(t));
    if (Bits > 38) z = rest_of(z, p, reciprocal);  // its product is then below 2^46 too
    return rest_of(z * moduli.inverse[t], p, reciprocal);
  }
};

/// Bits of sums of k products. INT32 sums have at most residue_int32_terms terms.
template <class Sum>
constexpr int bits_of_sums = sizeof(Sum) == sizeof(std::int32_t) ? 31 : 46;

template <int Limbs, class Sum>
__global__ void __launch_bounds__(combining_threads)
    recover_entries(const __grid_constant__ ResidueConstants moduli, const __grid_constant__ SumLayout layout,
                    const __grid_constant__ DeviceSlices a, const __grid_constant__ DeviceSlices b, const Block block,
                    const BlockSums<Sum> sums, const __grid_constant__ DeviceEpilogue epilogue) {
  const EntryOfThread at(block, by_row(epilogue.c));
  if (!at.exists) return;
  const auto sum_of = [&](int t) { return sums.at(t, at.i, at.j); };
  const RecoveredInteger<Limbs> integer(moduli, DigitsOfSums<bits_of_sums<Sum>, decltype(sum_of)>{moduli, sum_of});
  finish_recovered(block.row + at.i, block.column + at.j, integer, moduli, layout, a, b, epilogue, is_plain(epilogue));
}

template <int Limbs>
__global__ void __launch_bounds__(combining_threads)
    recover_groups(const __grid_constant__ ResidueConstants moduli, const Block block, const BlockSums<std::int64_t> sums) {
  const EntryOfThread at(block, false);
  if (!at.exists) return;
  const auto sum_of = [&](int t) { return sums.at(t, at.i, at.j); };
  const RecoveredInteger<Limbs> integer(moduli, DigitsOfSums<46, decltype(sum_of)>{moduli, sum_of});
  integer.to_groups(true, &sums.at(0, at.i, at.j), sums.group_stride);
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
