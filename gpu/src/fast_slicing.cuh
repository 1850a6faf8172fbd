// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda_check.hpp"
#include "device_epilogue.hpp"
#include "device_slices.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/encoding.hpp"

// Reads vectors once if the cache holds them, and writes digits of their elements.

namespace ozbound::gpu {
namespace fast_slicing {

inline constexpr int threads = 256, warps = threads / 32;
inline constexpr int vectors_together = 16;  // vectors of a cluster if the elements of a vector are apart
inline constexpr int piece = 128;            // elements of these vectors that a block takes at a time
inline constexpr int pieces = 4;             // pieces that a block holds; it reads further pieces twice

/// Magnitudes, by the upper halves of their bits.
using Top = std::uint32_t;

struct SharedMemory {
  using Piece = double[vectors_together][piece + 2];  ///< two extra columns put a warp's elements in different banks

  Top tops[warps][vectors_together];
  Piece elements[pieces];  ///< as many as are used
};

/// An operand of one type and its Task. A Task has `slices`, the memory for digits; encoding(), whose scales they have; Seen,
/// which visits the elements on the way; Writer, for the digits of one vector, whose write(l, x) writes those of elements
/// l … l + 3, and write_two(l, step, x) those of eight elements if it takes_two, in less time; blocks_together, the number of
/// its blocks for which a multiprocessor has registers; and, for vectors whose elements lie side by side, most_team, the
/// threads that slice a long vector, and quads, the groups of four elements of one vector that a thread holds, an even number.
/// It reads further groups twice.
template <class T, class Task>
struct Operand {
  const T* data;
  Index vector_stride, element_stride;
  Task task;
  DeviceSlices slices;

  Operand(const DeviceMatrix& vectors, const Task& what)
      : data(static_cast<const T*>(vectors.data)),
        vector_stride(vectors.row_stride),
        element_stride(vectors.col_stride),
        task(what),
        slices(what.slices) {}
  [[nodiscard]] __host__ __device__ bool elements_together() const { return element_stride == 1; }
};

/// Threads of a block that slice one vector.
template <class Task>
__host__ __device__ int team_threads(Index padded) {
  int team = 32;
  while (team < Task::most_team && team * 4 * Task::quads < padded) team *= 2;
  return team;
}

/// Bytes of SharedMemory for the vectors of an operand.
template <class T, class Task>
std::size_t shared_bytes(const Operand<T, Task>& operand, int cluster) {
  const Index stride = Index{cluster} * piece, all = (operand.slices.padded + stride - 1) / stride;
  const auto held = operand.elements_together() ? 0 : static_cast<std::size_t>(std::min<Index>(all, pieces));
  return offsetof(SharedMemory, elements) + held * sizeof(SharedMemory::Piece);
}

/// Blocks in a cluster, which slices vectors_together vectors. Each block takes some pieces of the inner dimension.
inline int cluster_for(Index padded) { return padded >= 2048 ? 8 : 4; }

/// The Seen of a Task that needs nothing else from the elements.
class NothingSeen {
 public:
  template <class Task>
  explicit __device__ NothingSeen(const Task&) {}
  __device__ static int key(Index, Index) { return 0; }
  __device__ static int step(int) { return 0; }
  __device__ void one(int, double) {}
  __device__ void four(Index, Index, Index, const double (&)[4]) {}
  __device__ void finish() {}
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900  // older devices have no clusters, and never run this

inline constexpr int rows = threads / vectors_together;  // elements of a vector that a block loads at a time
inline constexpr Top normal_bits = 0x00100000;           // below this magnitude the lower halves matter
__device__ inline Top top_of(double x) { return static_cast<Top>(bits_of(x) >> 32) & 0x7fffffff; }

/// The largest magnitude of a vector, by all of its bits; only for subnormal numbers. Called by sixteen adjacent threads.
template <class T, class Task>
__device__ std::uint64_t largest_subnormal(const Operand<T, Task>& operand, Index vector) {
  const unsigned lane = threadIdx.x % 32, together = 0xffffu << (lane / 16 * 16);
  std::uint64_t largest = 0;
  for (Index l = lane % 16; l < operand.slices.inner; l += 16) {
    const double x = operand.data[vector * operand.vector_stride + l * operand.element_stride];
    largest = max(largest, bits_of(x) & ~Format(binary64).sign);
  }
  for (int offset = 8; offset > 0; offset /= 2) largest = max(largest, __shfl_xor_sync(together, largest, offset));
  return largest;
}

/// The scaling of a vector's elements to digits.
struct Scale {
  std::uint64_t largest = 0;  ///< bits of the largest magnitude; for a normal number only the upper half, which suffices
  int exponent = 0;
  bool special = false;
  double first = 0, second = 0;  ///< factors to units of the last digit, in two steps that cannot overflow

