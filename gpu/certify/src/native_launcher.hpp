// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "ozbound/core/product.hpp"

namespace ozbound::gpu {

/// The native DGEMM of make_cublas_gemm for matrices that lie on the device, without a wait or an allocation: it can be
/// captured. Several threads may use it at once.
class NativeLauncher {
 public:
  static constexpr std::size_t workspace_bytes = std::size_t{4} << 20;

  virtual ~NativeLauncher() = default;

  /// True if the library takes the matrices as they are: doubles, row-major or column-major.
  [[nodiscard]] virtual bool takes(const RealProduct& product) const = 0;

  /// @param workspace of workspace_bytes bytes on the device, for this call alone until it is done @pre takes(product)
  virtual void launch(const RealProduct& product, void* workspace, cudaStream_t stream) const = 0;
};

/// Null if this build has no cuBLAS.
std::unique_ptr<NativeLauncher> make_cublas_launcher(int device);

}  // namespace ozbound::gpu
