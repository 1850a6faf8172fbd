// SPDX-License-Identifier: BSD-3-Clause
#include "judged.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "ozbound/core/float_environment.hpp"

namespace ozbound::cli {
namespace {

/// The elements as doubles: in place if they are doubles, otherwise in `copy`.
MatrixView<const double> doubles(const InputView& input, Matrix<double>& copy) {
  if (const auto* view = std::get_if<MatrixView<const double>>(&input.typed())) return *view;
  const auto& floats = std::get<MatrixView<const float>>(input.typed());
  copy = Matrix<double>(floats.rows(), floats.cols());
  for (Index i = 0; i < floats.rows(); ++i)
    for (Index j = 0; j < floats.cols(); ++j) copy(i, j) = floats(i, j);
  return std::as_const(copy).view();
}

using ComplexMatrix = Matrix<std::complex<double>>;

MatrixView<const std::complex<double>> doubles(const ComplexInputView& input, ComplexMatrix& copy) {
  if (const auto* view = std::get_if<MatrixView<const std::complex<double>>>(&input.typed())) return *view;
  const auto& floats = std::get<MatrixView<const std::complex<float>>>(input.typed());
  copy = ComplexMatrix(floats.rows(), floats.cols());
  for (Index i = 0; i < floats.rows(); ++i)
    for (Index j = 0; j < floats.cols(); ++j) copy(i, j) = floats(i, j);
  return std::as_const(copy).view();
}

}  // namespace

JudgedOperands::JudgedOperands(const files::OperandFiles& files) {
  const FloatEnvironment environment;  // subnormal numbers of binary32 become doubles
  if (!files.is_complex()) {
    operands_ = {doubles(files.a(), a_), doubles(files.b(), b_), files.alpha(), files.beta(), doubles(files.c0(), c0_)};
    return;
  }
  const auto a = files.complex_a(), b = files.complex_b();
  ComplexMatrix a_copy, b_copy, c0_copy;
  complex_.emplace(ComplexFactor{doubles(a, a_copy), a.conjugated()}, ComplexFactor{doubles(b, b_copy), b.conjugated()},
                   files.complex_alpha(), files.complex_beta(), doubles(files.complex_c0(), c0_copy));
  operands_ = complex_->operands();
}

JudgedResult::JudgedResult(const files::MatrixFile& c) : c_(c) {
  if (!c.is_complex()) return;
  if (c.is_float())
    complex_.emplace(std::get<Matrix<std::complex<float>>>(c.values).view());
  else
    complex_.emplace(std::get<Matrix<std::complex<double>>>(c.values).view());
}

ResultView JudgedResult::view() const {
  if (complex_) return complex_->view();
  if (c_.is_float()) return std::get<Matrix<float>>(c_.values);
  return std::get<Matrix<double>>(c_.values);
}

}  // namespace ozbound::cli
