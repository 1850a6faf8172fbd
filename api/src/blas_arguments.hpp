#pragma once

#include <complex>
#include <string>
#include <type_traits>

#include "ozbound/blas.hpp"
#include "ozbound/bounds/complex_gemm.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// What a BLAS-shaped call is given. C is T, or const T where it is not written.
template <class T, class C = T>
struct BlasArguments {
  Layout layout;
  Op op_a, op_b;
  Index m, n, k;
  T alpha;
  const T* a;
  Index lda;
  const T* b;
  Index ldb;
  T beta;
  C* c;
  Index ldc;
};

/// The same as views of op(A), op(B) and C, and scalars that no flush-to-zero setting has touched.
template <class T, class C = T>
struct BlasViews {
  using Scalar = double;
  MatrixView<const T> a, b;
  MatrixView<C> c;
  Scalar alpha, beta;
  bool conjugate_a, conjugate_b;  ///< which changes nothing

  [[nodiscard]] GemmCall call() const { return {a, b, c, alpha, beta, c}; }
};

template <class Real, class C>
struct BlasViews<std::complex<Real>, C> {
  using Scalar = std::complex<double>;
  MatrixView<const std::complex<Real>> a, b;
  MatrixView<C> c;
  Scalar alpha, beta;
  bool conjugate_a, conjugate_b;  ///< on top of what the views are

  [[nodiscard]] ComplexGemmCall call() const {
    const auto operand = [](const auto& view, bool conjugate) {
      return conjugate ? ComplexInputView(view).conjugate() : ComplexInputView(view);
    };
    // Who has no C to write decides, and writes nothing.
    const MatrixView<std::complex<Real>> output(const_cast<std::complex<Real>*>(c.data()), c.rows(), c.cols(), c.row_stride(),
                                                c.col_stride());
    return {operand(a, conjugate_a), operand(b, conjugate_b), output, alpha, beta, output};
  }
};

/// Checks every argument. `used` is false where the whole call does nothing: then all data may be null.
/// @throws std::invalid_argument beginning with the argument's name.
template <class T, class C>
BlasViews<T, C> views_of(const BlasArguments<T, C>& arguments, bool used = true);

/// @throws std::invalid_argument `NAME must not be negative`.
void check_size(Index size, const char* name);

CpuEngine engine_of(const BlasOptions& options);

GemmOptions gemm_options(const BlasOptions& options);

template <class T, class C>
DecideOptions decide_options(const BlasViews<T, C>& views, const CpuEngine& engine, const BlasOptions& options);

template <class T, class C>
Decision decide_for(const BlasViews<T, C>& views, const Target& target, const CpuEngine& engine, const BlasOptions& options);

}  // namespace ozbound
