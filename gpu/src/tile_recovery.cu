// SPDX-License-Identifier: BSD-3-Clause
#include "tile_recovery.cuh"

namespace ozbound::gpu {
namespace {

/// Adds 128 to each byte, an int8.
__device__ uint2 raised_by_128(uint2 x) {
  constexpr unsigned signs = 0x80808080;
  return {x.x ^ signs, x.y ^ signs};
}

/// Finishes a thread's entries, in all cases.
template <int Limbs, int Columns>
__global__ void __launch_bounds__(recovering_threads, 2)
    recover_tiles(const __grid_constant__ TileRecovery f, const __grid_constant__ ResidueConstants moduli) {
  const TilePart<Columns> part(blockIdx.x, f.column_tiles);
  if (part.outside(f.block)) return;
  const auto* const from = reinterpret_cast<const uint2*>(f.bytes + part.byte);
  uint2 words[max_moduli_of<Limbs>];
#pragma unroll
  for (int t = 0; t < max_moduli_of<Limbs>; ++t)
    if (t < moduli.count) words[t] = raised_by_128(__ldcs(from + t * (f.modulus_bytes / 8)));
  const bool plain = is_plain(f.epilogue);  // the scalars may lie on the device
#pragma unroll
  for (int w = 0; w < 2; ++w)
#pragma unroll 1
    for (int e = 0; e < 4; ++e) {
      const auto digit_of = [&](int t) {
        const auto word = w == 0 ? words[t].x : words[t].y;
        const auto raised = static_cast<std::int32_t>(__byte_perm(word, 0, 0x4440 + e));  // byte e, and zeros
        return __hiloint2double(0x43300000, raised) - (0x1p52 + 128);                     // as a double
      };
      const RecoveredInteger<Limbs> integer(moduli, digit_of);
      const Index i = part.i(4 * w + e), j = part.j(4 * w + e);
      if (!plain || !round_entry(f, i, j, integer)) finish_any(f, moduli, i, j, integer);
    }
}

/// Each block takes one part of C.
template <int Triples, int Limbs, int Columns, bool Two, bool Ziv>
__global__ void __launch_bounds__(recovering_threads, Triples > 5 || Ziv ? 2 : 3)
    round_tiles(const __grid_constant__ TileRecovery f, const __grid_constant__ ResidueConstants moduli,
                const __grid_constant__ ResidueTriples triples, int unit) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();  // the previous kernel has written the bytes
#endif
  Unseen unseen;
  round_part<Triples, Limbs, Columns, Two, Ziv>(f, moduli, triples, unit, blockIdx.x, unseen);
}

/// Fewer triples have integers of at most two words; Ziv's test then is that of doubles.
constexpr int fewest_ziv_triples = 3;

template <int Triples, int Limbs, int Columns>
void launch_rounding(const TileRecovery& f, int moduli, const FusedResidues::Bytes& bytes, cudaStream_t stream) {
  with_two<Triples>(moduli, [&](auto two) {
    const auto launch = [&](auto kernel) {
      launch_early(kernel, parts_of<Columns>(bytes), stream, f, residue_constants(moduli), ResidueTriples::of(moduli),
                   f.unit());
    };
    if constexpr (Triples >= fewest_ziv_triples)
      if (f.epilogue.bound != nullptr) return launch(round_tiles<Triples, Limbs, Columns, two, true>);
    launch(round_tiles<Triples, Limbs, Columns, two, false>);
  });
}

template <int Columns>
void launch_tiles(const TileRecovery& f, int moduli, const FusedResidues::Bytes& bytes, cudaStream_t stream) {
  const bool ziv_by_doubles = f.epilogue.bound != nullptr && triples_of(moduli) < fewest_ziv_triples;
  if (!is_known_plain(f.epilogue) || ziv_by_doubles)
    return with_limbs(moduli, [&](auto limbs) {
      recover_tiles<limbs, Columns><<<parts_of<Columns>(bytes), recovering_threads, 0, stream>>>(f, residue_constants(moduli));
    });
  with_triples(moduli, [&](auto triples, auto limbs) { launch_rounding<triples, limbs, Columns>(f, moduli, bytes, stream); });
}

}  // namespace

void launch_recovery(const Combination& combination, int moduli, const DeviceSlices& a, const DeviceSlices& b,
                     const Block& block, const FusedResidues::Bytes& bytes, const DeviceEpilogue& epilogue,
                     const OperandPair& operands, cudaStream_t stream) {
  const TileRecovery f{
      a, b, block, bytes.data, bytes.modulus_bytes, bytes.column_tiles, operands, epilogue, combination.layout};
  if (bytes.columns == 256)
    launch_tiles<256>(f, moduli, bytes, stream);
  else
    launch_tiles<128>(f, moduli, bytes, stream);
  check_launch("recover_tiles");
}

}  // namespace ozbound::gpu