  Scale() = default;
  template <class T, class Task>
  __device__ Scale(const Operand<T, Task>& operand, Index vector, Top top) : largest(std::uint64_t{top} << 32) {
    special = !is_finite(largest, binary64);
    if (special) return;
    if (top < normal_bits) largest = largest_subnormal(operand, vector);
    exponent = Task::encoding().scale_exponent(to_dyadic(largest, binary64));
    set_factors(exponent + operand.task.unit());
  }
  /// The scaling of a vector whose scale is known. @param unit as a Task's
  __device__ Scale(int known_exponent, bool is_special, int unit) : exponent(known_exponent), special(is_special) {
    if (!special) set_factors(exponent + unit);
  }

  __device__ void store(const DeviceSlices& slices, Index vector) const {
    slices.exponents[vector] = exponent;
    slices.special[vector] = special ? 1 : 0;
  }

 private:
  /// @param last exponent of the last digit's weight
  __device__ void set_factors(int last) {
    const int up = -last;
    first = power_of_two(up / 2);
    second = power_of_two(up - up / 2);
  }
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

__device__ inline Top top_of(const double (&x)[4]) {
  return max(max(top_of(x[0]), top_of(x[1])), max(top_of(x[2]), top_of(x[3])));
}

/// Writes elements l … l + 3 and l + step … l + step + 3 of a vector, as far as there is room for them.
template <class Writer>
__device__ void write_two(Writer& writer, Index l, Index step, Index padded, const double (*x)[4]) {
  if constexpr (Writer::takes_two) {
    if (l + step < padded) return writer.write_two(l, step, x);
    if (l < padded) writer.write(l, x[0]);
  } else {
    if (l < padded) writer.write(l, x[0]);
    if (l + step < padded) writer.write(l + step, x[1]);
  }
}

/// The largest of a team's tops, returned to each of its threads. Called by the whole block.
__device__ inline Top team_top(Top top, int team, SharedMemory& shared) {
  top = __reduce_max_sync(~0u, top);
  if (team == 32) return top;
  const int warp = static_cast<int>(threadIdx.x) / 32, first = warp / (team / 32) * (team / 32);
  if (threadIdx.x % 32 == 0) shared.tops[warp][0] = top;
  __syncthreads();
  for (int w = first; w < first + team / 32; ++w) top = max(top, shared.tops[w][0]);
  return top;
}

/// Slices the vectors of one block, one team for each vector.
template <class T, class Task>
__device__ void slice_by_teams(const Operand<T, Task>& operand, Index block, SharedMemory& shared) {
  const auto& slices = operand.slices;
  constexpr int quads = Task::quads;
  const int team = team_threads<Task>(slices.padded), member = static_cast<int>(threadIdx.x) % team;
  const Index vector = block * (threads / team) + static_cast<int>(threadIdx.x) / team, step = 4 * team;
  const bool inside = vector < slices.count;
  const T* const data = operand.data + vector * operand.vector_stride;
  const Index inner = inside ? slices.inner : 0, own = 4 * member, rest = own + quads * step;
  double x[quads][4], other[4];
  typename Task::Seen seen(operand.task);
#pragma unroll
  for (int q = 0; q < quads; ++q) {
    load_four(data + own + q * step, inner - own - q * step, x[q]);
    seen.four(vector, own + q * step, inner, x[q]);
  }
  Top top = 0;
#pragma unroll
  for (int q = 0; q < quads; ++q) top = max(top, top_of(x[q]));
  for (Index l = rest; l < inner; l += step) {
    load_four(data + l, inner - l, other);
    seen.four(vector, l, inner, other);
    top = max(top, top_of(other));
  }
  top = team_top(top, team, shared);
  seen.finish();
  if (!inside) return;
  const Scale scale(operand, vector, top);
  if (member == 0) scale.store(slices, vector);
  typename Task::Writer writer(operand.task, vector, scale);
#pragma unroll
  for (int q = 0; q < quads; q += 2) write_two(writer, own + q * step, step, slices.padded, x + q);
  for (Index l = rest; l < slices.padded; l += 2 * step) {
    double again[2][4];
#pragma unroll
    for (int q = 0; q < 2; ++q) load_four(data + l + q * step, inner - l - q * step, again[q]);
    write_two(writer, l, step, slices.padded, again);
  }
  writer.template finish<32>();
}

// Vectors that lie side by side, their elements apart
// ---------------------------------------------------------------------------

/// Writes the piece of a vector that begins at element `start`. Called by sixteen adjacent threads.
template <class Writer>
__device__ void write_row(Writer& writer, Index start, const double (&elements)[piece + 2]) {
  constexpr int half = piece / 2;
  const int l = static_cast<int>(threadIdx.x) % 16 * 4;
  double x[2][4];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const auto* const from = reinterpret_cast<const double2*>(&elements[l + h * half]);
    const auto low = from[0], high = from[1];
    x[h][0] = low.x, x[h][1] = low.y, x[h][2] = high.x, x[h][3] = high.y;
  }
  write_two(writer, start + l, half, start + piece, x);
}

/// The thread's elements of a piece of vectors_together vectors: of vector `first` and `column` further, start + row, and every
/// `rows`-th further one, 0 where there is none. Returns how many elements are left from start + row on.
template <class T, class Task>
__device__ Index load_piece(const Operand<T, Task>& operand, Index first, int column, Index start, int row,
                            double (&x)[piece / rows]) {
  const Index left = first + column < operand.slices.count ? operand.slices.inner - start - row : 0;
  const Index step = rows * operand.element_stride;
  const T* from = operand.data + first + column + (start + row) * operand.element_stride;
#pragma unroll
  for (int t = 0; t < piece / rows; ++t, from += step) x[t] = rows * t < left ? static_cast<double>(*from) : 0;
  return left;
}

template <class T, class Task>
class ClusterSlicer {
 public:
  __device__ ClusterSlicer(const Operand<T, Task>& operand, Index first, SharedMemory& shared)
      : operand_(operand), first_(first), shared_(shared), seen_(operand.task), cluster_(cooperative_groups::this_cluster()) {}

