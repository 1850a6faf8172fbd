// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <string>
#include <type_traits>

#include "ozbound/blas.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/product.hpp"
#include "ozbound/machine.hpp"

namespace ozbound {

/// The arguments of a BLAS-shaped call. C is T, or const T if C is not written.
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

/// The arguments as views of op(A), op(B) and C, and scalars that no flush-to-zero setting has changed.
template <class T, class C = T>
struct BlasViews {
  using Scalar = double;
  MatrixView<const T> a, b;
  MatrixView<C> c;
  Scalar alpha, beta;
  bool conjugate_a, conjugate_b;  ///< no effect on real matrices

  /// For const C: only `decide` may use this product.
  [[nodiscard]] RealProduct product(Place place) const {
    const OutputView output(MatrixView<T>(const_cast<T*>(c.data()), c.rows(), c.cols(), c.row_stride(), c.col_stride()));
    return {InputView(a).at(place), InputView(b).at(place), output.at(place), alpha, beta, InputView(c).at(place)};
  }
};

template <class Real, class C>
struct BlasViews<std::complex<Real>, C> {
  using Scalar = std::complex<double>;
  MatrixView<const std::complex<Real>> a, b;
  MatrixView<C> c;
  Scalar alpha, beta;
  bool conjugate_a, conjugate_b;  ///< applied in addition to the views

  /// For const C: only `decide` may use this product.
  [[nodiscard]] ComplexProduct product(Place place) const {
    const auto operand = [place](const auto& view, bool conjugate) {
      const auto input = ComplexInputView(view).at(place);
      return conjugate ? input.conjugate() : input;
    };
    const ComplexOutputView output(MatrixView<std::complex<Real>>(const_cast<std::complex<Real>*>(c.data()), c.rows(), c.cols(),
                                                                  c.row_stride(), c.col_stride()));
    return {operand(a, conjugate_a), operand(b, conjugate_b), output.at(place), alpha, beta, output.as_input().at(place)};
  }
};

/// Checks every argument. `used` is false if the whole call does nothing; all data may then be null.
/// @throws std::invalid_argument beginning with the argument's name.
template <class T, class C>
BlasViews<T, C> views_of(const BlasArguments<T, C>& arguments, bool used = true);

/// @throws std::invalid_argument for an invalid layout.
void check_layout(Layout layout);

/// @throws std::invalid_argument `NAME must not be negative`.
void check_size(Index size, const char* name);

/// The machine, the choices and the options of a call.
Machine machine_of(const BlasOptions& options);
Choices choices_of(const BlasOptions& options);
MultiplyOptions multiply_options(const BlasOptions& options);

}  // namespace ozbound
