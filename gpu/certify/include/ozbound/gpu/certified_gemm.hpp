// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/stream_launcher.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/gpu/cuda_backend.hpp"
#include "ozbound/gpu/device_gemm.hpp"

namespace ozbound::gpu {

/// Certified products C = A B of one shape, decided and multiplied on a device without its host: kernels choose the plan by
/// residues and read it from device memory. A call only launches work and returns at once, so that it can be captured in a CUDA
/// graph, which chooses anew for the data of every replay. C has the bits of `multiply` under the plan that was chosen.
///
/// A plan is chosen where `multiply` would take one by residues by the formula of docs/adr/0018. There is none if level 1 of
/// the enclosure of |A||B| is loose (sums of very different magnitudes), or if the plan has more moduli than Options allows, or
/// costs more than native DGEMM. Native DGEMM then computes C, if Options allows it, if A and B are of doubles, if A, B and C
/// are row-major or column-major, and if it certifies the target whatever the sums are. Otherwise nothing is written, and
/// `record` says so: call `multiply` for such operands.
class CertifiedGemm {
 public:
  struct Options {
    int most_moduli = 15;       ///< 2 … 20; the workspace is for this many
    int least_moduli = 0;       ///< 2 … most_moduli; products that need fewer take this many, and every number between the two
                                ///< costs a kernel that starts and ends. 0: a few less than the target usually asks for
    double sum_bytes = 0x1p30;  ///< as CudaEngine::Options::sum_bytes
    bool native = true;         ///< cublasDgemm may compute C, where this build and the driver have CUDA 13 and cuBLAS. The
                                ///< conditional node in a captured graph keeps that from being a child graph of another one
  };

  /// @param backend it must outlive this object @param target dgemm, dgemm-typical or componentwise
  /// @throws std::invalid_argument for another target, a size below 1 or one that these kernels cannot multiply, options out
  /// of range, or a device without the kernels (Hopper); CannotCertify for a target below u; CudaError.
  CertifiedGemm(const CudaBackend& backend, const Target& target, Index m, Index n, Index k, Options options);
  CertifiedGemm(const CudaBackend& backend, const Target& target, Index m, Index n, Index k)
      : CertifiedGemm(backend, target, m, n, k, Options{}) {}
  ~CertifiedGemm();
  CertifiedGemm(const CertifiedGemm&) = delete;
  CertifiedGemm& operator=(const CertifiedGemm&) = delete;

  /// Bytes of device memory that a product needs, aligned to 1024 bytes, and that keep its record. A multiple of 1024.
  [[nodiscard]] std::size_t workspace() const;

  /// Computes C. Matrices lie in the device's memory; C is of doubles, alpha is 1 and beta 0. Calls may overlap if each has its
  /// own workspace, which overlaps no matrix. While another thread is in a call of this object, or captures one, a call may run
  /// on its own stream alone, and a captured graph then has fewer branches. With native DGEMM, a call that is not captured
  /// makes a CUDA graph for matrices and a workspace that were not among those of the last 256 calls with others; once there
  /// are so many, that waits for the device. After an exception, work that was launched may still use the matrices. @throws
  /// std::invalid_argument as RealProduct::check, and for other shapes, scalars or places, or a workspace that is null or not
  /// aligned; CudaError if a launch fails.
  void operator()(const RealProduct& product, void* workspace, Stream stream) const;

  /// Computes the C of several products on up to eight streams, so that small ones run side by side, a plan chosen for each. In
  /// a captured graph they are one launch. Products must not depend on each other: no C overlaps a matrix of another product.
  /// @param workspace of products.size() times workspace() bytes; product t has the part that begins at t times workspace(),
  /// which keeps its record. @throws as for one product, before any is launched if an argument is wrong.
  void operator()(std::span<const RealProduct> products, void* workspace, Stream stream) const;

  /// The decision and the certificate of the last call with this workspace, on this or another stream; nothing if neither a
  /// plan nor native DGEMM was chosen, if an entry of C became infinite only by rounding, or if the worst entry is beyond the
  /// target after all, by less than 2^-40 of it. In the last two cases C is of no use. Copies the record from the workspace,
  /// and waits for the stream. If native DGEMM computed C, reads A, B and C to certify it; nothing if one of them was changed
  /// since.
  /// @param product of that call @throws std::invalid_argument for another kind of product, or such a workspace; CudaError.
  /// @pre the call's work is done or on this stream.
  [[nodiscard]] std::optional<Multiplied> record(const RealProduct& product, const void* workspace, Stream stream) const;

  /// The facts from which `record` makes the decision and the certificate; nothing if nothing was chosen. @throws and @pre as
  /// record.
  [[nodiscard]] std::optional<StreamRecord> stream_record(const void* workspace, Stream stream) const;

 private:
  struct Work;
  std::unique_ptr<const Work> work_;
};

}  // namespace ozbound::gpu
