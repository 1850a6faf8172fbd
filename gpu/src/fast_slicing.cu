#include "fast_slicing.hpp"

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

#include "bytes.cuh"
#include "cuda_check.hpp"
#include "ozbound/core/combine.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int vectors_together = 16;  // of a cluster, where the vectors' elements are apart
constexpr int piece = 128;            // elements of these that a block takes at a time
constexpr int pieces = 4;             // that it holds; it reads the others twice
constexpr int quads = 4;              // fours of elements of one vector that a thread holds; it reads the others twice

/// Magnitudes, by the upper halves of their bits.
using Top = std::uint32_t;

struct SharedMemory {
  double elements[pieces][vectors_together][piece + 2];  ///< two more, so that a warp's elements lie in different banks
  Top tops[warps][vectors_together];
};

/// An operand of one type and where its slices go.
template <class T>
struct Operand {
  const T* data;
  Index vector_stride, element_stride;
  DeviceSlices slices;

  explicit Operand(const SlicingJob& job)
      : data(static_cast<const T*>(job.vectors.data)),
        vector_stride(job.vectors.row_stride),
        element_stride(job.vectors.col_stride),
        slices(job.slices) {}
  [[nodiscard]] __host__ __device__ bool elements_together() const { return element_stride == 1; }
};

/// Threads of a block that slice one vector.
__host__ __device__ int team_threads(Index padded) {
  int team = 32;
  while (team < threads && team * 4 * quads < padded) team *= 2;
  return team;
}

/// Blocks of a cluster, which slices vectors_together vectors; each takes some pieces of the inner dimension.
int cluster_for(Index padded) { return padded >= 2048 ? 8 : 4; }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900  // older devices have no clusters, and are never asked

constexpr int rows = threads / vectors_together;  // elements of a vector that it loads at a time
constexpr Top normal_bits = 0x00100000;           // of magnitudes below it the lower halves matter
__device__ Top top_of(double x) { return static_cast<Top>(bits_of(x) >> 32) & 0x7fffffff; }

/// The largest magnitude of a vector, by all of its bits: for subnormal numbers alone. By sixteen threads side by side.
template <class T>
__device__ std::uint64_t largest_subnormal(const Operand<T>& operand, Index vector) {
  const unsigned lane = threadIdx.x % 32, together = 0xffffu << (lane / 16 * 16);
  std::uint64_t largest = 0;
  for (Index l = lane % 16; l < operand.slices.inner; l += 16) {
    const double x = operand.data[vector * operand.vector_stride + l * operand.element_stride];
    largest = max(largest, bits_of(x) & ~Format(binary64).sign);
  }
  for (int offset = 8; offset > 0; offset /= 2) largest = max(largest, __shfl_xor_sync(together, largest, offset));
  return largest;
}

/// How a vector's elements become digits.
struct Scale {
  int exponent = 0;
  bool special = false;
  double first = 0, second = 0;  ///< factors to units of the last digit, in two steps, neither of which overflows

  template <class T>
  __device__ Scale(const Operand<T>& operand, Index vector, Top top) {
    std::uint64_t largest = std::uint64_t{top} << 32;  // the lower half decides nothing of a normal number's scale
    special = !is_finite(largest, binary64);
    if (special) return;
    if (top < normal_bits) largest = largest_subnormal(operand, vector);
    exponent = Encoding::balanced().scale_exponent(to_dyadic(largest, binary64));
    const int up = -(exponent + Encoding::balanced().weight_exponent(operand.slices.slices));
    first = power_of_two(up / 2);
    second = power_of_two(up - up / 2);
  }

  __device__ void store(const DeviceSlices& slices, Index vector) const {
    slices.exponents[vector] = exponent;
    slices.special[vector] = special ? 1 : 0;
  }
};

