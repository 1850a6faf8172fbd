// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <variant>

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// C = alpha A B + beta C0. A is m x k, B is k x n, C and C0 are m x n; a transposed operand is a transposed view.
///
/// beta = 0 never reads C0, alpha = 0 and an empty C never read A or B. C0 may be C itself. NaN, infinities and zeros in the
/// result are functions of the inputs alone (SpecialSum).
struct RealProduct {
  InputView a;
  InputView b;
  OutputView c;
  double alpha = 1;
  double beta = 0;
  InputView c0 = {};
  bool stands_for_complex = false;  ///< A and B are as RealFactors of a complex product

  [[nodiscard]] Index m() const { return c.rows(); }
  [[nodiscard]] Index n() const { return c.cols(); }
  [[nodiscard]] Index k() const { return a.cols(); }

  /// @throws std::invalid_argument naming the argument: shapes that do not fit, matrices in different memories, C overlapping
  /// A, B or itself, C0 overlapping C without being C.
  void check() const;

  /// That shapes and memories fit alone: for who writes nothing.
  void check_shapes() const;

  /// The same product without what is never read: no inner dimension where alpha = 0 or C is empty.
  [[nodiscard]] RealProduct without_unread() const;

  /// Every entry is NaN or infinite whatever the finite elements are: a scalar is not finite and meets a term.
  [[nodiscard]] bool all_special() const;
};

/// Neither part is other than zero, whatever the floating-point environment.
inline bool is_zero(std::complex<double> x) { return is_zero(x.real()) && is_zero(x.imag()); }

/// C = alpha A B + beta C0 over the complex numbers. A is m x k, B is k x n, C and C0 are m x n; operands may be transposed,
/// conjugated or both by their views.
///
/// By component it is a real product of 2k terms, for a complex alpha 4k, and of two for beta, each exact and rounded once:
///
///   Re C = sum_l alpha_r a_r b_r - alpha_r a_i b_i - alpha_i a_i b_r - alpha_i a_r b_i + beta_r c0_r - beta_i c0_i, and so for
///   Im C.
///
/// A part of alpha or beta that is zero adds no terms: beta = 0 never reads C0, alpha = 0 never A or B. C0 may be C itself.
/// NaN and infinities in a component are a function of its terms alone (SpecialSum).
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

  /// A and B are read but where alpha = 0 or C is empty, C0 but where beta = 0.
  [[nodiscard]] bool reads_operands() const;
  [[nodiscard]] bool reads_c0() const;

  /// A B has terms, and alpha is not 0.
  [[nodiscard]] bool has_product() const;

  /// As RealProduct::all_special.
  [[nodiscard]] bool all_special() const;

  /// Neither scalar has an imaginary part other than zero.
  [[nodiscard]] bool real_scalars() const;

  /// @throws std::invalid_argument naming the argument, as RealProduct::check.
  void check() const;

  /// As RealProduct::check_shapes.
  void check_shapes() const;
};

/// A problem, stated once: A, B, C0, C, alpha and beta, real or complex, each matrix where it lies. Whoever decides, multiplies
/// or certifies takes one.
///
///   Product{a, b, c}                      C = A B
///   Product{a, b, c, -1, 1, c}            C = C - A B
///   Product{a.transposed(), b}            A^T B, of which no entry is written: for `decide`
///
/// Views are copied, elements are not: the matrices must live as long as it is used.
class Product {
 public:
  Product(const RealProduct& product) : of_(product) {}     // NOLINT(google-explicit-constructor): one of two forms
  Product(const ComplexProduct& product) : of_(product) {}  // NOLINT(google-explicit-constructor)
  Product(InputView a, InputView b, OutputView c, double alpha = 1, double beta = 0, InputView c0 = {})
      : of_(RealProduct{a, b, c, alpha, beta, c0}) {}
  Product(ComplexInputView a, ComplexInputView b, ComplexOutputView c, std::complex<double> alpha = 1,
          std::complex<double> beta = 0, ComplexInputView c0 = {})
      : of_(ComplexProduct{a, b, c, alpha, beta, c0}) {}

  /// A B, to be rounded to binary64, without a C: check() refuses it, check_shapes() does not.
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
  /// Of C's numbers, and of their parts.
  [[nodiscard]] const Format& format() const {
    return std::visit([](const auto& p) -> const Format& { return p.c.format(); }, of_);
  }
  /// Where A, B, C and a C0 that is read lie. @pre check_shapes() passes.
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

/// A matrix without memory that is never written; the parts of a complex one would lie stacked (real_representation.hpp).
OutputView unwritten(Index rows, Index cols, const Format& format, Place place = {});
bool is_unwritten(const OutputView& c);
ComplexOutputView unwritten_complex(Index rows, Index cols, const Format& format, Place place = {});

}  // namespace ozbound
