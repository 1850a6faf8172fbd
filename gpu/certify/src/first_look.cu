// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cuda_check.hpp"
#include "device_fingerprint.hpp"
#include "facts.hpp"
#include "fast_slicing.cuh"
#include "fast_slicing.hpp"
#include "first_digits.hpp"
#include "first_look.hpp"
#include "memory.hpp"
#include "ozbound/core/detail/fingerprint_term.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "residues.hpp"
#include "round_up.hpp"
#include "slicing.hpp"

namespace ozbound::gpu {
namespace first_look {

using Word = unsigned long long;

/// The look at one operand. Reads each of its elements from memory once.
struct Task {
  static constexpr int blocks_together = 3, most_team = 128, quads = 2;

  DeviceSlices slices;
  Word* sums;
  Word* prints;
  LookNorms norms;
  Index by_vector, by_element;

  explicit Task(const LookJob& job)
      : slices(job.look.digits),
        sums(reinterpret_cast<Word*>(job.look.sums)),
        prints(reinterpret_cast<Word*>(job.look.prints)),
        norms(job.look.norms),
        by_vector(job.by_vector),
        by_element(job.by_element) {}

  [[nodiscard]] __device__ static Encoding encoding() { return {Encoding::Kind::truncated, 7}; }
  [[nodiscard]] __device__ int unit() const { return -7; }

  /// The fingerprint's key of an element.
  [[nodiscard]] __device__ std::uint64_t key(Index vector, Index l) const {
    return fingerprint_key(static_cast<std::uint64_t>(vector * by_vector + l * by_element));
  }
  /// The difference between the keys of elements at this distance in a vector.
  [[nodiscard]] __device__ std::uint64_t step(int distance) const {
    return static_cast<std::uint64_t>(distance * by_element) * fingerprint_step;
  }

  class Seen;
  class Writer;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Sums the fingerprint's terms, those of NaNs by their own bits. The Writer puts Format's NaN in their place.
class Task::Seen {
 public:
  explicit __device__ Seen(const Task& task) : task_(task) {}

  [[nodiscard]] __device__ std::uint64_t key(Index vector, Index l) const { return task_.key(vector, l); }
  [[nodiscard]] __device__ std::uint64_t step(int distance) const { return task_.step(distance); }
  __device__ void one(std::uint64_t key, double x) { sum_ += fingerprint_term_of_one_nan(bits_of(x), key); }
  __device__ void four(Index vector, Index l, Index inner, const double (&x)[4]) {
    auto of_element = key(vector, l);
    const auto next = step(1);
    if (l + 3 < inner) {
#pragma unroll
      for (int t = 0; t < 4; ++t, of_element += next) one(of_element, x[t]);
    } else {
#pragma unroll
      for (int t = 0; t < 4; ++t, of_element += next)
        if (l + t < inner) one(of_element, x[t]);
    }
  }
  /// Called by whole warps.
  __device__ void finish() {
    for (int offset = 16; offset > 0; offset /= 2) sum_ += __shfl_xor_sync(~0u, sum_, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(task_.prints + blockIdx.x % FirstLook::print_words, sum_);
  }

 private:
  const Task& task_;
  Word sum_ = 0;
};

/// Writes the digits of one vector, their sum, and the vector's norms.
class Task::Writer {
 public:
  __device__ Writer(const Task& task, Index vector, const fast_slicing::Scale& scale)
      : task_(task), vector_(vector), scale_(scale), digits_(task.slices.digits + vector * task.slices.pitch()) {
    const int up = IntegerNorms::fraction_bits - scale.exponent, first = up > 0 ? up / 2 : 0;
    first_ = power_of_two(first);
    second_ = power_of_two(up - first);
  }

  static constexpr bool takes_two = false;

  /// Writes elements l … l + 3. @pre l is a multiple of 4.
  __device__ void write(Index l, const double (&x)[4]) {
    std::uint32_t word = 0;
    if (scale_.special)
      replace_nans(task_, vector_, l, x[0], x[1], x[2], x[3]);
    else
      word = digits_of(x);
    *reinterpret_cast<std::uint32_t*>(digits_ + l) = word;
    sum_ = __dp4a(word, 0x01010101u, sum_);
  }