/// The digits of one vector: writes those of four elements at a time.
class DigitWriter {
 public:
  __device__ DigitWriter(const DeviceSlices& slices, Index vector, const Scale& scale)
      : last_(slices.digits + vector * slices.pitch() + slices.place(slices.slices) * slices.padded),
        step_(slices.reversed ? slices.padded : -slices.padded),
        count_(slices.slices),
        bias_(0x0080808080808080 >> (8 * (8 - slices.slices))),
        scale_(scale) {}

  /// Elements l … l + 3. Byte b, from the lowest, of x in units of its last digit, balanced, is digit s - b (theory.md,
  /// section 1). @pre l is a multiple of 4.
  __device__ void write(Index l, const double (&x)[4]) const {
    std::uint32_t low[4], high[4], bytes[8];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const auto units = static_cast<std::uint64_t>(__double2ll_rn(x[t] * scale_.first * scale_.second));
      const auto digits = scale_.special ? 0 : (units + bias_) ^ bias_;
      low[t] = static_cast<std::uint32_t>(digits);
      high[t] = static_cast<std::uint32_t>(digits >> 32);
    }
    transpose_bytes(low, bytes);
    transpose_bytes(high, bytes + 4);
    auto* to = last_ + l;
#pragma unroll
    for (int b = 0; b < 8; ++b, to += step_)
      if (b < count_) *reinterpret_cast<std::uint32_t*>(to) = bytes[b];
  }

 private:
  std::int8_t* last_;  ///< digit s of the first element
  Index step_;         ///< from a digit to the one before
  int count_;
  std::uint64_t bias_;
  const Scale& scale_;
};

// Vectors whose elements lie side by side -------------------------------------------------------------------------------------

template <class T>
__device__ void load_four(const T* x, Index left, double (&out)[4]) {
  if (left >= 4 && sizeof(T) == sizeof(double) && reinterpret_cast<std::uintptr_t>(x) % 16 == 0) {
    const auto low = *reinterpret_cast<const double2*>(x), high = *reinterpret_cast<const double2*>(x + 2);
    out[0] = low.x, out[1] = low.y, out[2] = high.x, out[3] = high.y;
    return;
  }
#pragma unroll
  for (int t = 0; t < 4; ++t) out[t] = t < left ? static_cast<double>(x[t]) : 0;
}

__device__ Top top_of(const double (&x)[4]) { return max(max(top_of(x[0]), top_of(x[1])), max(top_of(x[2]), top_of(x[3]))); }

/// The largest of a team's tops, for each of its threads. By the whole block.
__device__ Top team_top(Top top, int team, SharedMemory& shared) {
  top = __reduce_max_sync(~0u, top);
  if (team == 32) return top;
  const int warp = static_cast<int>(threadIdx.x) / 32, first = warp / (team / 32) * (team / 32);
  if (threadIdx.x % 32 == 0) shared.tops[warp][0] = top;
  __syncthreads();
  for (int w = first; w < first + team / 32; ++w) top = max(top, shared.tops[w][0]);
  return top;
}

/// Slices the vectors of one block, one team each.
template <class T>
__device__ void slice_by_teams(const Operand<T>& operand, Index block, SharedMemory& shared) {
  const auto& slices = operand.slices;
  const int team = team_threads(slices.padded), member = static_cast<int>(threadIdx.x) % team;
  const Index vector = block * (threads / team) + static_cast<int>(threadIdx.x) / team, step = 4 * team;
  const bool inside = vector < slices.count;
  const T* const data = operand.data + vector * operand.vector_stride;
  const Index inner = inside ? slices.inner : 0, own = 4 * member, rest = own + quads * step;
  double x[quads][4], other[4];
#pragma unroll
  for (int q = 0; q < quads; ++q) load_four(data + own + q * step, inner - own - q * step, x[q]);
  Top top = max(max(top_of(x[0]), top_of(x[1])), max(top_of(x[2]), top_of(x[3])));
  static_assert(quads == 4);
  for (Index l = rest; l < inner; l += step) {
    load_four(data + l, inner - l, other);
    top = max(top, top_of(other));
  }
  top = team_top(top, team, shared);
  if (!inside) return;
  const Scale scale(operand, vector, top);
  if (member == 0) scale.store(slices, vector);
  const DigitWriter writer(slices, vector, scale);
#pragma unroll
  for (int q = 0; q < quads; ++q)
    if (own + q * step < slices.padded) writer.write(own + q * step, x[q]);
  for (Index l = rest; l < slices.padded; l += step) {
    load_four(data + l, inner - l, other);
    writer.write(l, other);
  }
}

