// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cuda_check.hpp"
#include "ozbound/core/digits.hpp"
#include "round_up.hpp"
#include "slicing.hpp"
#include "tiles.cuh"
#include "tops.hpp"
#include "vectors.cuh"

namespace ozbound::gpu {
namespace {

/// Exponents of the weights of nearest_adaptive's digits, one block for each vector; see adaptive_weights in core.
__global__ void find_adaptive_weights(Vectors x, Slicing slicing, const std::uint64_t* tops, std::int16_t* all_weights) {
  __shared__ std::int16_t weights[max_slices];
  __shared__ int top;
  constexpr int nothing_left = -100000;
  const Index i = blockIdx.x;
  const DeviceScale scale(tops[i], slicing.encoding);
  const int beta = slicing.encoding.beta;
  for (int slice = 1; slice <= slicing.slices; ++slice) {
    if (threadIdx.x == 0) top = nothing_left;
    __syncthreads();
    std::int8_t digits[max_slices];
    int thread_top = nothing_left;
    for (Index l = threadIdx.x; !scale.special && l < x.inner; l += tile_threads) {
      const auto tail = split(to_dyadic(x.bits(i, l), binary64), slice - 1, scale.exponent, weights, digits);
      if (tail.rest != 0) thread_top = max(thread_top, tail.ceil_log2());
    }
    if (thread_top != nothing_left) atomicMax(&top, thread_top);
    __syncthreads();
    if (threadIdx.x == 0) {
      const int before = slice == 1 ? 1 : weights[slice - 2];
      weights[slice - 1] = static_cast<std::int16_t>(top != nothing_left ? top - scale.exponent + 1 - beta : before - beta);
      all_weights[i * slicing.slices + slice - 1] = scale.special ? std::int16_t{0} : weights[slice - 1];
    }
    __syncthreads();
  }
}

/// Digits of one element under any encoding: digits[p - 1].
struct AnyDigits {
  Slicing slicing;

  __device__ void operator()(const std::uint64_t* bits, int scale, const std::int16_t* weights, std::uint32_t* words) const {
    for (int p = 0; p < slicing.slices; ++p) words[p] = 0;
    for (int e = 0; e < 4; ++e) {
      std::int8_t digits[max_slices];
      const auto x = to_dyadic(bits[e], binary64);
      if (weights == nullptr)
        split(x, slicing, scale, digits);
      else
        split(x, slicing.slices, scale, weights, digits);
      for (int p = 0; p < slicing.slices; ++p) words[p] |= std::uint32_t{static_cast<std::uint8_t>(digits[p])} << (8 * e);
    }
  }
};

/// Balanced digits of at most 8 slices. N = RN(x / weight of the last digit) fits 63 bits. Adding 128 at every digit except the
/// first carries as balanced_digits does.
template <int Slices>
struct BalancedDigits {
  static_assert(Slices <= 8);

  [[nodiscard]] static __device__ std::uint64_t biased(std::uint64_t bits, int scale) {
    const auto x = to_dyadic(bits, binary64);
    const int shift = x.exponent - (scale + Encoding::balanced().weight_exponent(Slices));
    const auto magnitude = shift >= 0 ? x.magnitude << shift : shift_right_to_nearest(x.magnitude, -shift);
    constexpr auto bias = Slices == 1 ? 0 : 0x8080808080808080 >> (8 * (9 - Slices));
    return ((x.negative ? -magnitude : magnitude) + bias) ^ bias;
  }

