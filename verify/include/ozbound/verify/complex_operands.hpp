// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"

namespace ozbound {

/// A complex matrix, conjugated or not. Transposes are views.
struct ComplexFactor {
  MatrixView<const std::complex<double>> matrix;
  bool conjugated = false;
};

/// A complex product C = alpha A B + beta C0 as a real product for an oracle, in copies. A becomes the 2m x 2k matrix of the
/// blocks (a_r, -a_i; a_i, a_r). B becomes the real and imaginary parts of each row one above the other (2k x n), and C0
/// likewise (2m x n). Row 2i of the real product has the real parts of row i of C, row 2i + 1 the imaginary parts.
class ComplexOperands {
 public:
  /// @param c0 read only where beta is not 0.
  ComplexOperands(const ComplexFactor& a, const ComplexFactor& b, std::complex<double> alpha = 1, std::complex<double> beta = 0,
                  MatrixView<const std::complex<double>> c0 = {});
  ComplexOperands(const ComplexOperands&) = delete;
  ComplexOperands& operator=(const ComplexOperands&) = delete;

  /// Views of these copies.
  [[nodiscard]] Operands operands() const;

 private:
  Matrix<double> a_, b_, c0_;
  std::complex<double> alpha_, beta_;
};

/// A copy of a complex C with the real and imaginary parts of each row one above the other, to compare with the product of
/// ComplexOperands.
class ComplexResult {
 public:
  explicit ComplexResult(MatrixView<const std::complex<double>> c);
  explicit ComplexResult(MatrixView<const std::complex<float>> c);
  ComplexResult(const ComplexResult&) = delete;
  ComplexResult& operator=(const ComplexResult&) = delete;

  [[nodiscard]] ResultView view() const;

 private:
  bool narrow_;
  Matrix<double> doubles_;
  Matrix<float> floats_;
};

}  // namespace ozbound