  /// Called by `Lanes` adjacent threads that wrote parts of the same vector.
  template <int Lanes>
  __device__ void finish() const {
    const unsigned lane = threadIdx.x % 32;
    const unsigned together = Lanes == 32 ? ~0u : ((1u << (Lanes % 32)) - 1) << (lane / Lanes * Lanes);
    Word digits = sum_, sum = upper_, squares = squares_, floor_squares = floor_squares_;
    for (int offset = Lanes / 2; offset > 0; offset /= 2) {
      digits += __shfl_xor_sync(together, digits, offset);
      sum += __shfl_xor_sync(together, sum, offset);
      squares += __shfl_xor_sync(together, squares, offset);
      floor_squares += __shfl_xor_sync(together, floor_squares, offset);
    }
    const std::uint32_t most = __reduce_max_sync(together, most_);
    const int last = __reduce_min_sync(together, last_);
    if (lane % Lanes != 0) return;
    task_.slices.tops[vector_] = scale_.largest;
    if (most == 0) return;
    const auto at = [&](int which) { return reinterpret_cast<Word*>(&task_.norms.word(which, vector_)); };
    atomicAdd(task_.sums + vector_, digits);
    atomicAdd(at(0), sum);
    atomicAdd(at(1), squares);
    atomicMax(at(2), Word{most});
    atomicAdd(at(3), floor_squares);
    atomicMax(task_.norms.above_last_bits + vector_, LookNorms::no_last_bit - last);
  }

 private:
  static constexpr int below_digits = IntegerNorms::fraction_bits - 7;
  static constexpr std::uint32_t least_normal = 1u << 20;  // the upper half of the least normal number

  /// Corrects the fingerprint, which Seen summed with the bits of these elements, from element l on.
  static __device__ __noinline__ void replace_nans(const Task& task, Index vector, Index l, double x0, double x1, double x2,
                                                   double x3) {
    const double x[4] = {x0, x1, x2, x3};
#pragma unroll
    for (int t = 0; t < 4; ++t)
      if (x[t] != x[t]) {
        const auto key = task.key(vector, l + t);
        atomicAdd(task.prints + blockIdx.x % FirstLook::print_words,
                  fingerprint_term(x[t], key) - fingerprint_term_of_one_nan(bits_of(x[t]), key));
      }
  }

  /// Adds the magnitudes to the norms. Returns their digits, one in each byte. @pre all are finite.
  __device__ std::uint32_t digits_of(const double (&x)[4]) {
    constexpr double to_low_word = 0x1p52;  // added to a number below 2^32, leaves its integer part in the lower word
    std::uint32_t digits[4], sum = 0;
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const double scaled = fabs(x[t] * first_);  // exact, and not 0 unless x is
      const auto down = static_cast<std::uint32_t>(__double2loint(__fma_rd(scaled, second_, to_low_word)));
      const auto up = static_cast<std::uint32_t>(__double2loint(__fma_ru(scaled, second_, to_low_word)));
      sum += up;
      squares_ += Word{up} * up;
      floor_squares_ += Word{down} * down;
      most_ = max(most_, up);
      digits[t] = down >> below_digits;
    }
    upper_ += sum;
    take_last_bits(x);
    return __byte_perm(digits[0] | digits[1] << 16, digits[2] | digits[3] << 16, 0x6420);
  }

  /// Lets `last_` be the least position of last bits. The last bit of a number whose lower half is not 0 is what is lost when
  /// that bit is cleared, a power of two; its upper half tells its exponent, if it is normal.
  __device__ void take_last_bits(const double (&x)[4]) {
    std::uint32_t least = ~0u;
    bool any_by_parts = false;
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const auto low = static_cast<std::uint32_t>(__double2loint(x[t]));
      const double last = fabs(x[t]) - fabs(__hiloint2double(__double2hiint(x[t]), static_cast<int>(low & (low - 1))));
      least = min(least, static_cast<std::uint32_t>(__double2hiint(last)));
      any_by_parts = any_by_parts || low == 0;
    }
    last_ = min(last_, any_by_parts || least < least_normal ? last_bit_by_parts(x[0], x[1], x[2], x[3])
                                                            : static_cast<int>(least >> 20) - 1023);
  }

  /// The least exponent of these numbers' last bits. Not inline, since numbers with many bits do not need it.
  static __device__ __noinline__ int last_bit_by_parts(double x0, double x1, double x2, double x3) {
    return min(min(last_bit(x0), last_bit(x1)), min(last_bit(x2), last_bit(x3)));
  }

