// SPDX-License-Identifier: BSD-3-Clause
#include "fast_residues.hpp"

#include <algorithm>
#include <cstdint>

#include "element_reduction.cuh"
#include "fast_slicing.cuh"
#include "ozbound/core/residue_plan.hpp"
#include "residues.hpp"

namespace ozbound::gpu {
namespace fast_residues {

constexpr int most_bits = 118;  ///< of h 2^56 + l, where h then has at most 62 bits

/// Residues of integers of at most most_narrow_bits bits; `Wide`: of most_bits.
template <bool Wide>
struct Task {
  static constexpr int blocks_together = Wide ? 2 : 3, most_team = fast_slicing::threads, quads = 4;

  DeviceSlices slices;
  int bits;
  ElementReductions moduli;
  const std::int32_t* bits_there = nullptr;    ///< in place of `bits`, if a kernel chose the plan
  const std::int32_t* moduli_there = nullptr;  ///< in place of slices.slices, likewise

  explicit Task(const ResidueJob& job)
      : slices(job.operand.slices), bits(job.form.bits), moduli(residue_constants(job.form.moduli)) {}
  Task(const ResidueJob& job, const std::int32_t* chosen_bits, const std::int32_t* chosen_moduli) : Task(job) {
    bits_there = chosen_bits, moduli_there = chosen_moduli;
  }

  [[nodiscard]] __device__ static Encoding encoding() { return residue_measure.encoding; }
  /// Exponent of an integer's last bit over a vector's scale.
  [[nodiscard]] __device__ int unit() const { return -(bits_there == nullptr ? bits : *bits_there); }
  [[nodiscard]] __device__ int count() const { return moduli_there == nullptr ? slices.slices : *moduli_there; }

  class Writer;
  using Seen = fast_slicing::NothingSeen;
};

/// An operand whose scales are known.
struct ScaledJob : fast_slicing::Job<Task<false>> {
  DeviceSlices scales;
};

/// The same with the operand's type. No thread waits for the whole of a vector.
template <class T>
struct ScaledOperand {
  static constexpr int elements = 256;  ///< that a warp takes of one vector, if they lie side by side

  fast_slicing::Operand<T, Task<false>> operand;
  const std::int32_t* exponents;
  const std::uint8_t* special;

  explicit ScaledOperand(const ScaledJob& job)
      : operand(job.vectors, job.task), exponents(job.scales.exponents), special(job.scales.special) {}

  [[nodiscard]] Index blocks() const {
    const Index count = operand.slices.count, padded = operand.slices.padded;
    if (operand.elements_together())
      return (count + fast_slicing::warps - 1) / fast_slicing::warps * ((padded + elements - 1) / elements);
    return (count + fast_slicing::vectors_together - 1) / fast_slicing::vectors_together * (padded / fast_slicing::piece);
  }
};

/// An integer as signed bytes.
template <bool Wide>
struct SignedBytes;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

template <>
struct SignedBytes<false> {
  std::uint64_t bytes;

  /// RN(x), |x| <= 2^62.
  static __device__ SignedBytes of(double x) { return {bytes_with_signs(static_cast<std::uint64_t>(__double2ll_rn(x)))}; }
  [[nodiscard]] __device__ std::int32_t rest(const ElementReduction& modulus) const { return modulus.rest(bytes); }
};

template <>
struct SignedBytes<true> {
  std::uint64_t low, high;  ///< of 2^56 high + low

  /// RN(x), |x| <= 2^118. The rest of x beyond multiples of 2^56 is a double, and rounds as x does.
  static __device__ SignedBytes of(double x) {
    const double upper = rint(x * 0x1p-56), rest = __fma_rn(upper, -0x1p56, x);
    return {bytes_with_signs(static_cast<std::uint64_t>(__double2ll_rn(rest))),
            bytes_with_signs(static_cast<std::uint64_t>(__double2ll_rn(upper)))};
  }
  [[nodiscard]] __device__ std::int32_t rest(const ElementReduction& modulus) const { return modulus.rest(low, high); }
};

/// The residues of one vector.
template <bool Wide>
class Task<Wide>::Writer {
 public:
  __device__ Writer(const Task& task, Index vector, const fast_slicing::Scale& scale)
      : moduli_(task.moduli),
        first_(task.slices.digits + vector * task.slices.pitch()),
        step_(task.slices.offset(2)),
        count_(task.count()),
        scale_(scale) {}

  static constexpr bool takes_two = true;

  /// Writes the residues of elements l … l + 3. @pre l is a multiple of 4.
  __device__ void write(Index l, const double (&x)[4]) const { write_all<1>(l, 0, &x); }
  /// Also those of elements l + step … l + step + 3.
  __device__ void write_two(Index l, Index step, const double (*x)[4]) const { write_all<2>(l, step, x); }

  template <int Lanes>
  __device__ void finish() {}

 private:
  template <int Quads>
  __device__ void write_all(Index l, Index step, const double (*x)[4]) const {
    SignedBytes<Wide> integers[Quads][4] = {};
    if (!scale_.special)
#pragma unroll
      for (int q = 0; q < Quads; ++q)
#pragma unroll
        for (int e = 0; e < 4; ++e) integers[q][e] = SignedBytes<Wide>::of(x[q][e] * scale_.first * scale_.second);
    auto* to = first_ + l;
#pragma unroll 2
    for (int t = 0; t < count_; ++t, to += step_) {
      const ElementReduction modulus = moduli_.of[t];
#pragma unroll
      for (int q = 0; q < Quads; ++q) {
        std::uint32_t words[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) words[e] = static_cast<std::uint32_t>(integers[q][e].rest(modulus));
        *reinterpret_cast<std::uint32_t*>(to + q * step) = lowest_bytes(words);
      }
    }
  }

