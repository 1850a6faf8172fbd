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
  static constexpr int blocks_together = Wide ? 3 : 4, most_team = fast_slicing::threads, quads = 4;

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

  /// Writes the residues of elements l … l + 3. @pre l is a multiple of 4.
  __device__ void write(Index l, const double (&x)[4]) const {
    SignedBytes<Wide> integers[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) integers[e] = SignedBytes<Wide>::of(scale_.special ? 0 : x[e] * scale_.first * scale_.second);
    auto* to = first_ + l;
#pragma unroll 2
    for (int t = 0; t < count_; ++t, to += step_) {
      std::uint32_t words[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) words[e] = static_cast<std::uint32_t>(integers[e].rest(moduli_.of[t]));
      *reinterpret_cast<std::uint32_t*>(to) = lowest_bytes(words);
    }
  }

  template <int Lanes>
  __device__ void finish() {}

 private:
  const ElementReductions& moduli_;
  std::int8_t* first_;  ///< the residue modulo the first modulus of the first element
  Index step_;          ///< from one modulus to the next
  int count_;
  const fast_slicing::Scale& scale_;
};

#endif

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

void launch_fast_residues(const ResidueJob& a, const ResidueJob& b, const ChosenResidues* chosen, cudaStream_t stream) {
  using Task = fast_residues::Task<false>;
  fast_slicing::launch_both<Task>({a.operand.vectors, Task(a, &chosen->bits_a, &chosen->moduli)},
                                  {b.operand.vectors, Task(b, &chosen->bits_b, &chosen->moduli)}, stream);
}

}  // namespace ozbound::gpu
