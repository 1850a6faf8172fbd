#include "fast_slicing.hpp"

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

#include "cuda_check.hpp"
#include "ozbound/core/combine.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int cluster = 8;            // blocks that share what they find
constexpr int vectors_together = 32;  // of a cluster, where the vectors' elements are apart
constexpr int piece = 128;            // elements of these that a block holds

using Bits = std::uint64_t;

struct SharedMemory {
  Bits digits[vectors_together][piece + 1];
  Bits tops[warps][vectors_together];
};

__device__ double element(const DeviceMatrix& m, Index at) {
  return m.is_double ? static_cast<const double*>(m.data)[at] : static_cast<const float*>(m.data)[at];
}

/// Orders magnitudes; infinities and NaN stand above all.
__device__ Bits magnitude(double x) { return bits_of(x) & ~Format(binary64).sign; }

/// How a vector's elements become digits.
struct Scale {
  int exponent = 0;
  bool special = false;
  double first = 0, second = 0;  ///< factors to units of the last digit; in two steps, neither of which overflows

  __device__ Scale(Bits top, int slices) {
    special = !is_finite(top, binary64);
    if (special) return;
    exponent = Encoding::balanced().scale_exponent(to_dyadic(top, binary64));
    const int up = -(exponent + Encoding::balanced().weight_exponent(slices));
    first = power_of_two(up / 2);
    second = power_of_two(up - up / 2);
  }

  /// Byte s - p is digit p (theory.md, section 1); zero where the vector is special.
  [[nodiscard]] __device__ Bits digits(double x, int slices) const {
    if (special) return 0;
    const Bits bias = 0x0080808080808080 >> (8 * (8 - slices));
    return (static_cast<Bits>(__double2ll_rn(x * first * second)) + bias) ^ bias;
  }

  __device__ void store(const DeviceSlices& slices, Index vector) const {
    slices.exponents[vector] = exponent;
    slices.special[vector] = special ? 1 : 0;
    if (special) atomicOr(slices.any_special, 1u);
  }
};

/// Bytes of four words side by side: out[b] holds byte b of each.
__device__ void transpose_bytes(const std::uint32_t (&in)[4], std::uint32_t* out) {
  const auto low01 = __byte_perm(in[0], in[1], 0x5140), low23 = __byte_perm(in[2], in[3], 0x5140);
  const auto high01 = __byte_perm(in[0], in[1], 0x7362), high23 = __byte_perm(in[2], in[3], 0x7362);
  out[0] = __byte_perm(low01, low23, 0x5410);
  out[1] = __byte_perm(low01, low23, 0x7632);
  out[2] = __byte_perm(high01, high23, 0x5410);
  out[3] = __byte_perm(high01, high23, 0x7632);
}

/// Writes the digits of elements l … l + 3 of a vector. @pre l is a multiple of 4.
__device__ void store_digits(const DeviceSlices& slices, Index vector, Index l, const Bits (&digits)[4]) {
  std::uint32_t low[4], high[4], bytes[8];
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    low[t] = static_cast<std::uint32_t>(digits[t]);
    high[t] = static_cast<std::uint32_t>(digits[t] >> 32);
  }
  transpose_bytes(low, bytes);
  transpose_bytes(high, bytes + 4);
  auto* const to = slices.digits + vector * slices.pitch() + l;
#pragma unroll
  for (int b = 0; b < 8; ++b)
    if (b < slices.slices) *reinterpret_cast<std::uint32_t*>(to + slices.place(slices.slices - b) * slices.padded) = bytes[b];
}

/// Elements l … l + 3 of a vector whose elements lie side by side; zeros beyond the last.
__device__ void load_four(const SlicingJob& job, Index vector, Index l, double (&x)[4]) {
  const Index at = vector * job.vectors.row_stride + l;
  const auto* const data = static_cast<const double*>(job.vectors.data) + at;
  if (job.vectors.is_double && l + 4 <= job.slices.inner && reinterpret_cast<std::uintptr_t>(data) % 16 == 0) {
    const auto low = *reinterpret_cast<const double2*>(data), high = *reinterpret_cast<const double2*>(data + 2);
    x[0] = low.x, x[1] = low.y, x[2] = high.x, x[3] = high.y;
    return;
  }
#pragma unroll
  for (int t = 0; t < 4; ++t) x[t] = l + t < job.slices.inner ? element(job.vectors, at + t) : 0;
}

/// One block slices one vector.
__device__ void slice_vector(const SlicingJob& job, Index vector, SharedMemory& shared) {
  if (vector >= job.slices.count) return;
  Bits top = 0;
  double x[4];
  for (Index l = 4 * threadIdx.x; l < job.slices.padded; l += 4 * threads) {
    load_four(job, vector, l, x);
#pragma unroll
    for (int t = 0; t < 4; ++t) top = max(top, magnitude(x[t]));
  }
  for (int offset = 16; offset > 0; offset /= 2) top = max(top, __shfl_xor_sync(~0u, top, offset));
  if (threadIdx.x % 32 == 0) shared.tops[threadIdx.x / 32][0] = top;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < warps; ++w) top = max(top, shared.tops[w][0]);
  const Scale scale(top, job.slices.slices);
  if (threadIdx.x == 0) scale.store(job.slices, vector);
  for (Index l = 4 * threadIdx.x; l < job.slices.padded; l += 4 * threads) {
    load_four(job, vector, l, x);
    Bits digits[4];
#pragma unroll
    for (int t = 0; t < 4; ++t) digits[t] = scale.digits(x[t], job.slices.slices);
    store_digits(job.slices, vector, l, digits);
  }
}