// Vectors that lie side by side, their elements apart
// ---------------------------------------------------------------------------

template <class T>
class ClusterSlicer {
 public:
  __device__ ClusterSlicer(const Operand<T>& operand, Index first, SharedMemory& shared)
      : operand_(operand), first_(first), shared_(shared), cluster_(cooperative_groups::this_cluster()) {}

  __device__ void run() {
    const Index padded = operand_.slices.padded, stride = Index{cluster_.num_blocks()} * piece;
    const Index begin = Index{cluster_.block_rank()} * piece;
    Top top = 0;
    int slot = 0;
    for (Index start = begin; start < padded; start += stride, ++slot) top = max(top, load(start, slot));
    const Index vector = first_ + own_vector();
    top = cluster_top(top);
    if (vector < operand_.slices.count)
      store_all(vector, Scale(operand_, vector, top), begin, stride);
    else
      pass_barriers(begin, stride);
    cluster_.sync();  // until no block reads another's tops
  }

 private:
  /// Loads a piece into its slot, if it has one. The largest magnitude of the thread's vector.
  __device__ Top load(Index start, int slot) {
    const int vector = static_cast<int>(threadIdx.x) % vectors_together, row = static_cast<int>(threadIdx.x) / vectors_together;
    const Index left = first_ + vector < operand_.slices.count ? operand_.slices.inner - start - row : 0;
    const Index step = rows * operand_.element_stride;
    const T* from = operand_.data + first_ + vector + (start + row) * operand_.element_stride;
    double x[piece / rows];
#pragma unroll
    for (int t = 0; t < piece / rows; ++t, from += step) x[t] = rows * t < left ? static_cast<double>(*from) : 0;
    Top top = 0;
#pragma unroll
    for (int t = 0; t < piece / rows; ++t) {
      top = max(top, top_of(x[t]));
      if (slot < pieces) shared_.elements[slot][vector][row + rows * t] = x[t];
    }
    return top;
  }

  /// The largest magnitude of own_vector(), from every block's threads'.
  __device__ Top cluster_top(Top top) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    top = max(top, __shfl_xor_sync(~0u, top, vectors_together));
    if (lane < vectors_together) shared_.tops[warp][lane] = top;
    __syncthreads();
    if (threadIdx.x < vectors_together)
      for (int w = 1; w < warps; ++w) shared_.tops[0][lane] = max(shared_.tops[0][lane], shared_.tops[w][lane]);
    cluster_.sync();
    Top all = 0;
    for (unsigned r = 0; r < cluster_.num_blocks(); ++r)
      all = max(all, *cluster_.map_shared_rank(&shared_.tops[0][own_vector()], r));
    return all;
  }

  /// Digits of every piece: sixteen threads a vector, four elements each, twice.
  __device__ void store_all(Index vector, const Scale& scale, Index begin, Index stride) {
    if (cluster_.block_rank() == 0 && threadIdx.x % vectors_together == 0) scale.store(operand_.slices, vector);
    const DigitWriter writer(operand_.slices, vector, scale);
    int slot = 0;
    for (Index start = begin; start < operand_.slices.padded; start += stride, ++slot) {
      if (slot >= pieces) load_again(start);
      const auto& elements = shared_.elements[slot < pieces ? slot : 0][own_vector()];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int l = 64 * half + static_cast<int>(threadIdx.x) % 16 * 4;
        const auto* const from = reinterpret_cast<const double2*>(&elements[l]);
        const auto low = from[0], high = from[1];
        writer.write(start + l, {low.x, low.y, high.x, high.y});
      }
    }
  }

  /// What store_all does beside storing: a thread without a vector loads for others.
  __device__ void pass_barriers(Index begin, Index stride) {
    for (Index start = begin + pieces * stride; start < operand_.slices.padded; start += stride) load_again(start);
  }

  __device__ void load_again(Index start) {
    __syncthreads();  // the first slot is no longer read
    load(start, 0);
    __syncthreads();
  }

  __device__ static int own_vector() { return static_cast<int>(threadIdx.x) / 16; }

  const Operand<T>& operand_;
  Index first_;
  SharedMemory& shared_;
  cooperative_groups::cluster_group cluster_;
};

