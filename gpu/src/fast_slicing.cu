// SPDX-License-Identifier: BSD-3-Clause
#include "fast_slicing.hpp"

#include <cstdint>

#include "bytes.cuh"
#include "fast_slicing.cuh"

namespace ozbound::gpu {
namespace fast_slicing {

/// Balanced slices, at most 8.
struct BalancedTask {
  static constexpr int blocks_together = 3, most_team = fast_slicing::threads, quads = 4;

  DeviceSlices slices;

  [[nodiscard]] __device__ static Encoding encoding() { return Encoding::balanced(); }
  /// Exponent of the last digit's weight over a vector's scale.
  [[nodiscard]] __device__ int unit() const { return Encoding::balanced().weight_exponent(slices.slices); }

  class Writer;
  using Seen = NothingSeen;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// Writes the digits of one vector.
class BalancedTask::Writer {
 public:
  __device__ Writer(const BalancedTask& task, Index vector, const Scale& scale)
      : last_(task.slices.digits + vector * task.slices.pitch() + task.slices.place(task.slices.slices) * task.slices.padded),
        step_(task.slices.reversed ? task.slices.padded : -task.slices.padded),
        count_(task.slices.slices),
        bias_(0x0080808080808080 >> (8 * (8 - task.slices.slices))),
        scale_(scale) {}

  static constexpr bool takes_two = false;

  /// Writes the digits of elements l … l + 3. With x in units of its last digit, balanced, byte b from the lowest is digit s -
  /// b; docs/derivations/slicing.md (S3). @pre l is a multiple of 4.
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

  template <int Lanes>
  __device__ void finish() {}

 private:
  std::int8_t* last_;  ///< digit s of the first element
  Index step_;         ///< from one digit to the previous one
  int count_;
  std::uint64_t bias_;
  const Scale& scale_;
};

#endif

}  // namespace fast_slicing

bool has_clusters() {
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  return major >= 9;
}

bool fast_slicing_reads(const DeviceMatrix& vectors) { return vectors.col_stride == 1 || vectors.row_stride == 1; }

bool fast_slicing_applies(const DeviceMatrix& vectors, Slicing slicing) {
  return slicing.encoding.kind == Encoding::Kind::balanced && slicing.slices <= 8 && fast_slicing_reads(vectors);
}

void launch_fast_slicing(const SlicingJob& a, const SlicingJob& b, cudaStream_t stream) {
  fast_slicing::launch_both<fast_slicing::BalancedTask>({a.vectors, {a.slices}}, {b.vectors, {b.slices}}, stream);
}

}  // namespace ozbound::gpu
