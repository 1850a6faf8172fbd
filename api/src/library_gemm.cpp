// SPDX-License-Identifier: BSD-3-Clause
#include "library_gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <variant>
#include <vector>

#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

constexpr Index largest_size = std::numeric_limits<std::int32_t>::max();

/// True if the matrix is column-major with a leading dimension that a library accepts.
template <class T>
bool is_column_major(const MatrixView<T>& x) {
  const bool unit = x.row_stride() == 1 || x.rows() <= 1;
  return unit && (x.col_stride() >= std::max<Index>(1, x.rows()) || x.cols() <= 1) && x.col_stride() <= largest_size;
}

template <class T>
Index leading_dimension(const MatrixView<T>& column_major) {
  return std::max<Index>({column_major.col_stride(), column_major.rows(), 1});
}

double conjugated(double x) { return x; }
float conjugated(float x) { return x; }
template <class Real>
std::complex<Real> conjugated(const std::complex<Real>& x) {
  return {x.real(), -x.imag()};
}

/// A read-only matrix, conjugated or not.
template <class T>
struct Read {
  MatrixView<const T> view;
  bool conjugate = false;

  [[nodiscard]] Read transposed() const { return {view.transposed(), conjugate}; }
};

/// Returns a view without data for a matrix of another format, which is never read.
template <class T>
Read<T> read(const InputView& x) {
  if (const auto* const view = std::get_if<MatrixView<const T>>(&x.typed())) return {*view};
  return {MatrixView<const T>(nullptr, x.rows(), x.cols(), 0, 0)};
}
template <class T>
Read<T> read(const ComplexInputView& x) {
  if (const auto* const view = std::get_if<MatrixView<const T>>(&x.typed())) return {*view, x.conjugated()};
  return {MatrixView<const T>(nullptr, x.rows(), x.cols(), 0, 0)};
}

/// An operand in the form that a library takes: unchanged, transposed, or copied. It is copied if neither stride is 1, or if it
/// is conjugated but not transposed.
template <class T>
class LibraryOperand {
 public:
  explicit LibraryOperand(const Read<T>& x) : view_(x.view) {
    if (!x.conjugate && is_column_major(x.view)) return;
    op_ = x.conjugate ? 'C' : 'T';
    view_ = x.view.transposed();
    if (is_column_major(view_)) return;
    copy_ = Matrix<T>(x.view.rows(), x.view.cols());
    for (Index i = 0; i < x.view.rows(); ++i) {
      poll_cancelled();
      for (Index j = 0; j < x.view.cols(); ++j) copy_(i, j) = x.conjugate ? conjugated(x.view(i, j)) : x.view(i, j);
    }
    op_ = 'T', view_ = MatrixView<const T>(copy_.view()).transposed();
  }
  LibraryOperand(const LibraryOperand&) = delete;
  LibraryOperand& operator=(const LibraryOperand&) = delete;

  [[nodiscard]] char op() const { return op_; }
  [[nodiscard]] Index ld() const { return leading_dimension(view_); }
  /// The address of element (i, j) of the operand.
  [[nodiscard]] const T* from(Index i, Index j) const {
    return op_ == 'N' ? view_.data() + i + j * ld() : view_.data() + j + i * ld();
  }

 private:
  MatrixView<const T> view_;  ///< column-major
  Matrix<T> copy_;
  char op_ = 'N';
};

template <class T>
void add_product(T& sum, T a, T b) {
  sum += a * b;
}
/// Adds part by part: operator* for complex numbers turns NaNs into infinities.
template <class Real>
void add_product(std::complex<Real>& sum, const std::complex<Real>& a, const std::complex<Real>& b) {
  sum = {sum.real() + a.real() * b.real() - a.imag() * b.imag(), sum.imag() + a.real() * b.imag() + a.imag() * b.real()};
}

/// The operation of a LibraryCall, by plain loops.
template <class T>
void multiply_by_loops(char op_a, char op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,
                       T beta, T* c, Index ldc) {
  const auto element = [](char op, const T* x, Index ld, Index i, Index j) {
    return op == 'N' ? x[i + j * ld] : op == 'T' ? x[j + i * ld] : conjugated(x[j + i * ld]);
  };
  std::vector<T> sums(static_cast<std::size_t>(m));
  for (Index j = 0; j < n; ++j) {
    poll_cancelled();
    std::fill(sums.begin(), sums.end(), T{});
    for (Index p = 0; p < k; ++p) {
      const T factor = element(op_b, b, ldb, p, j);
      for (Index i = 0; i < m; ++i) add_product(sums[static_cast<std::size_t>(i)], element(op_a, a, lda, i, p), factor);
    }
    for (Index i = 0; i < m; ++i) {
      T& entry = c[i + j * ldc];
      T scaled{};
      if (alpha != T{}) add_product(scaled, alpha, sums[static_cast<std::size_t>(i)]);
      if (beta != T{}) add_product(scaled, beta, entry);
      entry = scaled;
    }
  }
}

}  // namespace

/// C = alpha A B + beta C0 with all matrices of one type.
template <class T>
class LibraryGemm::Multiplication {
 public:
  Multiplication(const LibraryGemm& library, const LibraryCall<T>& call, T alpha, T beta, const Read<T>& a, const Read<T>& b,
                 std::optional<Read<T>> c0, bool c0_is_c, const MatrixView<T>& c)
      : library_(library), call_(call), alpha_(alpha), beta_(beta), a_(a), b_(b), c0_(std::move(c0)), in_c_(c0_is_c), c_(c) {}