  const ElementReductions& moduli_;
  std::int8_t* first_;  ///< the residue modulo the first modulus of the first element
  Index step_;          ///< from one modulus to the next
  int count_;
  const fast_slicing::Scale& scale_;
};

/// The scale of a vector. The thread of its first element stores it.
template <class T>
__device__ fast_slicing::Scale scale_of(const ScaledOperand<T>& of, Index vector, bool first) {
  const fast_slicing::Scale scale(of.exponents[vector], of.special[vector] != 0, of.operand.task.unit());
  if (first) scale.store(of.operand.slices, vector);
  return scale;
}

/// A warp takes a part of one vector, whose elements lie side by side.
template <class T>
__device__ void write_part(const ScaledOperand<T>& of, unsigned block) {
  constexpr int elements = ScaledOperand<T>::elements, step = elements / 2;
  const auto& [data, vector_stride, element_stride, task, slices] = of.operand;
  const auto parts = static_cast<unsigned>((slices.padded + elements - 1) / elements);
  const Index vector = Index{block / parts} * fast_slicing::warps + threadIdx.x / 32;
  const Index l = Index{block % parts} * elements + 4 * (threadIdx.x % 32);
  if (vector >= slices.count) return;
  const T* const from = data + vector * vector_stride + l;
  double x[2][4];
#pragma unroll
  for (int q = 0; q < 2; ++q) fast_slicing::load_four(from + q * step, slices.inner - l - q * step, x[q]);
  const auto scale = scale_of(of, vector, l == 0);
  Task<false>::Writer writer(task, vector, scale);
  fast_slicing::write_two(writer, l, step, slices.padded, x);
}

/// A block takes a piece of vectors that lie side by side.
template <class T>
__device__ void write_piece(const ScaledOperand<T>& of, unsigned block, fast_slicing::SharedMemory::Piece& elements) {
  using fast_slicing::piece, fast_slicing::rows, fast_slicing::vectors_together;
  const auto& slices = of.operand.slices;
  const auto pieces = static_cast<unsigned>(slices.padded / piece);
  const Index first = Index{block / pieces} * vectors_together, start = Index{block % pieces} * piece;
  const int thread = static_cast<int>(threadIdx.x), column = thread % vectors_together, row = thread / vectors_together;
  double x[piece / rows];
  fast_slicing::load_piece(of.operand, first, column, start, row, x);
#pragma unroll
  for (int t = 0; t < piece / rows; ++t) elements[column][row + rows * t] = x[t];
  __syncthreads();
  const int own = thread / 16, l = thread % 16 * 4;
  if (first + own >= slices.count) return;
  const auto scale = scale_of(of, first + own, start + l == 0);
  Task<false>::Writer writer(of.operand.task, first + own, scale);
  fast_slicing::write_row(writer, start, elements[own]);
}

#endif

/// Residues under scales and a plan that are known on the device.
template <class T>
__global__ void __launch_bounds__(fast_slicing::threads, 4)
    write_scaled(const __grid_constant__ ScaledOperand<T> a, const __grid_constant__ ScaledOperand<T> b, unsigned blocks_of_a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __shared__ __align__(16) fast_slicing::SharedMemory::Piece elements;
  cudaTriggerProgrammaticLaunchCompletion();  // lets the product prepare itself meanwhile
  const bool of_a = blockIdx.x < blocks_of_a;
  const auto& of = of_a ? a : b;
  const unsigned block = of_a ? blockIdx.x : blockIdx.x - blocks_of_a;
  if (of.operand.task.count() == 0) return;  // no plan was chosen
  if (of.operand.elements_together())
    write_part(of, block);
  else
    write_piece(of, block, elements);
#endif
}

}  // namespace fast_residues

bool fast_residues_apply(const DeviceMatrix& vectors, ResidueForm form) {
  return form.bits <= fast_residues::most_bits && fast_slicing_reads(vectors);
}

void launch_fast_residues(const ResidueJob& a, const ResidueJob& b, cudaStream_t stream) {
  const auto launch = [&]<bool Wide>(fast_residues::Task<Wide> of_a, fast_residues::Task<Wide> of_b) {
    fast_slicing::launch_both<fast_residues::Task<Wide>>({a.operand.vectors, of_a}, {b.operand.vectors, of_b}, stream);
  };
  if (std::max(a.form.bits, b.form.bits) <= most_narrow_bits)
    launch(fast_residues::Task<false>(a), fast_residues::Task<false>(b));
  else
    launch(fast_residues::Task<true>(a), fast_residues::Task<true>(b));
}

void launch_scaled_residues(const ScaledResidueJob& a, const ScaledResidueJob& b, const ChosenResidues* chosen,
                            cudaStream_t stream) {
  using fast_residues::ScaledJob, fast_residues::ScaledOperand, fast_residues::Task;
  const auto job = [chosen](const ScaledResidueJob& of, const std::int32_t* bits) {
    const ResidueJob any{of.operand, {of.operand.slices.slices, most_narrow_bits}};
    return ScaledJob{{of.operand.vectors, Task<false>(any, bits, &chosen->moduli)}, of.scales};
  };
  const auto launch = [stream]<class T>(const ScaledJob& one, const ScaledJob& other, T) {
    const ScaledOperand<T> first(one), second(other);
    const Index of_first = first.blocks(), blocks = of_first + second.blocks();
    if (blocks == 0) return;
    fast_residues::write_scaled<T>
        <<<static_cast<unsigned>(blocks), fast_slicing::threads, 0, stream>>>(first, second, static_cast<unsigned>(of_first));
    check_launch("write_scaled");
  };
  fast_slicing::launch_by_type(job(a, &chosen->bits_a), job(b, &chosen->bits_b), launch);
}

}  // namespace ozbound::gpu
