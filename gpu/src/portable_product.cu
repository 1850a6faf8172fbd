// SPDX-License-Identifier: BSD-3-Clause
#include "cuda_check.hpp"
#include "portable_product.hpp"

namespace ozbound::gpu {
namespace {

constexpr int tile = 64;             // rows and columns of C for a block of threads
constexpr int words = 16;            // of four digits, summed in 32 bits: 64 * 255^2 < 2^31
constexpr int threads = 256;         // 16 x 16, each with 4 x 4 entries
constexpr int row_words = tile + 4;  // words in a line of shared memory

/// Adds four products of digits to a sum. Digits are int8 or uint8.
template <bool UnsignedA, bool UnsignedB>
__device__ int dot_of_four(std::uint32_t a, std::uint32_t b, int sum) {
  if constexpr (UnsignedA && UnsignedB)
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  else if constexpr (UnsignedA)
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  else if constexpr (UnsignedB)
    asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  else
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

/// Digits [4 word, 4 word + 64) of 64 vectors, word by word.
using Lines = std::uint32_t[words][row_words];

__device__ void load(const std::int8_t* digits, Index pitch, Lines& lines) {
  const int vector = static_cast<int>(threadIdx.x) / 4, word = static_cast<int>(threadIdx.x) % 4 * 4;
  const auto four = *reinterpret_cast<const uint4*>(digits + vector * pitch + 4 * word);
  lines[word][vector] = four.x;
  lines[word + 1][vector] = four.y;
  lines[word + 2][vector] = four.z;
  lines[word + 3][vector] = four.w;
}

template <bool UnsignedA, bool UnsignedB>
__device__ void add_products(const Lines& a, const Lines& b, std::int64_t (&sums)[4][4]) {
  const int row = static_cast<int>(threadIdx.x) / 16 * 4, column = static_cast<int>(threadIdx.x) % 16 * 4;
  int part[4][4] = {};
  for (int w = 0; w < words; ++w)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) part[i][j] = dot_of_four<UnsignedA, UnsignedB>(a[w][row + i], b[w][column + j], part[i][j]);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sums[i][j] += part[i][j];
}

__global__ void __launch_bounds__(threads)
    sum_groups(DeviceSlices a, DeviceSlices b, Encoding encoding_a, Encoding encoding_b,
               const __grid_constant__ GroupTable groups, Block block, BlockSums<std::int64_t> out) {
  __shared__ Lines lines_a, lines_b;
  const Index tiles_across = (block.columns + tile - 1) / tile;
  const Index row = blockIdx.x / tiles_across * tile, column = blockIdx.x % tiles_across * tile;
  const int t = static_cast<int>(blockIdx.y);
  std::int64_t sums[4][4] = {};
  for (int p = groups.first_a[t]; p <= groups.last_a[t]; ++p) {
    const int q = groups.diagonal[t] - p;
    const bool unsigned_a = encoding_a.unsigned_digit(p), unsigned_b = encoding_b.unsigned_digit(q);
    const auto* from_a = a.digits + (block.row + row) * a.pitch() + a.offset(p);
    const auto* from_b = b.digits + (block.column + column) * b.pitch() + b.offset(q);
    for (Index l = 0; l < a.padded; l += 4 * words) {
      __syncthreads();
      load(from_a + l, a.pitch(), lines_a);
      load(from_b + l, b.pitch(), lines_b);
      __syncthreads();
      if (unsigned_a && unsigned_b)
        add_products<true, true>(lines_a, lines_b, sums);
      else if (unsigned_a)
        add_products<true, false>(lines_a, lines_b, sums);
      else if (unsigned_b)
        add_products<false, true>(lines_a, lines_b, sums);
      else
        add_products<false, false>(lines_a, lines_b, sums);
    }
  }
  const Index i0 = row + threadIdx.x / 16 * 4, j0 = column + threadIdx.x % 16 * 4;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (i0 + i < block.rows && j0 + j < block.columns) out.at(t, i0 + i, j0 + j) = sums[i][j];
}

}  // namespace

void launch_portable_product(const DeviceSlices& a, const DeviceSlices& b, Encoding encoding_a, Encoding encoding_b,
                             const GroupTable& groups, const Block& block, const BlockSums<std::int64_t>& sums,
                             cudaStream_t stream) {
  const Index tiles = (block.rows + tile - 1) / tile * ((block.columns + tile - 1) / tile);
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(groups.count));
  sum_groups<<<grid, threads, 0, stream>>>(a, b, encoding_a, encoding_b, groups, block, sums);
  check_launch("sum_groups");
}

}  // namespace ozbound::gpu
