// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "ozbound/core/matrix.hpp"

struct cublasContext;

namespace ozbound::bench {

/// cublasDgemm, for column-major matrices in device memory.
class Cublas {
 public:
  /// The arithmetic: FP64 units, or cuBLAS's own emulation on INT8 units, eager, with 55 bits of mantissa.
  enum class Way { native, emulated };

  explicit Cublas(Way way);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// True if this cuBLAS has the emulation.
  static bool can_emulate();

  /// C = A B.
  void operator()(const double* a, const double* b, double* c, Index m, Index n, Index k, cudaStream_t stream) const;
  /// The same for `count` products of n x n matrices, each of which lies behind the one before it.
  void batch(const double* a, const double* b, double* c, Index n, Index count, cudaStream_t stream) const;

 private:
  cublasContext* handle_ = nullptr;
};

/// `cuBLAS 13.1.0`.
const char* cublas_version();

}  // namespace ozbound::bench
