// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/machine.hpp"

namespace ozbound {

/// A product in a stream of a CUDA device. It may be destroyed before its work is done.
class ProductInStream {
 public:
  ~ProductInStream();
  ProductInStream(ProductInStream&&) noexcept;
  ProductInStream& operator=(ProductInStream&&) noexcept;

  /// Waits for the work that the stream was given until now, and returns the product's decision and certificate, which this
  /// object holds. If the device could not certify the product on its own, the first call decides and computes it, as
  /// `multiply` does. @throws as multiply. Errors of earlier work of the stream are thrown here, as plugin::DeviceError.
  const Multiplied& wait();

 private:
  friend ProductInStream multiply_in_stream(const RealProduct&, const Target&, const Machine&, void*);
  struct State;
  explicit ProductInStream(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Computes C = alpha A B + beta C0 to a target accuracy in the order of a stream, and returns at once where the device decides
/// the product on its own: C = A B of doubles, A, B and C in its memory, row-major or column-major, for `dgemm`,
/// `dgemm-typical` or a componentwise target, on a Hopper. The device then chooses residues or native DGEMM
/// (ozbound/gpu/certified_gemm.hpp), and later work of the stream finds C. Where it can certify neither, as for sums of terms
/// of very different magnitudes whose native sum may underflow, or for an entry that overflows only by rounding, C has its old
/// elements or others of no use until `wait` is called. Any other product waits for the stream, and is complete when this
/// function returns.
///
/// A, B and C must stay as they are until `wait` has returned, and exist until the work is done if it is never called. The
/// first product of a shape and a target waits for the device.
/// @param stream a cudaStream_t of the machine's device, or null for its default stream. It must outlive the result.
/// @throws as multiply, and std::invalid_argument if the machine has no device, or the stream is captured. (A
/// gpu::CertifiedGemm can be captured.)
ProductInStream multiply_in_stream(const RealProduct& product, const Target& target, const Machine& machine, void* stream);

}  // namespace ozbound
