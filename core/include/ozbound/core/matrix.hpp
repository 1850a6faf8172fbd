// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ozbound {

/// Sizes, indices and strides. Signed, so that a negative size can be detected and refused.
using Index = std::int64_t;

/// A non-owning view of a rows x cols matrix; element (i, j) is data[i * row_stride + j * col_stride].
///
/// Strides count elements. A transpose is a view, never a copy. The constructor checks the shape once.
///
/// Do not view a temporary, `const auto a = Matrix<double>(m, k).view();`: the elements are gone at the semicolon.
/// Do not pass sizeof(T) * cols as a stride: strides count elements, not bytes.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;

  /// @throws std::invalid_argument for a negative size or stride, or null data of a non-empty matrix.
  MatrixView(T* data, Index rows, Index cols, Index row_stride, Index col_stride)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride) {
    if (rows < 0) throw std::invalid_argument("rows must not be negative: " + std::to_string(rows));
    if (cols < 0) throw std::invalid_argument("cols must not be negative: " + std::to_string(cols));
    if (row_stride < 0) throw std::invalid_argument("row_stride must not be negative: " + std::to_string(row_stride));
    if (col_stride < 0) throw std::invalid_argument("col_stride must not be negative: " + std::to_string(col_stride));
    if (data == nullptr && rows > 0 && cols > 0) throw std::invalid_argument("data must not be null");
  }

  /// A view of const elements of the same matrix.
  operator MatrixView<const T>() const  // NOLINT(google-explicit-constructor): as T* converts to const T*
    requires(!std::is_const_v<T>)
  {
    return {data_, rows_, cols_, row_stride_, col_stride_};
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index row_stride() const { return row_stride_; }
  [[nodiscard]] Index col_stride() const { return col_stride_; }
  [[nodiscard]] bool empty() const { return rows_ == 0 || cols_ == 0; }

  T& operator()(Index i, Index j) const { return data_[i * row_stride_ + j * col_stride_]; }

  [[nodiscard]] MatrixView transposed() const { return {data_, cols_, rows_, col_stride_, row_stride_}; }

  /// Rows [i, i + rows) and columns [j, j + cols) of this matrix. @pre the block lies inside the matrix.
  [[nodiscard]] MatrixView block(Index i, Index j, Index rows, Index cols) const {
    T* origin = data_ == nullptr ? nullptr : data_ + i * row_stride_ + j * col_stride_;
    return {origin, rows, cols, row_stride_, col_stride_};
  }

 private:
  T* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
  Index row_stride_ = 0;
  Index col_stride_ = 1;
};

/// A view of a row-major matrix with leading dimension `ld` (elements between the starts of two rows).
///
/// Do not use row_major(data, k, m, ld) for the transpose of an m x k matrix, which reads its elements in another order. Use
/// row_major(data, m, k, ld).transposed(), or column_major(data, k, m, ld).
/// @throws std::invalid_argument if ld < max(1, cols).
template <class T>
[[nodiscard]] MatrixView<T> row_major(T* data, Index rows, Index cols, Index ld) {
  if (ld < 1 || ld < cols)
    throw std::invalid_argument("ld must be at least max(1, cols) = " + std::to_string(cols > 1 ? cols : 1) + ": " +
                                std::to_string(ld));
  return {data, rows, cols, ld, 1};
}

/// A view of a column-major matrix with leading dimension `ld` (elements between the starts of two columns).
/// @throws std::invalid_argument if ld < max(1, rows).
template <class T>
[[nodiscard]] MatrixView<T> column_major(T* data, Index rows, Index cols, Index ld) {
  if (ld < 1 || ld < rows)
    throw std::invalid_argument("ld must be at least max(1, rows) = " + std::to_string(rows > 1 ? rows : 1) + ": " +
                                std::to_string(ld));
  return {data, rows, cols, 1, ld};
}

/// A rows x cols matrix that owns its elements: row-major, contiguous and zero at first.
template <class T>
class Matrix {
 public:
  Matrix() = default;

  /// @throws std::invalid_argument for a negative size, std::length_error if rows * cols cannot be addressed.
  Matrix(Index rows, Index cols) : rows_(rows), cols_(cols), elements_(element_count(rows, cols)) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] T* data() { return elements_.data(); }
  [[nodiscard]] const T* data() const { return elements_.data(); }
  T& operator()(Index i, Index j) { return elements_[static_cast<std::size_t>(i * cols_ + j)]; }
  const T& operator()(Index i, Index j) const { return elements_[static_cast<std::size_t>(i * cols_ + j)]; }

  [[nodiscard]] MatrixView<T> view() { return {data(), rows_, cols_, cols_, 1}; }
  [[nodiscard]] MatrixView<const T> view() const { return {data(), rows_, cols_, cols_, 1}; }

 private:
  static std::size_t element_count(Index rows, Index cols) {
    if (rows < 0) throw std::invalid_argument("rows must not be negative: " + std::to_string(rows));
    if (cols < 0) throw std::invalid_argument("cols must not be negative: " + std::to_string(cols));
    if (cols > 0 && rows > std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(T)) / cols)
      throw std::length_error("a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) + " is too large");
    return static_cast<std::size_t>(rows * cols);
  }

  Index rows_ = 0;
  Index cols_ = 0;
  std::vector<T> elements_;
};

}  // namespace ozbound