template <class T>
__device__ void slice(const Operand<T>& operand, Index block, SharedMemory& shared) {
  if (operand.elements_together())
    slice_by_teams(operand, block, shared);
  else
    ClusterSlicer<T>(operand, block / cooperative_groups::this_cluster().num_blocks() * vectors_together, shared).run();
}

#endif

template <class T>
__global__ __launch_bounds__(threads, 3) void slice_both(const __grid_constant__ Operand<T> a,
                                                         const __grid_constant__ Operand<T> b, unsigned blocks_of_a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) std::uint8_t memory[];
  auto& shared = *reinterpret_cast<SharedMemory*>(memory);
  cudaTriggerProgrammaticLaunchCompletion();  // the product may prepare itself while this runs
  if (blockIdx.x < blocks_of_a)
    slice(a, blockIdx.x, shared);
  else
    slice(b, blockIdx.x - blocks_of_a, shared);
#endif
}

/// Whole clusters.
template <class T>
Index blocks_for(const Operand<T>& operand, int cluster) {
  const Index count = operand.slices.count, teams = threads / team_threads(operand.slices.padded);
  const Index blocks =
      operand.elements_together() ? (count + teams - 1) / teams : (count + vectors_together - 1) / vectors_together * cluster;
  return (blocks + cluster - 1) / cluster * cluster;
}

template <class T>
void launch(const Operand<T>& a, const Operand<T>& b, cudaStream_t stream) {
  const int cluster = cluster_for(std::max(a.slices.padded, b.slices.padded));
  const Index blocks_of_a = blocks_for(a, cluster), blocks = blocks_of_a + blocks_for(b, cluster);
  if (blocks == 0) return;
  constexpr auto kernel = slice_both<T>;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = sizeof(SharedMemory);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(SharedMemory))),
        "cudaFuncSetAttribute");
  check(cudaLaunchKernelEx(&config, kernel, a, b, static_cast<unsigned>(blocks_of_a)), "cudaLaunchKernelEx");
}

void launch_as_typed(const SlicingJob& a, const SlicingJob& b, cudaStream_t stream) {
  if (a.vectors.is_double)
    launch(Operand<double>(a), Operand<double>(b), stream);
  else
    launch(Operand<float>(a), Operand<float>(b), stream);
}

SlicingJob without_vectors(SlicingJob job) {
  job.slices.count = 0;
  return job;
}

}  // namespace

bool fast_slicing_applies(const DeviceMatrix& vectors, Slicing slicing) {
  return slicing.encoding.kind == Encoding::Kind::balanced && slicing.slices <= 8 &&
         (vectors.col_stride == 1 || vectors.row_stride == 1);
}

void launch_fast_slicing(const SlicingJob& a, const SlicingJob& b, cudaStream_t stream) {
  if (a.vectors.is_double == b.vectors.is_double) return launch_as_typed(a, b, stream);
  launch_as_typed(a, without_vectors(a), stream);
  launch_as_typed(b, without_vectors(b), stream);
}

}  // namespace ozbound::gpu