  /// The exponent of a number's last bit.
  __device__ static int last_bit(double x) {
    const auto low = static_cast<std::uint32_t>(__double2loint(x)), high = fast_slicing::top_of(x);
    if ((low | high) == 0) return LookNorms::no_last_bit;
    const std::uint32_t word =
        low != 0 ? low : high | least_normal;  // the leading bit of a normal number; lower bits come first
    const int zeros = __clz(static_cast<int>(__brev(word))) + (low != 0 ? 0 : 32);
    return max(static_cast<int>(high >> 20), 1) - 1075 + zeros;
  }

  const Task& task_;
  Index vector_;
  const fast_slicing::Scale& scale_;
  double first_, second_;  ///< factors to units in two steps, of which the first is exact
  std::int8_t* digits_;
  std::uint32_t sum_ = 0;
  Word upper_ = 0, squares_ = 0, floor_squares_ = 0;
  std::uint32_t most_ = 0;
  int last_ = LookNorms::no_last_bit;
};

#endif

}  // namespace first_look

namespace {

constexpr Slicing one_digit{Encoding::balanced(), 1};

/// The longest vector whose digits a thread can sum in 32 bits, for any number of threads.
constexpr Index longest_fast = Index{1} << 29;

bool is_fast(const LookJob& job) {
  return job.look.digits.inner <= longest_fast && fast_slicing_applies(job.vectors, one_digit);
}

void clear(void* words, Index bytes, cudaStream_t stream) {
  if (bytes > 0) check(cudaMemsetAsync(words, 0, static_cast<std::size_t>(bytes), stream), "cudaMemsetAsync");
}

/// Clears the vectors beyond the last, which kernels of whole tiles read.
void clear_rest(const DeviceSlices& digits, cudaStream_t stream) {
  const Index all = round_up(digits.count, DeviceSlices::vector_step);
  clear(digits.digits + digits.count * digits.pitch(), (all - digits.count) * digits.pitch(), stream);
}

void copy(void* to, const void* from, Index bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

/// Replaces the positions of last bits.
__global__ void measure_from_above(std::int32_t* last_bits, Index count) {
  const Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) last_bits[i] = LookNorms::no_last_bit - last_bits[i];
}

/// @pre tops are known.
void launch_norms(const LookJob& job, cudaStream_t stream) {
  const auto& [digits, sums, prints, norms] = job.look;
  if (norms.count == 0) return;
  DeviceFacts facts;
  Arena needed;
  take_facts(needed, residue_measure, norms.count);
  const Memory memory(needed.used(), stream);
  auto arena = memory.arena();
  facts = take_facts(arena, residue_measure, norms.count);
  facts.tops = digits.tops;
  launch_facts(job.vectors, digits.inner, facts, stream, {0, 0}, true);
  launch_last_bits(job.vectors, norms.count, digits.inner, digits.tops, LookNorms::no_last_bit, norms.above_last_bits, stream);
  constexpr Index threads = 128;
  measure_from_above<<<static_cast<unsigned>((norms.count + threads - 1) / threads), threads, 0, stream>>>(
      norms.above_last_bits, norms.count);
  check_launch("measure_from_above");
  const Index word = norms.count * Index{sizeof(std::uint64_t)};
  copy(norms.words, facts.norms, DeviceFacts::norms_each * word, stream);  // norms of the vectors, which come first
  copy(&norms.word(DeviceFacts::norms_each, 0), facts.floor_squares, word, stream);
}

/// Makes the look in several passes, on any device.
void launch_passes(const LookJob& job, cudaStream_t stream) {
  const auto& digits = job.look.digits;
  launch_first_magnitudes(job.vectors, digits, stream);
  launch_digit_sums(digits, job.look.sums, stream);
  const bool of_rows = job.by_element == 1;
  const auto matrix = of_rows ? job.vectors : transposed(job.vectors);
  launch_fingerprint(matrix, of_rows ? digits.count : digits.inner, of_rows ? digits.inner : digits.count, job.look.prints,
                     stream);
  launch_norms(job, stream);
}

}  // namespace

void launch_first_looks(const LookJob& a, const LookJob& b, cudaStream_t stream) {
  if (!has_clusters() || !is_fast(a) || !is_fast(b)) {
    launch_passes(a, stream);
    return launch_passes(b, stream);
  }
  clear_rest(a.look.digits, stream);
  clear_rest(b.look.digits, stream);
  fast_slicing::launch_both<first_look::Task>({a.vectors, first_look::Task(a)}, {b.vectors, first_look::Task(b)}, stream);
}

}  // namespace ozbound::gpu