  __device__ void run() {
    const Index padded = operand_.slices.padded, stride = Index{cluster_.num_blocks()} * piece;
    const Index begin = Index{cluster_.block_rank()} * piece;
    Top top = 0;
    int slot = 0;
    for (Index start = begin; start < padded; start += stride, ++slot) top = max(top, load<true>(start, slot));
    top = cluster_top(top);
    auto tops_read = cluster_.barrier_arrive();  // before anything is written to memory, for which it would wait
    seen_.finish();
    store_all(first_ + own_vector(), top, begin, stride);
    cluster_.barrier_wait(std::move(tops_read));  // a block's memory lasts until no other block reads its tops
  }

 private:
  /// Loads a piece, for the first time or again, into its slot, if it has one. Returns the largest magnitude of the thread's
  /// vector.
  template <bool First>
  __device__ Top load(Index start, int slot) {
    const int vector = static_cast<int>(threadIdx.x) % vectors_together, row = static_cast<int>(threadIdx.x) / vectors_together;
    double x[piece / rows];
    const Index left = load_piece(operand_, first_, vector, start, row, x);
    if (First) see(x, vector, start + row, left);
    Top top = 0;
#pragma unroll
    for (int t = 0; t < piece / rows; ++t) {
      top = max(top, top_of(x[t]));
      if (slot < pieces) shared_.elements[slot][vector][row + rows * t] = x[t];
    }
    return top;
  }

  /// Visits the thread's elements l, l + rows, … of a piece, of which those from `left` on do not exist.
  __device__ void see(const double (&x)[piece / rows], int vector, Index l, Index left) {
    auto key = seen_.key(first_ + vector, l);
    const auto step = seen_.step(rows);
    if (left > rows * (piece / rows - 1)) {
#pragma unroll
      for (int t = 0; t < piece / rows; ++t, key += step) seen_.one(key, x[t]);
    } else {
#pragma unroll
      for (int t = 0; t < piece / rows; ++t, key += step)
        if (rows * t < left) seen_.one(key, x[t]);
    }
  }

  /// The largest magnitude of own_vector(), over the threads of every block of the cluster.
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

