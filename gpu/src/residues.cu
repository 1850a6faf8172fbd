// SPDX-License-Identifier: BSD-3-Clause
#include "residues.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/detail/residue_constants.hpp"
#include "tiles.cuh"
#include "tops.hpp"

namespace ozbound::gpu {
namespace {

/// The moduli, and 2^shift modulo each of them, balanced, for the shifts that integers of most_residue_bits bits have.
struct Powers {
  static constexpr int count = most_residue_bits + 1;
  std::int16_t modulus[max_moduli] = {};
  std::int8_t of[count][max_moduli] = {};

  constexpr Powers() {
    std::int32_t power[max_moduli] = {};
    for (int t = 0; t < max_moduli; ++t) power[t] = 1, modulus[t] = static_cast<std::int16_t>(residue_moduli[t]);
    for (auto& row : of)
      for (int t = 0; t < max_moduli; ++t) {
        row[t] = static_cast<std::int8_t>(2 * power[t] >= residue_moduli[t] ? power[t] - residue_moduli[t] : power[t]);
        power[t] = 2 * power[t] % residue_moduli[t];
      }
  }
};
__device__ const Powers powers;

/// z - p RN(z / p), as an int8 is stored: for |z| < 2^19 the rounding errors of binary32 decide nothing (R7), and of 256 a tie
/// has the same byte either way.
__device__ std::int32_t rest_of(std::int32_t z, std::int32_t p, float reciprocal) {
  return z - __float2int_rn(static_cast<float>(z) * reciprocal) * p;
}

/// The residue of an integer modulo modulus t. @pre its magnitude is 0, or at most 2^53 with a shift that Powers knows.
__device__ std::int32_t residue(const RoundedInteger& m, int t, const ResidueConstants& of) {
  const auto low = static_cast<std::uint32_t>(m.magnitude), high = static_cast<std::uint32_t>(m.magnitude >> 32);
  std::int32_t z = 0;  // eight products of a byte and a balanced residue: |z| <= 8 * 255 * 128 < 2^18
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(z) : "r"(low), "r"(of.byte_weights[t][0]));
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(z) : "r"(high), "r"(of.byte_weights[t][1]));
  const std::int32_t p = powers.modulus[t];
  const auto reciprocal = static_cast<float>(of.reciprocal[t]);
  auto rest = rest_of(m.negative ? -z : z, p, reciprocal);
  if (m.shift > 0 && rest != 0) rest = rest_of(rest * powers.of[m.shift][t], p, reciprocal);
  return rest;
}

/// Writes the residues of a tile.
__global__ void __launch_bounds__(tile_threads)
    make_residues(Vectors x, int bits, DeviceSlices out, const __grid_constant__ ResidueConstants of) {
  __shared__ OperandTile tile;
  const TileStart at(out.padded);
  tile.load(x, residue_measure.encoding, at, out);
  for (int place = static_cast<int>(threadIdx.x); place < tile_vectors * tile_elements / 4; place += tile_threads) {
    const int v = place / (tile_elements / 4), l = place % (tile_elements / 4) * 4;
    RoundedInteger integers[4];
    for (int e = 0; e < 4; ++e)
      integers[e] = RoundedInteger::of(to_dyadic(tile.finite_bits(v, l + e), binary64), tile.exponents[v] - bits);
    auto* const first = out.digits + (at.vector + v) * out.pitch() + at.element + l;
    for (int t = 0; t < out.slices; ++t) {
      std::uint32_t word = 0;
#pragma unroll
      for (int e = 0; e < 4; ++e) word |= (static_cast<std::uint32_t>(residue(integers[e], t, of)) & 0xff) << (8 * e);
      *reinterpret_cast<std::uint32_t*>(first + out.offset(t + 1)) = word;
    }
  }
}

constexpr int threads = 128, warps = threads / 32;

/// The last bit of elements begin, begin + step, … of vector i.
__device__ std::int32_t last_bit(const Vectors& x, Index i, Index begin, Index step, std::int32_t of_none) {
  std::int32_t last = of_none;
  for (Index l = begin; l < x.inner; l += step) {
    const auto element = to_dyadic(x.bits(i, l), binary64);
    if (element.magnitude != 0) last = min(last, element.exponent + __ffsll(static_cast<long long>(element.magnitude)) - 1);
  }
  return last;
}

/// A warp for each vector, or for 32 of them where neighbouring vectors lie closer than neighbouring elements.
__global__ void __launch_bounds__(threads)
    find_last_bits(const Vectors x, const std::uint64_t* tops, std::int32_t of_none, std::int32_t* last_bits) {
  const Index task = Index{blockIdx.x} * warps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool together = x.vectors_together();
  const Index i = together ? task * 32 + lane : task;
  const bool counts = i < x.count && is_finite(tops[i], binary64);
  auto last = !counts ? of_none : together ? last_bit(x, i, 0, 1, of_none) : last_bit(x, i, lane, 32, of_none);
  if (!together)
    for (int offset = 16; offset > 0; offset /= 2) last = min(last, __shfl_xor_sync(~0u, last, offset));
  if (i < x.count && (together || lane == 0)) last_bits[i] = last;
}

}  // namespace

DeviceSlices take_residues(Arena& arena, ResidueForm form, Index count, Index inner) {
  DeviceSlices residues;
  residues.count = count;
  residues.inner = inner;
  residues.padded = round_up(std::max<Index>(inner, 1), DeviceSlices::digit_step);
  residues.slices = form.moduli;
  residues.modulus_vectors = round_up(std::max<Index>(count, 1), DeviceSlices::vector_step);
  residues.digits = arena.take<std::int8_t>(form.moduli * residues.modulus_vectors * residues.padded);
  residues.exponents = arena.take<std::int32_t>(count);
  residues.special = arena.take<std::uint8_t>(count);
  residues.tops = arena.take<std::uint64_t>(count);
  residues.any_special = arena.take<std::uint32_t>(1);
  return residues;
}

void launch_residues(const DeviceMatrix& vectors, ResidueForm form, const DeviceSlices& residues, cudaStream_t stream) {
  check(cudaMemsetAsync(residues.any_special, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  if (residues.count == 0) return;
  launch_tops(vectors, residues.count, residues.inner, residues.tops, stream);
  make_residues<<<tiles(residues), tile_threads, 0, stream>>>({vectors, residues.count, residues.inner}, form.bits, residues,
                                                              residue_constants(form.moduli));
  check_launch("make_residues");
}

void launch_last_bits(const DeviceMatrix& vectors, Index count, Index inner, const std::uint64_t* tops, std::int32_t of_none,
                      std::int32_t* last_bits, cudaStream_t stream) {
  if (count == 0) return;
  const Vectors x{vectors, count, inner};
  const Index tasks = x.vectors_together() ? (count + 31) / 32 : count;
  find_last_bits<<<static_cast<unsigned>((tasks + warps - 1) / warps), threads, 0, stream>>>(x, tops, of_none, last_bits);
  check_launch("find_last_bits");
}

}  // namespace ozbound::gpu
