#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cfenv>
#include <complex>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/native.hpp"

namespace ozbound {
namespace {

/// A matrix as CBLAS takes it, row-major: as it is, transposed, or copied where neither of its strides is 1.
class CblasOperand {
 public:
  explicit CblasOperand(MatrixView<const double> view) : view_(view) {
    if (fits(view)) return;
    if (fits(view.transposed())) {
      op_ = CblasTrans;
      view_ = view.transposed();
      return;
    }
    copy_ = Matrix<double>(view.rows(), view.cols());
    for (Index i = 0; i < view.rows(); ++i)
      for (Index j = 0; j < view.cols(); ++j) copy_(i, j) = view(i, j);
    view_ = copy_.view();
  }
  CblasOperand(const CblasOperand&) = delete;
  CblasOperand& operator=(const CblasOperand&) = delete;

  [[nodiscard]] CBLAS_TRANSPOSE op() const { return op_; }
  [[nodiscard]] const double* data() const { return view_.data(); }
  [[nodiscard]] blasint ld() const { return static_cast<blasint>(std::max<Index>({view_.row_stride(), view_.cols(), 1})); }

 private:
  static bool fits(MatrixView<const double> view) {
    const bool unit = view.col_stride() == 1 || view.cols() <= 1;
    return unit && (view.row_stride() >= std::max<Index>(1, view.cols()) || view.rows() <= 1) &&
           view.row_stride() <= std::numeric_limits<blasint>::max();
  }

  MatrixView<const double> view_;
  Matrix<double> copy_;
  CBLAS_TRANSPOSE op_ = CblasNoTrans;
};

/// While it lives, the OpenMP workers that OpenBLAS computes on round to nearest and keep subnormals, whatever they inherited.
class WorkerEnvironments {
 public:
  WorkerEnvironments() : saved_(static_cast<std::size_t>(omp_get_max_threads())) {
#pragma omp parallel num_threads(static_cast<int>(saved_.size()))
    {
      std::fegetenv(&saved_[static_cast<std::size_t>(omp_get_thread_num())]);
      std::fesetenv(FE_DFL_ENV);
    }
  }
  ~WorkerEnvironments() {
#pragma omp parallel num_threads(static_cast<int>(saved_.size()))
    std::fesetenv(&saved_[static_cast<std::size_t>(omp_get_thread_num())]);
  }
  WorkerEnvironments(const WorkerEnvironments&) = delete;
  WorkerEnvironments& operator=(const WorkerEnvironments&) = delete;

 private:
  std::vector<std::fenv_t> saved_;
};

blasint blas_size(Index size) {
  if (size > std::numeric_limits<blasint>::max())
    throw std::length_error("native DGEMM: a size of " + std::to_string(size) + " is too large for this BLAS");
  return static_cast<blasint>(size);
}

class OpenBlas final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return openblas_get_config(); }

  void dgemm(const GemmCall& call) const override {
    const WorkerEnvironments environments;
    const CblasOperand a(std::get<0>(call.a.typed()));
    const CblasOperand b(std::get<0>(call.b.typed()));
    Matrix<double> c(call.m(), call.n());
    if (call.beta != 0)
      for (Index i = 0; i < call.m(); ++i)
        for (Index j = 0; j < call.n(); ++j) c(i, j) = double_from_bits(call.c0.bits(i, j));
    if (call.m() > 0 && call.n() > 0)
      cblas_dgemm(CblasRowMajor, a.op(), b.op(), blas_size(call.m()), blas_size(call.n()), blas_size(call.k()), call.alpha,
                  a.data(), a.ld(), b.data(), b.ld(), call.beta, c.data(), blas_size(call.n()));
    for (Index i = 0; i < call.m(); ++i)
      for (Index j = 0; j < call.n(); ++j) call.c.set_bits(i, j, bits_of(c(i, j)));
  }
};

void zgemm(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c) {
  const WorkerEnvironments environments;
  const std::complex<double> one = 1, zero = 0;
  const auto ld = [](Index rows) { return blas_size(std::max<Index>(rows, 1)); };
  if (m > 0 && n > 0)
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, blas_size(m), blas_size(n), blas_size(k), &one, a, ld(m), b, ld(k),
                &zero, c, ld(m));
}

}  // namespace

NativeZgemm native_zgemm() { return zgemm; }

const NativeGemm* native_gemm() {
  static const OpenBlas openblas;
  return &openblas;
}

}  // namespace ozbound