  /// Writes the digits of every piece. Sixteen threads take a vector, four elements each, twice. A thread without a vector
  /// loads for the others.
  __device__ void store_all(Index vector, Top top, Index begin, Index stride) {
    const bool inside = vector < operand_.slices.count;
    const Scale scale = inside ? Scale(operand_, vector, top) : Scale();
    if (inside && cluster_.block_rank() == 0 && threadIdx.x % vectors_together == 0) scale.store(operand_.slices, vector);
    typename Task::Writer writer(operand_.task, vector, scale);
    int slot = 0;
    for (Index start = begin; start < operand_.slices.padded; start += stride, ++slot) {
      if (slot >= pieces) load_again(start);  // all threads must reach this together
      if (inside) store(writer, start, slot < pieces ? slot : 0);
    }
    if (inside) writer.template finish<16>();
  }

  __device__ void store(typename Task::Writer& writer, Index start, int slot) {
    write_row(writer, start, shared_.elements[slot][own_vector()]);
  }

  __device__ void load_again(Index start) {
    __syncthreads();  // the first slot is no longer read
    load<false>(start, 0);
    __syncthreads();
  }

  __device__ static int own_vector() { return static_cast<int>(threadIdx.x) / 16; }

  const Operand<T, Task>& operand_;
  Index first_;
  SharedMemory& shared_;
  typename Task::Seen seen_;
  cooperative_groups::cluster_group cluster_;
};

template <class T, class Task>
__device__ void slice(const Operand<T, Task>& operand, Index block, SharedMemory& shared) {
  if (operand.elements_together())
    slice_by_teams(operand, block, shared);
  else
    ClusterSlicer<T, Task>(operand, block / cooperative_groups::this_cluster().num_blocks() * vectors_together, shared).run();
}

#endif

template <class T, class Task>
__global__ __launch_bounds__(threads, Task::blocks_together) void slice_both(const __grid_constant__ Operand<T, Task> a,
                                                                             const __grid_constant__ Operand<T, Task> b,
                                                                             unsigned blocks_of_a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) std::uint8_t memory[];
  auto& shared = *reinterpret_cast<SharedMemory*>(memory);
  cudaTriggerProgrammaticLaunchCompletion();  // lets the product prepare itself meanwhile
  if (blockIdx.x < blocks_of_a)
    slice(a, blockIdx.x, shared);
  else
    slice(b, blockIdx.x - blocks_of_a, shared);
#endif
}

/// The number of blocks, in whole clusters.
template <class T, class Task>
Index blocks_for(const Operand<T, Task>& operand, int cluster) {
  const Index count = operand.slices.count, teams = threads / team_threads<Task>(operand.slices.padded);
  const Index blocks =
      operand.elements_together() ? (count + teams - 1) / teams : (count + vectors_together - 1) / vectors_together * cluster;
  return (blocks + cluster - 1) / cluster * cluster;
}

template <class T, class Task>
void launch(const Operand<T, Task>& a, const Operand<T, Task>& b, cudaStream_t stream) {
  const int cluster = cluster_for(std::max(a.slices.padded, b.slices.padded));
  const Index blocks_of_a = blocks_for(a, cluster), blocks = blocks_of_a + blocks_for(b, cluster);
  if (blocks == 0) return;
  constexpr auto kernel = slice_both<T, Task>;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = std::max(shared_bytes(a, cluster), shared_bytes(b, cluster));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(SharedMemory))),
        "cudaFuncSetAttribute");
  check(cudaLaunchKernelEx(&config, kernel, a, b, static_cast<unsigned>(blocks_of_a)), "cudaLaunchKernelEx");
}

/// An operand's vectors and their Task.
template <class Task>
struct Job {
  DeviceMatrix vectors;
  Task task;
};

/// Calls launch(a, b, T()), T the type of both operands. If their types differ, calls it for each operand beside a job without
/// vectors, in either order: what an operand needs is in its job.
template <class Job, class Launch>
void launch_by_type(const Job& a, const Job& b, const Launch& launch) {
  const auto typed = [&](const Job& one, const Job& other) {
    return one.vectors.is_double ? launch(one, other, double()) : launch(one, other, float());
  };
  const auto without_vectors = [](Job job) {
    job.task.slices.count = 0;
    return job;
  };
  if (a.vectors.is_double == b.vectors.is_double) return typed(a, b);
  typed(a, without_vectors(a));
  typed(b, without_vectors(b));
}

/// Runs both operands, in one launch if they have one type.
template <class Task>
void launch_both(const Job<Task>& a, const Job<Task>& b, cudaStream_t stream) {
  launch_by_type(a, b, [stream]<class T>(const Job<Task>& one, const Job<Task>& other, T) {
    launch(Operand<T, Task>(one.vectors, one.task), Operand<T, Task>(other.vectors, other.task), stream);
  });
}

}  // namespace fast_slicing
}  // namespace ozbound::gpu
