// SPDX-License-Identifier: BSD-3-Clause
#include "residues.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "element_reduction.cuh"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "tiles.cuh"
#include "tops.hpp"

namespace ozbound::gpu {
namespace {

/// 2^shift modulo each modulus, balanced, for all shifts of integers of most_residue_bits bits.
struct Powers {
  static constexpr int count = most_residue_bits + 1;
  std::int8_t of[count][max_moduli] = {};

  constexpr Powers() {
    std::int32_t power[max_moduli] = {};
    for (int t = 0; t < max_moduli; ++t) power[t] = 1;
    for (auto& row : of)
      for (int t = 0; t < max_moduli; ++t) {
        row[t] = static_cast<std::int8_t>(2 * power[t] >= residue_moduli[t] ? power[t] - residue_moduli[t] : power[t]);
        power[t] = 2 * power[t] % residue_moduli[t];
      }
  }
};
__device__ const Powers powers;

/// An integer m 2^shift, with m as signed bytes. Without `Wide` there is no shift, and the integer is at most 2^62.
template <bool Wide>
struct ElementInteger {
  std::uint64_t signed_bytes;
  int shift;

  ElementInteger() = default;
  explicit __device__ ElementInteger(const RoundedInteger& x) : shift(Wide && x.magnitude != 0 ? x.shift : 0) {
    const auto magnitude = Wide || x.magnitude == 0 ? x.magnitude : x.magnitude << x.shift;
    signed_bytes = bytes_with_signs(x.negative ? -magnitude : magnitude);
  }
};

/// Writes the residues of a tile. `Wide`: integers may have more than 62 bits.
template <bool Wide>
__global__ void __launch_bounds__(tile_threads)
    make_residues(Vectors x, int bits, DeviceSlices out, const __grid_constant__ ElementReductions moduli) {
  __shared__ OperandTile tile;
  const TileStart at(out.padded);
  tile.load(x, residue_measure.encoding, at, out);
  for (int place = static_cast<int>(threadIdx.x); place < tile_vectors * tile_elements / 4; place += tile_threads) {
    const int v = place / (tile_elements / 4), l = place % (tile_elements / 4) * 4;
    ElementInteger<Wide> integers[4];
#pragma unroll
    for (int e = 0; e < 4; ++e)
      integers[e] =
          ElementInteger<Wide>(RoundedInteger::of(to_dyadic(tile.finite_bits(v, l + e), binary64), tile.exponents[v] - bits));
    auto* to = out.digits + (at.vector + v) * out.pitch() + at.element + l;
    for (int t = 0; t < out.slices; ++t, to += out.offset(2)) {
      const auto& modulus = moduli.of[t];
      std::uint32_t bytes[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        auto rest = modulus.rest(integers[e].signed_bytes);
        if (Wide && integers[e].shift > 0)
          rest = modulus.rest(middle_bits + std::int32_t{static_cast<std::int8_t>(rest)} * powers.of[integers[e].shift][t]);
        bytes[e] = static_cast<std::uint32_t>(rest);
      }
      *reinterpret_cast<std::uint32_t*>(to) = lowest_bytes(bytes);
    }
  }
}

constexpr int threads = 128, warps = threads / 32;

/// The position of the last set bit of elements begin, begin + step, … of vector i.
__device__ std::int32_t last_bit(const Vectors& x, Index i, Index begin, Index step, std::int32_t of_none) {
  std::int32_t last = of_none;
  for (Index l = begin; l < x.inner; l += step) {
    const auto element = to_dyadic(x.bits(i, l), binary64);
    if (element.magnitude != 0) last = min(last, element.exponent + __ffsll(static_cast<long long>(element.magnitude)) - 1);
  }
  return last;
}

/// One warp for each vector, or for 32 vectors if neighbouring vectors lie closer than neighbouring elements.
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
  const Vectors x{vectors, residues.count, residues.inner};
  const ElementReductions moduli(residue_constants(form.moduli));
  if (form.bits <= most_narrow_bits)
    make_residues<false><<<tiles(residues), tile_threads, 0, stream>>>(x, form.bits, residues, moduli);
  else
    make_residues<true><<<tiles(residues), tile_threads, 0, stream>>>(x, form.bits, residues, moduli);
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