  void run() {
    for (const Index size : {c_.rows(), c_.cols(), a_.view.cols()})
      if (size > largest_size)
        throw std::length_error("native GEMM: a size of " + std::to_string(size) + " is too large for this BLAS");
    if (!is_column_major(c_)) transpose();
    if (is_column_major(c_) && !(c0_ && library_.repeats_blocks())) return multiply_in_place();
    multiply_beside();
  }

 private:
  /// Transposes the problem: C^T = alpha B^T A^T + beta C0^T.
  void transpose() {
    std::swap(a_, b_);
    a_ = a_.transposed(), b_ = b_.transposed(), c_ = c_.transposed();
    if (c0_) c0_ = c0_->transposed();
  }

  void multiply_in_place() {
    const LibraryOperand<T> a(a_), b(b_);
    poll_cancelled();
    if (c0_ && !in_c_) copy_c0(c_, {0, 0, c_.rows(), c_.cols()});
    const auto block_of_c = [&](const BlockOfC& block) {
      multiply(a, b, block, &c_(block.row, block.column), leading_dimension(c_));
    };
    library_.in_blocks(c_.rows(), c_.cols(), a_.view.cols(), std::cref(block_of_c));  // copying the function would allocate
  }

  void multiply_beside() {
    const LibraryOperand<T> a(a_), b(b_);
    Matrix<T> beside(c_.cols(), c_.rows());  // its transpose is column-major
    const auto result = beside.view().transposed();
    library_.in_blocks(c_.rows(), c_.cols(), a_.view.cols(), [&](const BlockOfC& block) {
      if (c0_) copy_c0(result, block);
      multiply(a, b, block, &result(block.row, block.column), leading_dimension(result));
    });
    poll_cancelled();
    writing_c([&] {
      for (Index i = 0; i < c_.rows(); ++i) {
        poll_cancelled();
        for (Index j = 0; j < c_.cols(); ++j) c_(i, j) = result(i, j);
      }
    });
  }

  void copy_c0(const MatrixView<T>& to, const BlockOfC& block) const {
    for (Index i = block.row; i < block.row + block.rows; ++i)
      for (Index j = block.column; j < block.column + block.columns; ++j)
        to(i, j) = c0_->conjugate ? conjugated(c0_->view(i, j)) : c0_->view(i, j);
  }

  void multiply(const LibraryOperand<T>& a, const LibraryOperand<T>& b, const BlockOfC& block, T* c, Index ldc) const {
    const auto by = [&](const auto& gemm) {
      gemm(a.op(), b.op(), block.rows, block.columns, a_.view.cols(), alpha_, a.from(block.row, 0), a.ld(),
           b.from(0, block.column), b.ld(), beta_, c, ldc);
    };
    block.by_library ? by(call_) : by(multiply_by_loops<T>);
  }

  const LibraryGemm& library_;
  const LibraryCall<T>& call_;
  T alpha_, beta_;
  Read<T> a_, b_;
  std::optional<Read<T>> c0_;  ///< set if beta is not 0
  bool in_c_;
  MatrixView<T> c_;
};

void LibraryGemm::in_blocks(Index m, Index n, Index, const std::function<void(const BlockOfC&)>& multiply) const {
  if (m == 0 || n == 0) return;
  const FloatEnvironment environment;
  poll_cancelled();
  multiply({0, 0, m, n});
}

namespace {

template <class AnyProduct>
bool c0_is_c(const AnyProduct& product) {
  return !is_zero(product.beta) && same_elements(product.c0, product.c);
}

template <class T, class AnyProduct>
std::optional<Read<T>> read_c0(const AnyProduct& product) {
  return is_zero(product.beta) ? std::nullopt : std::optional(read<T>(product.c0));
}

}  // namespace

void LibraryGemm::dgemm(const RealProduct& product) const {
  Multiplication<double>(*this, calls_.d, product.alpha, product.beta, read<double>(product.a), read<double>(product.b),
                         read_c0<double>(product), c0_is_c(product), std::get<MatrixView<double>>(product.c.typed()))
      .run();
}

void LibraryGemm::sgemm(const RealProduct& product) const {
  Multiplication<float>(*this, calls_.s, static_cast<float>(product.alpha), static_cast<float>(product.beta),
                        read<float>(product.a), read<float>(product.b), read_c0<float>(product), c0_is_c(product),
                        std::get<MatrixView<float>>(product.c.typed()))
      .run();
}

void LibraryGemm::complex_gemm(const ComplexProduct& product) const {
  const auto multiply = [&]<class T>(const LibraryCall<T>& library_call, const MatrixView<T>& c) {
    Multiplication<T>(*this, library_call, static_cast<T>(product.alpha), static_cast<T>(product.beta), read<T>(product.a),
                      read<T>(product.b), read_c0<T>(product), c0_is_c(product) && !product.c0.conjugated(), c)
        .run();
  };
  if (const auto* const c = std::get_if<0>(&product.c.typed())) return multiply(calls_.z, *c);
  multiply(calls_.c, std::get<1>(product.c.typed()));
}

}  // namespace ozbound
