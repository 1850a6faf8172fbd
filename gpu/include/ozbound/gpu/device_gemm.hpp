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

/// alpha and beta in device memory. A pointer that is not null replaces the call's scalar. If alpha at the pointer is 0, NaN
/// and infinities of A and B have no effect, as if A and B were not read. If a pointer to beta is given, the call has a C0.
struct DeviceScalars {
  const double* alpha = nullptr;
  const double* beta = nullptr;
};

/// Products of one shape, one after the other in memory: A of product t begins t * stride_a elements after the call's A, and B,
/// C and C0 likewise. A stride of 0 means that all products share the operand; its slices or residues are then made once for
/// every block of C.
struct DeviceBatch {
  Index count = 1;
  Index stride_a = 0, stride_b = 0, stride_c = 0, stride_c0 = 0;
};

/// C = alpha A B + beta C0 under one plan, for matrices of one shape in device memory, with the bits of
/// multiply_unproven(product, plan, CpuEngine). The constructor does everything that takes time, memory or the host's
/// attention. A call only launches kernels on the stream, and can therefore be captured in a CUDA graph. Calls may overlap if
/// each has its own workspace. The object must live until its calls, and graphs of them, have finished.
class DeviceGemm {
 public:
  struct Options {
    int device = 0;
    Path path = Path::automatic;             ///< if it does not apply, another path is taken
    double workspace = unlimited_workspace;  ///< the most bytes of workspace(); C is computed in blocks that fit

    /// A bound of |AB - S| for every entry relative to rho_i sigma_j, valid for all A and B (truncation_a_priori_upper of
    /// bounds; for residues residue_a_priori_upper). If it is above 0, C is correctly rounded: entries that the bound does not
    /// decide are finished exactly, on the same stream.
    double error = 0;

    /// True if the caller knows that a plan by residues holds the operands of every call (check_held of core/gemm.hpp); entries
    /// are wrong if it does not. If false, the plan must hold all operands, k 2^(bits_a + bits_b) < P / 2.
    bool held = false;
  };

  /// @throws std::invalid_argument for an invalid plan, size or device, a plan that may not hold the operands (Options::held),
  /// or a cap too small for 128 x 128 entries of C; CudaError if CUDA reports an error.
  DeviceGemm(const Plan& plan, Index m, Index n, Index k, Options options);
  DeviceGemm(const Plan& plan, Index m, Index n, Index k) : DeviceGemm(plan, m, n, k, Options{}) {}
  ~DeviceGemm();
  DeviceGemm(const DeviceGemm&) = delete;
  DeviceGemm& operator=(const DeviceGemm&) = delete;

  /// Bytes of device memory that a call needs, aligned to 1024 bytes. Memory of cudaMalloc is aligned enough.
  [[nodiscard]] std::size_t workspace() const;

  /// The path that the product takes.
  [[nodiscard]] Path path() const;

  /// Computes C in the caller's workspace. The call's views are in device memory. Asynchronous; allocates nothing.
  /// The products of a batch run in the order of the stream and share the workspace. Each has the bits that it has outside a
  /// batch. `kept` holds slices or residues of A and B from CudaEngine::prepare on this device, which are not made again. They
  /// must live until the call is over. NaN and infinities are still looked up in A and B.
  /// @throws std::invalid_argument as RealProduct::check; also if a C of a batch overlaps another C or any A, B or C0; for
  /// another shape, for negative strides or counts, and for kept slices of another plan, shape or device, or of an operand that
  /// differs from product to product. CudaError if a launch fails.
  void operator()(const RealProduct& product, void* workspace, Stream stream, DeviceScalars scalars = {},
                  const DeviceBatch& batch = {}, KeptOperands kept = {}) const;

  /// Computes C in a workspace that this object owns and allocates at the first call. All calls must be in the order of one
  /// stream.
  void operator()(const RealProduct& product, Stream stream, DeviceScalars scalars = {}, const DeviceBatch& batch = {},
                  KeptOperands kept = {});

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace ozbound::gpu