  __device__ void operator()(const std::uint64_t* bits, int scale, const std::int16_t*, std::uint32_t* words) const {
    std::uint64_t of[4];
    for (int e = 0; e < 4; ++e) of[e] = (bits[e] & ~binary64.sign) == 0 ? 0 : biased(bits[e], scale);
#pragma unroll
    for (int p = 0; p < Slices; ++p) {
      const int shift = 8 * (Slices - 1 - p);
      const auto byte = [&](int e) { return static_cast<std::uint32_t>(of[e] >> shift) & 0xff; };
      words[p] = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
    }
  }
};

/// Writes the digits of a tile.
template <class Digits>
__global__ void __launch_bounds__(tile_threads) slice_tiles(Vectors x, Encoding encoding, DeviceSlices out, Digits digits_of) {
  __shared__ OperandTile tile;
  const TileStart at(out.padded);
  const Index first = at.vector, start = at.element;
  tile.load(x, encoding, at, out);
  for (int place = static_cast<int>(threadIdx.x); place < tile_vectors * tile_elements / 4; place += tile_threads) {
    const int v = place / (tile_elements / 4), l = place % (tile_elements / 4) * 4;
    std::uint32_t words[max_slices];
    std::uint64_t bits[4];
    for (int e = 0; e < 4; ++e) bits[e] = tile.finite_bits(v, l + e);
    const auto* weights =
        out.weight_exponents == nullptr || first + v >= x.count ? nullptr : out.weight_exponents + (first + v) * out.slices;
    digits_of(bits, tile.exponents[v], weights, words);
    auto* const row = out.digits + (first + v) * out.pitch() + start + l;
    for (int p = 1; p <= out.slices; ++p) *reinterpret_cast<std::uint32_t*>(row + out.offset(p)) = words[p - 1];
  }
}

/// floor(2^7 |x| / 2^scale) with the scale of truncated digits: in [64, 127] for the largest element of a vector that is not
/// zero.
struct FirstMagnitudes {
  __device__ void operator()(const std::uint64_t* bits, int scale, const std::int16_t*, std::uint32_t* words) const {
    words[0] = 0;
    for (int e = 0; e < 4; ++e) {
      const auto x = to_dyadic(bits[e] & ~binary64.sign, binary64);
      words[0] |= static_cast<std::uint32_t>(truncated_digit(x, scale - 7, 7)) << (8 * e);
    }
  }
};

template <class Digits>
void launch_tiles(const Vectors& x, Encoding encoding, const DeviceSlices& out, Digits digits, cudaStream_t stream) {
  slice_tiles<<<tiles(out), tile_threads, 0, stream>>>(x, encoding, out, digits);
  check_launch("slice_tiles");
}

template <int Slices = 8>
void launch_balanced(const Vectors& x, const DeviceSlices& out, cudaStream_t stream) {
  if (out.slices == Slices) return launch_tiles(x, Encoding::balanced(), out, BalancedDigits<Slices>{}, stream);
  if constexpr (Slices > 1) launch_balanced<Slices - 1>(x, out, stream);
}

}  // namespace

DeviceSlices take_slices(Arena& arena, bool reversed, Slicing slicing, Index count, Index inner) {
  DeviceSlices slices;
  slices.count = count;
  slices.inner = inner;
  slices.padded = round_up(std::max<Index>(inner, 1), DeviceSlices::digit_step);
  slices.slices = slicing.slices;
  slices.reversed = reversed;
  slices.digits = arena.take<std::int8_t>(round_up(count, DeviceSlices::vector_step) * slices.pitch());
  slices.exponents = arena.take<std::int32_t>(count);
  slices.special = arena.take<std::uint8_t>(count);
  if (!slicing.encoding.common_ratio()) slices.weight_exponents = arena.take<std::int16_t>(count * slicing.slices);
  slices.tops = arena.take<std::uint64_t>(count);
  slices.any_special = arena.take<std::uint32_t>(1);
  return slices;
}

void launch_adaptive_weights(const DeviceMatrix& vectors, Index count, Index inner, Slicing slicing, const std::uint64_t* tops,
                             std::int16_t* weights, cudaStream_t stream) {
  if (count == 0) return;
  find_adaptive_weights<<<static_cast<unsigned>(count), tile_threads, 0, stream>>>({vectors, count, inner}, slicing, tops,
                                                                                   weights);
  check_launch("find_adaptive_weights");
}

void launch_first_magnitudes(const DeviceMatrix& vectors, const DeviceSlices& slices, cudaStream_t stream) {
  check(cudaMemsetAsync(slices.any_special, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  if (slices.count == 0) return;
  launch_tops(vectors, slices.count, slices.inner, slices.tops, stream);
  launch_tiles({vectors, slices.count, slices.inner}, {Encoding::Kind::truncated, 7}, slices, FirstMagnitudes{}, stream);
}

void launch_slicing(const DeviceMatrix& vectors, Slicing slicing, const DeviceSlices& slices, cudaStream_t stream) {
  const Vectors x{vectors, slices.count, slices.inner};
  check(cudaMemsetAsync(slices.any_special, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  if (slices.count == 0) return;
  launch_tops(vectors, slices.count, slices.inner, slices.tops, stream);
  if (slices.weight_exponents != nullptr)
    launch_adaptive_weights(vectors, slices.count, slices.inner, slicing, slices.tops, slices.weight_exponents, stream);
  if (slicing.encoding.kind == Encoding::Kind::balanced && slicing.slices <= 8) return launch_balanced(x, slices, stream);
  launch_tiles(x, slicing.encoding, slices, AnyDigits{slicing}, stream);
}

}  // namespace ozbound::gpu
