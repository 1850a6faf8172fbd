// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <variant>

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// C = alpha A B + beta C0. A is m x k, B is k x n, C and C0 are m x n; a transposed operand is a transposed view.
///
/// C0 is not read if beta = 0. A and B are not read if alpha = 0 or C is empty. C0 may be C itself. NaN, infinities and zeros
/// in the result depend only on the inputs (SpecialSum).
struct RealProduct {
  InputView a;
  InputView b;
  OutputView c;
  double alpha = 1;
  double beta = 0;
  InputView c0 = {};
  bool stands_for_complex = false;  ///< A and B have the form of RealFactors of a complex product

  [[nodiscard]] Index m() const { return c.rows(); }
  [[nodiscard]] Index n() const { return c.cols(); }
  [[nodiscard]] Index k() const { return a.cols(); }

  /// @throws std::invalid_argument naming the argument: shapes that do not fit, matrices in different memories, C overlapping
  /// A, B or itself, C0 overlapping C without being C.
  void check() const;

  /// Checks shapes and places only; for callers that do not write C.
  void check_shapes() const;

  /// This product without unread operands: its inner dimension is 0 if alpha = 0 or C is empty.
  [[nodiscard]] RealProduct without_unread() const;

  /// True if every entry is NaN or infinite for any finite elements: a non-finite scalar meets a term.
  [[nodiscard]] bool all_special() const;
};

/// True if both parts are zero, in any floating-point environment.
inline bool is_zero(std::complex<double> x) { return is_zero(x.real()) && is_zero(x.imag()); }

/// C = alpha A B + beta C0 over the complex numbers. A is m x k, B is k x n, C and C0 are m x n; views may transpose or
/// conjugate operands, or both.
///
/// Each component is a real product of 2k terms (4k for a complex alpha) plus two terms for beta, each exact, and is rounded
/// once:
///
///   Re C = sum_l alpha_r a_r b_r - alpha_r a_i b_i - alpha_i a_i b_r - alpha_i a_r b_i + beta_r c0_r - beta_i c0_i, and so for
///   Im C.
///
/// A zero part of alpha or beta adds no terms: C0 is not read if beta = 0, A and B are not read if alpha = 0. C0 may be C
/// itself. NaN and infinities in a component depend only on its terms (SpecialSum).
struct ComplexProduct {
  ComplexInputView a;
  ComplexInputView b;
  ComplexOutputView c;
  std::complex<double> alpha = 1;
  std::complex<double> beta = 0;
  ComplexInputView c0 = {};

  [[nodiscard]] Index m() const { return c.rows(); }
  [[nodiscard]] Index n() const { return c.cols(); }
  [[nodiscard]] Index k() const { return a.cols(); }

  /// True if A and B are read: alpha is not 0 and C is not empty.
  [[nodiscard]] bool reads_operands() const;

  /// True if C0 is read: beta is not 0.
  [[nodiscard]] bool reads_c0() const;

  /// True if A B has terms and alpha is not 0.
  [[nodiscard]] bool has_product() const;

  /// The same as RealProduct::all_special.
  [[nodiscard]] bool all_special() const;

  /// True if the imaginary parts of both scalars are zero.
  [[nodiscard]] bool real_scalars() const;

  /// @throws std::invalid_argument naming the argument, as RealProduct::check.
  void check() const;

  /// The same as RealProduct::check_shapes.
  void check_shapes() const;
};

/// A complete problem: A, B, C0, C, alpha and beta, real or complex. It refers to the matrices, which all lie in one memory.
/// The functions that decide, multiply and certify all take a Product.
///
///   Product{a, b, c}                      C = A B
///   Product{a, b, c, -1, 1, c}            C = C - A B
///   Product{a.transposed(), b}            A^T B, without a C to write: for `decide`
///
/// Views are copied, elements are not: the matrices must outlive the Product.
class Product {
 public:
  Product(const RealProduct& product) : of_(product) {}     // NOLINT(google-explicit-constructor): one of two forms
  Product(const ComplexProduct& product) : of_(product) {}  // NOLINT(google-explicit-constructor)
  Product(InputView a, InputView b, OutputView c, double alpha = 1, double beta = 0, InputView c0 = {})
      : of_(RealProduct{a, b, c, alpha, beta, c0}) {}
  Product(ComplexInputView a, ComplexInputView b, ComplexOutputView c, std::complex<double> alpha = 1,
          std::complex<double> beta = 0, ComplexInputView c0 = {})
      : of_(ComplexProduct{a, b, c, alpha, beta, c0}) {}

  /// A B, to be rounded to binary64, without a C: check() refuses it, check_shapes() accepts it.
  Product(InputView a, InputView b);
  Product(ComplexInputView a, ComplexInputView b);

  [[nodiscard]] bool is_complex() const { return of_.index() == 1; }
  [[nodiscard]] const RealProduct& real() const { return std::get<0>(of_); }        ///< @pre not is_complex()
  [[nodiscard]] const ComplexProduct& complex() const { return std::get<1>(of_); }  ///< @pre is_complex()

  [[nodiscard]] Index m() const {
    return std::visit([](const auto& p) { return p.m(); }, of_);
  }
  [[nodiscard]] Index n() const {
    return std::visit([](const auto& p) { return p.n(); }, of_);
  }
  [[nodiscard]] Index k() const {
    return std::visit([](const auto& p) { return p.k(); }, of_);
  }
  /// The format of C's numbers, and of their parts.
  [[nodiscard]] const Format& format() const {
    return std::visit([](const auto& p) -> const Format& { return p.c.format(); }, of_);
  }
  /// The memory of A, B, C and of a C0 that is read. @pre check_shapes() passes.
  [[nodiscard]] Place place() const {
    return std::visit([](const auto& p) { return p.c.place(); }, of_);
  }

  /// @throws std::invalid_argument as RealProduct::check and check_shapes.
  void check() const {
    std::visit([](const auto& p) { p.check(); }, of_);
  }
  void check_shapes() const {
    std::visit([](const auto& p) { p.check_shapes(); }, of_);
  }

 private:
  std::variant<RealProduct, ComplexProduct> of_;
};

/// A matrix without memory that is never written. The parts of a complex one count as stacked (real_representation.hpp).
OutputView unwritten(Index rows, Index cols, const Format& format, Place place = {});
bool is_unwritten(const OutputView& c);
ComplexOutputView unwritten_complex(Index rows, Index cols, const Format& format, Place place = {});

}  // namespace ozbound
