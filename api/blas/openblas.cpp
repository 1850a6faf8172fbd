// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <complex>
#include <string>

#include "library_gemm.hpp"
#include "openblas_threads.hpp"
#include "ozbound/native.hpp"

namespace ozbound {
namespace {

CBLAS_TRANSPOSE cblas_op(char op) { return op == 'N' ? CblasNoTrans : op == 'T' ? CblasTrans : CblasConjTrans; }

blasint blas_size(Index size) { return static_cast<blasint>(size); }

/// Calls a CBLAS routine that takes scalars by value.
template <class T, auto gemm>
void by_value(char op_a, char op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb, T beta,
              T* c, Index ldc) {
  gemm(CblasColMajor, cblas_op(op_a), cblas_op(op_b), blas_size(m), blas_size(n), blas_size(k), alpha, a, blas_size(lda), b,
       blas_size(ldb), beta, c, blas_size(ldc));
}

/// Calls a CBLAS routine that takes scalars by address.
template <class T, auto gemm>
void by_address(char op_a, char op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb, T beta,
                T* c, Index ldc) {
  gemm(CblasColMajor, cblas_op(op_a), cblas_op(op_b), blas_size(m), blas_size(n), blas_size(k), &alpha, a, blas_size(lda), b,
       blas_size(ldb), &beta, c, blas_size(ldc));
}

class OpenBlas final : public LibraryGemm {
 public:
  OpenBlas()
      : LibraryGemm({by_value<float, cblas_sgemm>, by_value<double, cblas_dgemm>, by_address<std::complex<float>, cblas_cgemm>,
                     by_address<std::complex<double>, cblas_zgemm>}) {}

  [[nodiscard]] std::string name() const override { return openblas_get_config(); }

 private:
  [[nodiscard]] bool repeats_blocks() const override { return blas_threads() == BlasThreads::pthreads; }
  void in_blocks(Index m, Index n, Index k, const std::function<void(const BlockOfC&)>& multiply) const override {
    multiply_in_blocks(m, n, k, std::cref(multiply));  // copying the function would allocate
  }
};

void zgemm(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c) {
  using Read = MatrixView<const std::complex<double>>;
  const MatrixView<std::complex<double>> result(c, m, n, 1, m);
  native_gemm()->complex_gemm({Read(a, m, k, 1, m), Read(b, k, n, 1, k), result});
}

}  // namespace

const NativeGemm* native_gemm() {
  static const auto* const openblas = new OpenBlas;  // never destroyed: programs may multiply during their exit
  return blas_threads() == BlasThreads::unknown ? nullptr : openblas;
}

NativeZgemm native_zgemm() { return native_gemm() == nullptr ? nullptr : zgemm; }

}  // namespace ozbound
