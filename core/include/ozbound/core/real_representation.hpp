#pragma once

#include <optional>
#include <variant>

#include "ozbound/core/complex_gemm.hpp"

namespace ozbound {

/// A real matrix that stands for a complex one: a copy, or a view of its memory.
class RealMatrix {
 public:
  explicit RealMatrix(InputView view) : view_(view) {}
  explicit RealMatrix(Matrix<double> matrix);
  explicit RealMatrix(Matrix<float> matrix);

  [[nodiscard]] InputView view() const { return view_; }
  [[nodiscard]] OutputView output();  ///< @pre it is a copy

 private:
  std::variant<std::monostate, Matrix<double>, Matrix<float>> owned_;  ///< moved, elements stay where they are
  InputView view_;
};

/// The real 2m x 2k matrix of a left factor: the block (a_r, -a_i; a_i, a_r) for each element. A copy.
RealMatrix left_factor(const ComplexInputView& a, int threads);

/// The real 2k x n matrix in whose rows 2l and 2l + 1 are the real and the imaginary parts of row l: of a right factor, C0 or
/// C. A view of column-major matrices that are not conjugated, else a copy.
RealMatrix stacked_parts(const ComplexInputView& matrix, int threads);

/// A matrix of the same shape that is never read.
InputView unread(Index rows, Index cols);

/// A complex product as a real one: C's stacked parts (2m x n) = alpha left_factor(A) stacked_parts(B) + beta
/// stacked_parts(C0).
///
/// The parts of a row of A share a scale, those of a column of B too; entry (i, j) is C's entry (i / 2, j), its real part where
/// i is even. Digits are functions of the elements alone, whatever their order in memory. The complex call's matrices must
/// outlive it. Copies take 4 mk elements, up to 2 kn and, for a C or C0 that is not column-major, 2 mn each.
class RealRepresentation {
 public:
  /// @pre call.check() has passed and call.real_scalars().
  RealRepresentation(const ComplexGemmCall& call, int threads);

  [[nodiscard]] const GemmCall& call() const { return call_; }

  /// Writes C, where the product was written elsewhere: the memory of C is that of its stacked parts in column-major order
  /// only.
  void write_back() const;

 private:
  ComplexOutputView c_;
  int threads_;
  RealMatrix a_, b_, c0_;
  std::optional<RealMatrix> result_;  ///< where C's memory does not do
  GemmCall call_;
};

}  // namespace ozbound
