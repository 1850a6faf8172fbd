// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/matrix.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ozbound::matrix_test {
namespace {

/// The message with which `make` is refused; "" if it is not refused.
template <class F>
std::string refusal(F&& make) {
  try {
    static_cast<void>(make());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

class MatrixViewTest : public testing::Test {
 protected:
  MatrixViewTest() : elements(60) { std::iota(elements.begin(), elements.end(), 0.0); }
  std::vector<double> elements;
};

TEST_F(MatrixViewTest, FollowsItsStrides) {
  const MatrixView<double> view(elements.data(), 3, 4, 10, 2);
  EXPECT_EQ(view.rows(), 3);
  EXPECT_EQ(view.cols(), 4);
  EXPECT_EQ(view.row_stride(), 10);
  EXPECT_EQ(view.col_stride(), 2);
  EXPECT_EQ(view.data(), elements.data());
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(view(i, j), static_cast<double>(10 * i + 2 * j));
  view(2, 3) = -1;
  EXPECT_EQ(elements[26], -1);
}

TEST_F(MatrixViewTest, TransposesWithoutACopy) {
  const MatrixView<double> view(elements.data(), 3, 4, 10, 2);
  const auto transposed = view.transposed();
  EXPECT_EQ(transposed.rows(), 4);
  EXPECT_EQ(transposed.cols(), 3);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) EXPECT_EQ(&transposed(j, i), &view(i, j));
  EXPECT_EQ(transposed.transposed().row_stride(), 10);
  EXPECT_EQ(transposed.transposed().col_stride(), 2);
}

TEST_F(MatrixViewTest, BlocksAreViewsOfTheSameElements) {
  const MatrixView<double> view(elements.data(), 5, 6, 10, 1);
  const auto block = view.block(2, 3, 3, 2);
  EXPECT_EQ(block.rows(), 3);
  EXPECT_EQ(block.cols(), 2);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(&block(i, j), &view(2 + i, 3 + j));
  const auto of_transposed = view.transposed().block(3, 2, 2, 3);
  EXPECT_EQ(&of_transposed(1, 2), &view(4, 4));
  EXPECT_TRUE(view.block(5, 6, 0, 0).empty());
  EXPECT_TRUE(MatrixView<double>().block(0, 0, 0, 0).empty());
  EXPECT_EQ(MatrixView<double>().block(0, 0, 0, 0).data(), nullptr);
}

TEST_F(MatrixViewTest, KnowsWhenItIsEmpty) {
  EXPECT_TRUE(MatrixView<double>().empty());
  EXPECT_TRUE(MatrixView<double>(nullptr, 0, 5, 5, 1).empty());
  EXPECT_TRUE(MatrixView<double>(nullptr, 5, 0, 0, 1).empty());
  EXPECT_FALSE(MatrixView<double>(elements.data(), 1, 1, 0, 0).empty());
}

TEST_F(MatrixViewTest, RefusalsNameTheArgument) {
  double* const data = elements.data();
  EXPECT_EQ(refusal([&] { return MatrixView<double>(data, -1, 2, 2, 1); }), "rows must not be negative: -1");
  EXPECT_EQ(refusal([&] { return MatrixView<double>(data, 1, -2, 2, 1); }), "cols must not be negative: -2");
  EXPECT_EQ(refusal([&] { return MatrixView<double>(data, 1, 2, -3, 1); }), "row_stride must not be negative: -3");
  EXPECT_EQ(refusal([&] { return MatrixView<double>(data, 1, 2, 2, -4); }), "col_stride must not be negative: -4");
  EXPECT_EQ(refusal([&] { return MatrixView<double>(nullptr, 1, 2, 2, 1); }), "data must not be null");
}

TEST_F(MatrixViewTest, LeadingDimensions) {
  const auto rows_first = row_major(elements.data(), 4, 5, 12);
  EXPECT_EQ(rows_first(2, 3), 27);
  const auto columns_first = column_major(elements.data(), 4, 5, 12);
  EXPECT_EQ(columns_first.rows(), 4);
  EXPECT_EQ(columns_first.cols(), 5);
  EXPECT_EQ(columns_first(3, 2), 27);
  EXPECT_EQ(row_major(elements.data(), 4, 5, 5)(3, 4), 19);
  EXPECT_EQ(column_major(elements.data(), 4, 5, 4)(3, 4), 19);
  EXPECT_TRUE(row_major<double>(nullptr, 0, 0, 1).empty());
  EXPECT_TRUE(column_major<double>(nullptr, 0, 0, 1).empty());
}

TEST_F(MatrixViewTest, LeadingDimensionsThatAreTooSmall) {
  double* const data = elements.data();
  EXPECT_EQ(refusal([&] { return row_major(data, 4, 5, 4); }), "ld must be at least max(1, cols) = 5: 4");
  EXPECT_EQ(refusal([&] { return column_major(data, 5, 4, 4); }), "ld must be at least max(1, rows) = 5: 4");
  EXPECT_EQ(refusal([&] { return row_major(data, 0, 0, 0); }), "ld must be at least max(1, cols) = 1: 0");
  EXPECT_EQ(refusal([&] { return column_major(data, 0, 0, 0); }), "ld must be at least max(1, rows) = 1: 0");
  EXPECT_EQ(refusal([&] { return row_major(data, 1, 1, -1); }), "ld must be at least max(1, cols) = 1: -1");
  EXPECT_EQ(refusal([&] { return row_major(data, -4, 5, 5); }), "rows must not be negative: -4");
  EXPECT_EQ(refusal([&] { return row_major(data, 4, -5, 5); }), "cols must not be negative: -5");
  EXPECT_EQ(refusal([&] { return column_major(data, -4, 5, 5); }), "rows must not be negative: -4");
  EXPECT_EQ(refusal([&] { return column_major(data, 4, -5, 5); }), "cols must not be negative: -5");
  EXPECT_EQ(refusal([&] { return column_major<double>(nullptr, 4, 5, 5); }), "data must not be null");
}

TEST_F(MatrixViewTest, BecomesAViewOfConst) {
  const MatrixView<double> view(elements.data(), 3, 4, 10, 2);
  const MatrixView<const double> constant = view;
  EXPECT_EQ(&constant(2, 3), &view(2, 3));
  static_assert(!std::is_convertible_v<MatrixView<const double>, MatrixView<double>>);
  static_assert(std::is_same_v<decltype(constant(0, 0)), const double&>);
}

/// Sizes may exceed an int: only elements that are touched must exist.
TEST_F(MatrixViewTest, SizesAreWide) {
  const MatrixView<double> view(elements.data(), Index{1} << 40, Index{1} << 40, 0, 1);
  EXPECT_EQ(view((Index{1} << 40) - 1, 7), 7);
  EXPECT_EQ(view.transposed()(7, (Index{1} << 40) - 1), 7);
}

TEST(MatrixTest, OwnsZerosRowByRow) {
  Matrix<double> matrix(3, 4);
  EXPECT_EQ(matrix.rows(), 3);
  EXPECT_EQ(matrix.cols(), 4);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) {
      EXPECT_EQ(matrix(i, j), 0);
      EXPECT_EQ(&matrix(i, j), matrix.data() + 4 * i + j);
      EXPECT_EQ(&matrix.view()(i, j), &matrix(i, j));
      EXPECT_EQ(&std::as_const(matrix).view()(i, j), &std::as_const(matrix)(i, j));
    }
}

TEST(MatrixTest, CanBeEmpty) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 7}, {7, 0}}) {
    Matrix<double> matrix(rows, cols);
    EXPECT_EQ(matrix.rows(), rows);
    EXPECT_EQ(matrix.cols(), cols);
    EXPECT_TRUE(matrix.view().empty());
  }
  EXPECT_TRUE(Matrix<double>().view().empty());
  EXPECT_NO_THROW(Matrix<double>(0, Index{1} << 62));
  EXPECT_NO_THROW(Matrix<double>(Index{1} << 62, 0));
}

TEST(MatrixTest, RefusesSizesThatCannotBe) {
  EXPECT_EQ(refusal([] { return Matrix<double>(-1, 1); }), "rows must not be negative: -1");
  EXPECT_EQ(refusal([] { return Matrix<double>(1, -1); }), "cols must not be negative: -1");
  EXPECT_THROW(Matrix<double>(Index{1} << 40, Index{1} << 40), std::length_error);
  EXPECT_THROW(Matrix<double>(Index{1} << 60, 1), std::length_error);
  EXPECT_THROW(Matrix<double>(Index{1} << 32, Index{1} << 32), std::length_error);  // 2^64 elements: zero, if it wrapped
}

}  // namespace
}  // namespace ozbound::matrix_test
