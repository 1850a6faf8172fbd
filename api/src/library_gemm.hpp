// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {

/// C = alpha op(A) op(B) + beta C by a library: column-major, op N, T or C, sizes and leading dimensions that fit 32 bits.
template <class T>
using LibraryCall = std::function<void(char op_a, char op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda,
                                       const T* b, Index ldb, T beta, T* c, Index ldc)>;

/// Rows [row, row + rows) and columns [column, column + columns) of C.
struct BlockOfC {
  Index row = 0, column = 0, rows = 0, columns = 0;
  bool by_library = true;  ///< false: by plain loops on the calling thread
};

/// A library's GEMMs for matrices with any strides.
class LibraryGemm : public NativeGemm {
 public:
  struct Calls {
    LibraryCall<float> s;
    LibraryCall<double> d;
    LibraryCall<std::complex<float>> c;
    LibraryCall<std::complex<double>> z;
  };

  /// @param calls an empty call means that the library has no such product. d is required; c and z both or neither.
  explicit LibraryGemm(Calls calls) : calls_(std::move(calls)) {}

  void dgemm(const RealProduct& product) const final;
  void sgemm(const RealProduct& product) const final;
  void complex_gemm(const ComplexProduct& product) const final;
  [[nodiscard]] bool has_sgemm() const final { return calls_.s != nullptr; }
  [[nodiscard]] bool has_complex() const final { return calls_.z != nullptr; }

 private:
  /// True if a block of C may be multiplied twice. beta C0 must then not be added in place.
  [[nodiscard]] virtual bool repeats_blocks() const { return false; }
  /// Calls `multiply` for blocks that make up C. Every computing thread rounds to nearest and keeps subnormals.
  virtual void in_blocks(Index m, Index n, Index k, const std::function<void(const BlockOfC&)>& multiply) const;

  template <class T>
  class Multiplication;

  Calls calls_;
};

}  // namespace ozbound
