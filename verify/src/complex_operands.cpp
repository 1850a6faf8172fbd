// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/complex_operands.hpp"
#include "plain_environment.hpp"

namespace ozbound {
namespace {

template <class T>
Matrix<T> stacked(MatrixView<const std::complex<T>> matrix, bool conjugated = false) {
  Matrix<T> out(2 * matrix.rows(), matrix.cols());
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) {
      out(2 * i, j) = matrix(i, j).real();
      out(2 * i + 1, j) = conjugated ? -matrix(i, j).imag() : matrix(i, j).imag();
    }
  return out;
}

Matrix<double> blocks(const ComplexFactor& a) {
  Matrix<double> out(2 * a.matrix.rows(), 2 * a.matrix.cols());
  for (Index i = 0; i < a.matrix.rows(); ++i)
    for (Index l = 0; l < a.matrix.cols(); ++l) {
      const double re = a.matrix(i, l).real(), im = a.conjugated ? -a.matrix(i, l).imag() : a.matrix(i, l).imag();
      out(2 * i, 2 * l) = re, out(2 * i, 2 * l + 1) = -im;
      out(2 * i + 1, 2 * l) = im, out(2 * i + 1, 2 * l + 1) = re;
    }
  return out;
}

}  // namespace

ComplexOperands::ComplexOperands(const ComplexFactor& a, const ComplexFactor& b, std::complex<double> alpha,
                                 std::complex<double> beta, MatrixView<const std::complex<double>> c0)
    : a_(blocks(a)), b_(stacked(b.matrix, b.conjugated)), alpha_(alpha), beta_(beta) {
  const checking::PlainEnvironment environment;
  if (beta.real() != 0 || beta.imag() != 0) c0_ = stacked(c0);
}

Operands ComplexOperands::operands() const {
  return {a_.view(), b_.view(), alpha_.real(), beta_.real(), c0_.view(), alpha_.imag(), beta_.imag(), true};
}

ComplexResult::ComplexResult(MatrixView<const std::complex<double>> c) : narrow_(false), doubles_(stacked(c)) {}
ComplexResult::ComplexResult(MatrixView<const std::complex<float>> c) : narrow_(true), floats_(stacked(c)) {}

ResultView ComplexResult::view() const { return narrow_ ? ResultView(floats_) : ResultView(doubles_); }

}  // namespace ozbound
