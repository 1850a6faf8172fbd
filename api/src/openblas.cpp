// SPDX-License-Identifier: BSD-3-Clause
#include <cblas.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "openblas_threads.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/overlap.hpp"
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
    for (Index i = 0; i < view.rows(); ++i) {
      poll_cancelled();
      for (Index j = 0; j < view.cols(); ++j) copy_(i, j) = view(i, j);
    }
    view_ = copy_.view();
  }
  CblasOperand(const CblasOperand&) = delete;
  CblasOperand& operator=(const CblasOperand&) = delete;

  [[nodiscard]] CBLAS_TRANSPOSE op() const { return op_; }
  /// From element (i, j) of the operand on.
  [[nodiscard]] const double* from(Index i, Index j) const {
    return op_ == CblasNoTrans ? view_.data() + i * ld() + j : view_.data() + j * ld() + i;
  }
  [[nodiscard]] blasint ld() const { return static_cast<blasint>(std::max<Index>({view_.row_stride(), view_.cols(), 1})); }

  /// Row-major, with a leading dimension that it can be told.
  static bool fits(MatrixView<const double> view) {
    const bool unit = view.col_stride() == 1 || view.cols() <= 1;
    return unit && (view.row_stride() >= std::max<Index>(1, view.cols()) || view.rows() <= 1) &&
           view.row_stride() <= std::numeric_limits<blasint>::max();
  }

 private:
  MatrixView<const double> view_;
  Matrix<double> copy_;
  CBLAS_TRANSPOSE op_ = CblasNoTrans;
};

blasint blas_size(Index size) {
  if (size > std::numeric_limits<blasint>::max())
    throw std::length_error("native DGEMM: a size of " + std::to_string(size) + " is too large for this BLAS");
  return static_cast<blasint>(size);
}

void check_sizes(Index m, Index n, Index k) {
  for (const Index size : {m, n, k}) blas_size(size);
}

class OpenBlas final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return openblas_get_config(); }

  void dgemm(const RealProduct& call) const override {
    check_sizes(call.m(), call.n(), call.k());
    if (written_in_place(call)) return;
    const CblasOperand a(std::get<0>(call.a.typed()));
    const CblasOperand b(std::get<0>(call.b.typed()));
    Matrix<double> c(call.m(), call.n());
    multiply_in_blocks(call.m(), call.n(), call.k(), [&](const BlockOfC& block) { multiply(call, a, b, block, c); });
    poll_cancelled();
    writing_c([&] {
      for (Index i = 0; i < call.m(); ++i) {
        poll_cancelled();
        for (Index j = 0; j < call.n(); ++j) call.c.set_bits(i, j, bits_of(c(i, j)));
      }
    });
  }

 private:
  /// Without a matrix for the result where CBLAS can write C as it is; false where it cannot.
  static bool written_in_place(const RealProduct& call) {
    if (!call.c.is_double()) return false;
    const bool adds = !is_zero(call.beta);
    if (adds && blas_threads() == BlasThreads::pthreads) return false;  // which may multiply a block twice
    const auto c = std::get<0>(call.c.typed());
    if (CblasOperand::fits(c)) return multiply_into(c, call), true;
    if (!CblasOperand::fits(c.transposed())) return false;
    auto transposed = call;
    transposed.a = call.b.transposed(), transposed.b = call.a.transposed(), transposed.c = c.transposed();
    if (adds) transposed.c0 = call.c0.transposed();
    return multiply_into(c.transposed(), transposed), true;
  }

  /// @pre C is row-major.
  static void multiply_into(MatrixView<double> c, const RealProduct& call) {
    const CblasOperand a(std::get<0>(call.a.typed()));
    const CblasOperand b(std::get<0>(call.b.typed()));
    const auto ld = static_cast<blasint>(std::max<Index>({c.row_stride(), c.cols(), 1}));
    poll_cancelled();
    if (!is_zero(call.beta) && !same_elements(call.c0, call.c))
      for (Index i = 0; i < c.rows(); ++i)
        for (Index j = 0; j < c.cols(); ++j) c(i, j) = double_from_bits(call.c0.bits(i, j));
    const auto multiply = [&](const BlockOfC& block) {
      const auto [row, column, rows, columns] = block;
      cblas_dgemm(CblasRowMajor, a.op(), b.op(), blas_size(rows), blas_size(columns), blas_size(call.k()), call.alpha,
                  a.from(row, 0), a.ld(), b.from(0, column), b.ld(), call.beta, &c(row, column), ld);
    };
    multiply_in_blocks(call.m(), call.n(), call.k(), std::cref(multiply));  // a copy would take memory
  }

  static void multiply(const RealProduct& call, const CblasOperand& a, const CblasOperand& b, const BlockOfC& block,
                       Matrix<double>& c) {
    const auto [row, column, rows, columns] = block;
    if (!is_zero(call.beta))
      for (Index i = row; i < row + rows; ++i)
        for (Index j = column; j < column + columns; ++j) c(i, j) = double_from_bits(call.c0.bits(i, j));
    cblas_dgemm(CblasRowMajor, a.op(), b.op(), blas_size(rows), blas_size(columns), blas_size(call.k()), call.alpha,
                a.from(row, 0), a.ld(), b.from(0, column), b.ld(), call.beta, &c(row, column), blas_size(call.n()));
  }
};

void zgemm(Index m, Index n, Index k, const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c) {
  check_sizes(m, n, k);
  const std::complex<double> one = 1, zero = 0;
  const auto ld = [](Index rows) { return blas_size(std::max<Index>(rows, 1)); };
  multiply_in_blocks(m, n, k, [&](const BlockOfC& block) {
    const auto [row, column, rows, columns] = block;
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, blas_size(rows), blas_size(columns), blas_size(k), &one, a + row,
                ld(m), b + column * k, ld(k), &zero, c + row + column * m, ld(m));
  });
}

}  // namespace

NativeZgemm native_zgemm() { return blas_threads() == BlasThreads::unknown ? nullptr : zgemm; }

const NativeGemm* native_gemm() {
  static const OpenBlas openblas;
  return blas_threads() == BlasThreads::unknown ? nullptr : &openblas;
}

}  // namespace ozbound
