// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "ozbound/core/gemm.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/gpu/path.hpp"

struct CUstream_st;

namespace ozbound::gpu {

/// A cudaStream_t, without CUDA's headers.
using Stream = CUstream_st*;

/// alpha and beta in device memory, in place of the call's where not null. With an alpha of 0 there the NaN and infinities of A
/// and B change nothing, as if they were not read; with a beta there the call has a C0.
struct DeviceScalars {
  const double* alpha = nullptr;
  const double* beta = nullptr;
};

/// Products of one shape, one after the other in memory: A of product t begins t * stride_a elements after the call's, and B, C
/// and C0 likewise. A stride of 0 is one operand of all, whose slices or residues are made once for every
/// block of C.
struct DeviceBatch {
  Index count = 1;
  Index stride_a = 0, stride_b = 0, stride_c = 0, stride_c0 = 0;
};

/// C = alpha A B + beta C0 under one plan, for matrices of one shape in device memory: the bits of multiply_unproven(call,
/// plan, CpuEngine).
///
/// Everything that takes time, memory or the host's attention happens when this is made: a call only launches kernels on the
/// stream, so that it can be captured in a CUDA graph. Calls may overlap if each has its own workspace. This must live until
/// its calls, and graphs of them, are over.
class DeviceGemm {
 public:
  struct Options {
    int device = 0;
    Path path = Path::automatic;             ///< where it does not apply, another
    double workspace = unlimited_workspace;  ///< bytes that workspace() may be at most: C is computed in blocks

    /// A bound of |AB - S| of every entry relative to rho_i sigma_j, whatever A and B hold (truncation_a_priori_upper of
    /// bounds; of residues residue_a_priori_upper). If it is above 0, C is correctly rounded: entries that it does not decide
    /// are finished exactly, on the same stream.
    double error = 0;

    /// The caller knows that a plan by residues holds the operands of every call (check_held of core/gemm.hpp): else entries
    /// are wrong. If not, the plan must hold whatever operands there are, k 2^(bits_a + bits_b) < P / 2.
    bool held = false;
  };

  /// @throws std::invalid_argument for a plan, a size or a device that is none, a plan that is not sure to hold the operands
  /// (Options::held), or a cap that 128 x 128 entries of C do not keep; CudaError where CUDA reports an error.
  DeviceGemm(const Plan& plan, Index m, Index n, Index k, Options options);
  DeviceGemm(const Plan& plan, Index m, Index n, Index k) : DeviceGemm(plan, m, n, k, Options{}) {}
  ~DeviceGemm();
  DeviceGemm(const DeviceGemm&) = delete;
  DeviceGemm& operator=(const DeviceGemm&) = delete;

  /// Bytes of device memory that a call needs, aligned to 1024 bytes as cudaMalloc's is.
  [[nodiscard]] std::size_t workspace() const;

  /// The path that the product takes.
  [[nodiscard]] Path path() const;

  /// Computes C in the caller's workspace. The call's views are of device memory. Asynchronous; nothing is allocated.
  ///
  /// The products of a batch are in the order of the stream and share the workspace; each has the bits that it has alone.
  /// `kept` are slices or residues of A and B by CudaEngine::prepare on this device, which are not made again, and must live
  /// until the call is over: NaN and infinities are still looked up in A and B.
  /// @throws std::invalid_argument as RealProduct::check, also for C's of a batch that overlap another C or any A, B or C0; for
  /// another shape, negative strides or counts, kept slices that are not of the plan, the shape or this device, or of an
  /// operand that differs from product to product; CudaError where a launch fails.
  void operator()(const RealProduct& call, void* workspace, Stream stream, DeviceScalars scalars = {},
                  const DeviceBatch& batch = {}, KeptOperands kept = {}) const;

  /// The same in a workspace of its own, which is allocated at the first call. Calls are in the order of one stream.
  void operator()(const RealProduct& call, Stream stream, DeviceScalars scalars = {}, const DeviceBatch& batch = {},
                  KeptOperands kept = {});

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace ozbound::gpu
