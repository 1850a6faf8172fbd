// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "ozbound/core/product.hpp"

namespace ozbound {

/// A real matrix that stands for a complex one: a copy, or a view of the complex matrix's memory.
class RealMatrix {
 public:
  explicit RealMatrix(InputView view) : view_(view) {}
  explicit RealMatrix(Matrix<double> matrix);
  explicit RealMatrix(Matrix<float> matrix);
  RealMatrix(RealMatrix&&) = default;  // a copy would view the original
  RealMatrix& operator=(RealMatrix&&) = default;

  [[nodiscard]] InputView view() const { return view_; }
  [[nodiscard]] OutputView output();  ///< @pre the matrix is a copy

 private:
  std::variant<std::monostate, Matrix<double>, Matrix<float>> owned_;  ///< a move leaves the elements in place
  InputView view_;
};

/// The real 2m x 2k matrix of a left factor: the block (a_r, -a_i; a_i, a_r) for each element. Always a copy.
RealMatrix left_factor(const ComplexInputView& a, int threads);

/// Stacks the parts of a complex matrix (k x n; a right factor, C0 or C): rows 2l and 2l + 1 of the result are the real and the
/// imaginary parts of row l. A view for column-major matrices that are not conjugated, otherwise a copy.
RealMatrix stacked_parts(const ComplexInputView& matrix, int threads);

/// new_parts makes a matrix for the stacked parts of C, in its format; unstack writes C's elements from it.
RealMatrix new_parts(const ComplexOutputView& c);
void unstack(const InputView& parts, const ComplexOutputView& c, int threads);

/// The memory of a column-major matrix that is not conjugated, as stacked parts; nothing for other matrices.
std::optional<InputView> stacked_memory(const ComplexInputView& matrix);
std::optional<OutputView> stacked_memory(const ComplexOutputView& matrix);

/// A matrix of the given shape that is never read.
InputView unread(Index rows, Index cols);

/// The factors of the real product that stands for a complex one. The inner dimension is 0 if A B plays no part in it.
struct RealFactors {
  RealMatrix a;  ///< 2m x 2k
  RealMatrix b;  ///< 2k x n
};
RealFactors real_factors(const ComplexProduct& product, int threads);

/// A real product that stands for another product; its matrices are copies or views of that product's matrices.
///
/// For a complex product: C's stacked parts (2m x n) = alpha left_factor(A) stacked_parts(B) + beta stacked_parts(C0). The
/// parts of a row of A share a scale, and so do those of a column of B. Entry (i, j) belongs to C's entry (i / 2, j): its real
/// part if i is even. Digits depend only on the elements, not on their order in memory. Copies take 4 mk elements, up to 2 kn
/// and, for a C or C0 that is not column-major, 2 mn each.
///
/// Matrices::represent and bring make one; the other product's matrices must outlive it.
class RealRepresentation {
 public:
  virtual ~RealRepresentation() = default;

  [[nodiscard]] virtual const RealProduct& product() const = 0;

  /// Writes the other product's C, unless this product's C is the same memory.
  virtual void write_back() const = 0;
};

/// The representation of matrices in host memory. @pre product.check() has passed and product.real_scalars().
std::unique_ptr<RealRepresentation> represent_on_host(const ComplexProduct& product, int threads);

}  // namespace ozbound