/// The largest magnitude of vector first + lane in this block's pieces of the inner dimension.
[[maybe_unused]] __device__ Bits top_of_pieces(const SlicingJob& job, Index first, int rank) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  Bits top = 0;
  if (first + lane >= job.slices.count) return top;
  for (Index start = Index{rank} * piece; start < job.slices.inner; start += cluster * piece) {
    const Index end = min(start + piece, job.slices.inner);
#pragma unroll 8
    for (Index l = start + warp; l < end; l += warps)
      top = max(top, magnitude(element(job.vectors, first + lane + l * job.vectors.col_stride)));
  }
  return top;
}

/// One cluster slices 32 vectors that lie side by side, their elements apart.
__device__ void slice_vectors(const SlicingJob& job, Index first, SharedMemory& shared) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900  // older devices have no clusters, and are never asked
  namespace cg = cooperative_groups;
  const auto blocks = cg::this_cluster();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int rank = static_cast<int>(blocks.block_rank());
  shared.tops[warp][lane] = top_of_pieces(job, first, rank);
  __syncthreads();
  if (warp == 0)
    for (int w = 1; w < warps; ++w) shared.tops[0][lane] = max(shared.tops[0][lane], shared.tops[w][lane]);
  blocks.sync();
  Bits top = 0;
#pragma unroll
  for (unsigned r = 0; r < cluster; ++r) top = max(top, *blocks.map_shared_rank(&shared.tops[0][lane], r));
  const Scale scale(top, job.slices.slices);
  if (rank == 0 && warp == 0 && first + lane < job.slices.count) scale.store(job.slices, first + lane);

  for (Index start = Index{rank} * piece; start < job.slices.padded; start += cluster * piece) {
    double x[piece / warps];
#pragma unroll
    for (int t = 0; t < piece / warps; ++t) {
      const Index l = start + warp + warps * t;
      const bool inside = first + lane < job.slices.count && l < job.slices.inner;
      x[t] = inside ? element(job.vectors, first + lane + l * job.vectors.col_stride) : 0;
    }
#pragma unroll
    for (int t = 0; t < piece / warps; ++t) shared.digits[lane][warp + warps * t] = scale.digits(x[t], job.slices.slices);
    __syncthreads();
    for (int v = warp; v < vectors_together && first + v < job.slices.count; v += warps) {
      const auto* const from = &shared.digits[v][4 * lane];
      store_digits(job.slices, first + v, start + 4 * lane, {from[0], from[1], from[2], from[3]});
    }
    __syncthreads();
  }
  blocks.sync();  // until no block reads another's tops
#endif
}

__device__ bool elements_together(const DeviceMatrix& vectors) { return vectors.col_stride == 1; }

__device__ void slice(const SlicingJob& job, Index block, SharedMemory& shared) {
  if (elements_together(job.vectors))
    slice_vector(job, block, shared);
  else
    slice_vectors(job, block / cluster * vectors_together, shared);
}

__global__ __launch_bounds__(threads) void slice_both(const __grid_constant__ SlicingJob a,
                                                      const __grid_constant__ SlicingJob b, unsigned blocks_of_a) {
  __shared__ SharedMemory shared;
  if (blockIdx.x < blocks_of_a)
    slice(a, blockIdx.x, shared);
  else
    slice(b, blockIdx.x - blocks_of_a, shared);
}

/// Whole clusters.
Index blocks_for(const SlicingJob& job) {
  const Index blocks =
      job.vectors.col_stride == 1 ? job.slices.count : (job.slices.count + vectors_together - 1) / vectors_together * cluster;
  return (blocks + cluster - 1) / cluster * cluster;
}

}  // namespace

bool fast_slicing_applies(const DeviceMatrix& vectors, Slicing slicing) {
  return slicing.encoding.kind == Encoding::Kind::balanced && slicing.slices <= 8 &&
         (vectors.col_stride == 1 || vectors.row_stride == 1);
}

void launch_fast_slicing(const SlicingJob& a, const SlicingJob& b, cudaStream_t stream) {
  const Index blocks_of_a = blocks_for(a), blocks = blocks_of_a + blocks_for(b);
  for (const auto* job : {&a, &b})
    check(cudaMemsetAsync(job->slices.any_special, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  if (blocks == 0) return;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, slice_both, a, b, static_cast<unsigned>(blocks_of_a)), "cudaLaunchKernelEx");
}

}  // namespace ozbound::gpu
