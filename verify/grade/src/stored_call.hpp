// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/grade/grade.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound::grading {

/// The size of a case: C is m x n, the inner dimension is k.
struct CaseShape {
  Index m, n, k;
};

/// The memory layout of the operands of a call.
struct Storage {
  bool row_major = false;
  bool transpose_a = false;  ///< A is stored as its transpose, and the call says so
  bool transpose_b = false;
  Index padding = 0;  ///< elements by which every leading dimension exceeds its minimum
  Index shift = 0;    ///< elements by which each operand starts beyond a multiple of 64 bytes, 0 to 7
  OpSpelling spelling = OpSpelling::usual;
};

/// `row-major, A transposed, B transposed, ld + 3, shifted by 8 bytes`, or `column-major`.
std::string to_string(const Storage& storage);

/// A matrix in memory of its own, with canaries before and after it and between its columns (rows, if row-major). Canaries are
/// NaNs with a payload that no computation makes.
class StoredMatrix {
 public:
  /// Holds `values` column-major, or row-major, with the storage's padding and shift.
  StoredMatrix(MatrixView<const double> values, bool row_major, const Storage& storage);

  [[nodiscard]] double* data() { return elements_.data() + origin_; }
  [[nodiscard]] const double* data() const { return elements_.data() + origin_; }
  [[nodiscard]] Index ld() const { return ld_; }
  [[nodiscard]] MatrixView<double> view();

  /// Elements from the first to the last of the matrix; 0 if it has none.
  [[nodiscard]] std::size_t extent() const;

  /// True if the element at this distance from (0, 0) belongs to the matrix and is no canary.
  [[nodiscard]] bool is_element(std::ptrdiff_t offset) const { return !is_canary(offset); }

  /// The place of the first changed canary, counted in elements from (0, 0).
  [[nodiscard]] std::optional<std::ptrdiff_t> overwritten_canary() const;

  /// The place, counted likewise, of the first element or canary whose bits differ from an earlier copy.
  [[nodiscard]] std::optional<std::ptrdiff_t> first_difference(const StoredMatrix& earlier) const;

 private:
  [[nodiscard]] bool is_canary(std::ptrdiff_t offset) const;

  Index rows_, cols_, ld_;
  bool row_major_;
  std::vector<double> elements_;
  std::ptrdiff_t origin_ = 0;
};

/// The stored operands of one call, and the call. C holds c0, or other finite values if there is no c0.
class StoredCall {
 public:
  explicit StoredCall(const Operands& operands, const Storage& storage = {});
  StoredCall(const StoredCall&) = delete;  // the call points into a, b and c
  StoredCall& operator=(const StoredCall&) = delete;

  StoredMatrix a, b, c;

  /// Calls the library, which changes C. @pre the library takes row-major calls, if this is one.
  void run(const ForeignGemm& gemm) { gemm.dgemm(call_); }

  [[nodiscard]] const BlasCall& call() const { return call_; }

  /// The contents of C, row-major.
  [[nodiscard]] Matrix<double> result();

 private:
  BlasCall call_;
};

/// alpha A B + beta C0 by the library, row-major.
Matrix<double> product(const ForeignGemm& gemm, const Operands& operands, const Storage& storage = {});

/// A product, and the storage of its operands.
struct StoredProduct {
  Storage storage;
  Matrix<double> c;
};

/// The storage and, if the library takes row-major calls, its row-major counterpart. Every test in one runs in the other too.
std::vector<Storage> layouts_of(const ForeignGemm& gemm, const Storage& storage = {});

/// alpha A B + beta C0 by the library in each of layouts_of.
std::vector<StoredProduct> products(const ForeignGemm& gemm, const Operands& operands, const Storage& storage = {});

/// `dgemm(NT, 7 x 61 x 68, alpha=1, lda=7, ldb=61, beta=0, ldc=7)`: m x n x k.
std::string describe(const BlasCall& call);

}  // namespace ozbound::grading
