// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "ozbound/core/product.hpp"

namespace ozbound {

/// A real matrix that stands for a complex one: a copy, or a view of its memory.
class RealMatrix {
 public:
  explicit RealMatrix(InputView view) : view_(view) {}
  explicit RealMatrix(Matrix<double> matrix);
  explicit RealMatrix(Matrix<float> matrix);
  RealMatrix(RealMatrix&&) = default;  // a copy would view the original
  RealMatrix& operator=(RealMatrix&&) = default;

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

/// A new matrix for the stacked parts of C, of its format; and C's elements from them.
RealMatrix new_parts(const ComplexOutputView& c);
void unstack(const InputView& parts, const ComplexOutputView& c, int threads);

/// The memory of a column-major matrix that is not conjugated, as stacked parts; nothing of others.
std::optional<InputView> stacked_memory(const ComplexInputView& matrix);
std::optional<OutputView> stacked_memory(const ComplexOutputView& matrix);

/// A matrix of the same shape that is never read.
InputView unread(Index rows, Index cols);

/// The factors of the real product that stands for a complex one, without an inner dimension where A B has no part in it.
struct RealFactors {
  RealMatrix a;  ///< 2m x 2k
  RealMatrix b;  ///< 2k x n
};
RealFactors real_factors(const ComplexProduct& call, int threads);

/// A real product that stands for another one, which its matrices are copies or views of.
///
/// Of a complex product: C's stacked parts (2m x n) = alpha left_factor(A) stacked_parts(B) + beta stacked_parts(C0). The parts
/// of a row of A share a scale, those of a column of B too; entry (i, j) is C's entry (i / 2, j), its real part where i is
/// even. Digits are functions of the elements alone, whatever their order in memory. Copies take 4 mk elements, up to 2 kn and,
/// for a C or C0 that is not column-major, 2 mn each.
///
/// Matrices::represent and bring make one; the other product's matrices must outlive it.
class RealRepresentation {
 public:
  virtual ~RealRepresentation() = default;

  [[nodiscard]] virtual const RealProduct& call() const = 0;

  /// Writes the other product's C, where this one's is not its memory.
  virtual void write_back() const = 0;
};

/// The representation of matrices in the host's memory. @pre call.check() has passed and call.real_scalars().
std::unique_ptr<RealRepresentation> represent_on_host(const ComplexProduct& call, int threads);

}  // namespace ozbound
